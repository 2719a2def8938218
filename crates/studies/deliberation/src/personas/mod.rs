//! Where the personas come from: base personas from a file or a URL in persona-hub's format or from
//! the built-in set, and the pool of those enriched by earlier runs.
//!
//! - [`Collection`]: base personas from which distinct ones are drawn by seed.
//! - [`read`]: the personas in a file; malformed lines are counted and reported, but not fatal.
//! - [`built_in`]: a seeded grammar, so that no network is needed.
//! - [`pool`]: the file of enriched personas. [`FromPool`]: the personas that a run takes from it
//!   and adds to it.
//! - [`gather()`]: enriched personas from other files, to be added to the pool.

mod gather;
mod grammar;
mod language;
pub mod pool;
mod source;
mod supply;

pub use gather::{PersonaCollection, gather};
pub use grammar::{BUILT_IN, built_in};
pub use language::is_english;
pub use source::{Collection, PersonaError, PersonaFile, read};
pub use supply::{FromPool, pool_size};
pub(super) use supply::{collection, source_key};
pub(crate) use supply::{draw, store, take_over};
