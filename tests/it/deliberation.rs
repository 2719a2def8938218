//! The deliberation experiment.

mod config;
mod opposition;
mod personas;
mod pilot;
mod runs;
