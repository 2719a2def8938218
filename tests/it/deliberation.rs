//! The deliberation experiment.

mod asked;
mod config;
mod opposition;
mod outputs;
mod personas;
mod pilot;
mod pool;
mod runs;
mod trouble;
