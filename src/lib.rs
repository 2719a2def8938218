//! Every LLM call is told once and can be retold for ever.
#![cfg_attr(
    not(all(feature = "sqlite", feature = "openai")),
    expect(dead_code, reason = "some of what they share has no other user")
)]

pub mod audit;
pub mod beside;
pub mod check;
pub mod content;
pub mod decide;
pub mod draft;
pub mod encoding;
pub mod event;
pub mod exchange;
pub mod explain;
pub mod id;
pub mod inert;
pub mod jsonl;
pub mod log;
mod lookup;
pub mod model;
mod open;
pub mod parse;
pub mod prompt;
pub mod run;
pub mod snapshot;
mod values;

/// The program and its version, as recorded in every run.
pub const PROGRAM: &str = concat!("retold ", env!("CARGO_PKG_VERSION"));
