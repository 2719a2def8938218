//! Text to decision: parsers as chains of named strategies.
//!
//! A parser is pure, deterministic and total: any UTF-8 text gives a decision, without a panic and
//! in linear time. The strategy that yielded the value gives the decision its **method**. Old
//! versions stay callable for ever, so that history can be re-parsed and compared.
//!
//! - [`Parser`], [`AnyParser`]: the typed trait and its object-safe face.
//! - [`WholeAnswer`]: for parsers that look at more than the text: tool calls, refusals, why the answer ended.
//! - [`ChainParser`], [`Strategy`]: how every parser here is built.
//! - [`registry`]: finds a parser by `name@version` and settings.
//! - [`adventure`]: what a game master tells, and its characters.
//! - [`game24`]: the Game of 24.
//! - [`vote`], [`demographics`]: an option, a JSON object of listed values.
//! - [`text`]: answers taken as they are: turns, summaries, vectors.
//! - [`json_repair`]: malformed JSON, repaired.
//! - [`public_goods`]: contributions, chat messages, punishments and rewards.
//! - [`society`]: the actions of an agent.

pub mod adventure;
mod chain;
pub mod demographics;
pub mod game24;
pub mod json_repair;
mod keys;
pub mod public_goods;
mod python;
pub mod registry;
pub mod society;
pub mod text;
mod thinking;
pub mod vote;
mod whole;

pub use chain::{
    AnyParser, ChainParser, Decide, Found, LastResort, Parsed, Parser, ParserSpec, Strategy,
};
pub use whole::WholeAnswer;
