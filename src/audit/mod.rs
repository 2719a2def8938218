//! The way from a decision back to the prompt and to everything that the prompt was made from:
//! decision, method, parser, answer, prompt, earlier answers and facts, each with its position in
//! the log and its hash.
//!
//! - [`Target`]: which decision is meant.
//! - [`audit`]: the provenance of a decision.
//! - [`DeclaredSources`]: the sources of prompts, as the experiment declared them.
//! - [`independence`]: which decisions are draws, which rest on the same recorded answer, and across which clusters they are
//!   independent.
//! - [`Match`]: independently of that, texts of the run that occur in the prompt.

mod declared_sources;
mod error;
mod events;
mod independence;
mod link;
mod matches;
mod origin;
mod provenance;
mod target;

pub use declared_sources::{DeclaredSources, MadeFrom, PromptRelation};
pub use error::AuditError;
pub use events::question_behind;
pub use independence::{Clusters, Independence, MadeFor, SharedAnswer, Sizes, independence};
pub use link::Link;
pub use matches::Match;
pub use origin::Origin;
pub use provenance::{Audit, AuditedFact, audit};
pub use target::Target;
