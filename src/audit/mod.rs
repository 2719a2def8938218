//! The chain from a decision back to the prompt and to everything that the prompt was made from:
//! decision, method, parser, answer, prompt, earlier answers and facts, each with its position in
//! the log and its hash.
//!
//! - [`Target`]: which decision is meant.
//! - [`audit`]: the chain.
//! - [`Declared`]: what prompts were made from, as the experiment declared it.
//! - [`independence`]: which decisions rest on the same recorded answer.
//! - [`Match`]: independently of that, texts of the run that occur in the prompt.

mod chain;
mod declared;
mod error;
mod events;
mod independence;
mod link;
mod matches;
mod origin;
mod target;

pub use chain::{Audit, audit};
pub use declared::{Declared, MadeFrom, Part};
pub use error::AuditError;
pub use independence::{Independence, SharedAnswer, Sizes, independence};
pub use link::Link;
pub use matches::Match;
pub use origin::Origin;
pub use target::Target;
