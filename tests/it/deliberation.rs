//! The deliberation experiment.

mod config;
mod grouping;
mod opposition;
mod originals;
mod outputs;
mod personas;
mod pilot;
mod reenact;
mod runs;
