//! From text to decision: parsers as sequences of named strategies.
//!
//! A parser is pure, deterministic and total: any UTF-8 text gives a decision, without a panic and
//! in linear time. The strategy that produced the value is the decision's **method**. Old versions
//! remain callable forever, so that history can be parsed again and compared.
//!
//! - [`Parser`], [`AnyParser`]: the typed trait and its object-safe counterpart.
//! - [`WholeAnswer`]: for parsers that look at more than the text: tool calls, refusals, why the
//!   answer ended.
//! - [`StrategyParser`], [`Strategy`]: how every parser here is built.
//! - [`registry`]: the parsers of a program, found by `name@version` and settings.
//! - [`vote`]: a choice of one option.
//! - [`text`]: answers that are taken unchanged: turns, summaries, vectors.
//! - [`json_repair`]: repairs malformed JSON.
//! - [`keys`], [`python`], [`thinking`]: what parsers of several studies share.
//!
//! The parsers of a study are in that study's crate.

pub mod json_repair;
pub mod keys;
pub mod python;
pub mod registry;
mod strategies;
pub mod text;
pub mod thinking;
pub mod vote;
mod whole;

pub use registry::{MakeError, ParserFamily, Parsers};
pub(crate) use strategies::intern;
pub use strategies::{
    AnyParser, Decide, FindOwn, FoundValue, LastResort, OwnStrategy, ParsedAnswer, Parser,
    ParserSpec, Strategy, StrategyParser,
};
pub use whole::{ToolCall, WholeAnswer};
