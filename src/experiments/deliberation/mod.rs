//! The deliberation experiment.

pub mod prompts;
