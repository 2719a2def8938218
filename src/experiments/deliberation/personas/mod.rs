//! Base personas: from a file in persona-hub's format, or the built-in set.
//!
//! - [`draw`]: so many different ones, by seed.
//! - [`read`]: the personas of a file; malformed lines are counted and named, not fatal.
//! - [`built_in`]: a seeded grammar, so that nothing needs a network.

mod grammar;
mod language;
mod source;

pub use grammar::{BUILT_IN, built_in};
pub use language::is_english;
pub use source::{PersonaError, PersonaFile, draw, read};
