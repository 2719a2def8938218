//! The public goods game.

mod config;
mod crash;
mod editions;
mod local;
mod measures;
mod original;
mod original_files;
mod prompts;
mod rules;
mod runs;
