//! Every LLM call is told once and can be retold for ever.

pub mod config;
pub mod content;
pub mod event;
pub mod experiments;
pub mod id;
mod inert;
pub mod jsonl;
pub mod log;
mod lookup;
pub mod model;
pub mod parse;
pub mod prompt;
pub mod run;
pub mod stats;
pub mod template;
