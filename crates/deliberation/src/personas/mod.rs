//! Where the people come from: base personas from a file or a URL in persona-hub's format or from
//! the built-in set, and the pool of those that earlier runs enriched.
//!
//! - [`Collection`]: base personas to draw from, so many different ones, by seed.
//! - [`read`]: the personas of a file; malformed lines are counted and named, not fatal.
//! - [`built_in`]: a seeded grammar, so that nothing needs a network.
//! - [`pool`]: the file of enriched personas. [`FromPool`]: what a run takes from it and leaves in it.
//! - [`gather()`]: enriched personas of other files, to be put into the pool.

pub mod fetch;
mod gather;
mod grammar;
mod language;
pub mod pool;
mod source;
mod supply;

pub use gather::{Gathered, gather};
pub use grammar::{BUILT_IN, built_in};
pub use language::is_english;
pub use source::{Collection, PersonaError, PersonaFile, read};
pub use supply::{FromPool, wanted};
pub(super) use supply::{collection, source_key};
pub(crate) use supply::{draw, store, take_over};
