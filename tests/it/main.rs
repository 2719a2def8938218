//! The integration tests, in one binary: one link, shared helpers.

mod answer_parsers;
mod deliberation_prompts;
mod game24_parsers;
mod parsers_lock;
mod stats;
mod support;
