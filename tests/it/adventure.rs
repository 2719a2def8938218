//! The adventure experiment.

mod config;
mod rules;
mod runs;
