//! The society experiment.

mod config;
mod conservation;
mod crash;
mod import;
mod prompts;
mod rules;
mod runs;
mod support;
