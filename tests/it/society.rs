//! The society experiment.

mod config;
mod conservation;
mod crash;
mod prompts;
mod rules;
mod runs;
mod support;
