//! The chain from a decision back to the prompt and to everything that was folded into it: decision,
//! method, parser, answer, prompt, earlier answers and facts, each with its place in the log and its
//! hash.
//!
//! - [`Target`]: which decision is meant.
//! - [`audit`]: the chain.
//! - [`Folded`]: what of the run stands in the prompt.

mod chain;
mod error;
mod events;
mod folded;
mod hits;
mod index;
mod passage;
mod target;

pub use chain::{Audit, Link, audit};
pub use error::AuditError;
pub use folded::{Folded, Origin, Place};
pub use target::Target;
