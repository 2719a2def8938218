//! Every LLM call is told once and can be retold for ever.

pub mod id;
pub mod jsonl;
pub mod model;
pub mod parse;
pub mod prompt;

mod inert;
