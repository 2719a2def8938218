//! The deliberation experiment.

mod config;
mod opposition;
mod originals;
mod personas;
mod pilot;
mod reenact;
mod runs;
