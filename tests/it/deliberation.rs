//! The deliberation experiment.

mod config;
mod opposition;
mod outputs;
mod personas;
mod pilot;
mod runs;
