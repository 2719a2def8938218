//! The public goods game.

mod config;
mod crash;
mod local;
mod measures;
mod original;
mod original_files;
mod prompts;
mod reasons;
mod rules;
mod runs;
