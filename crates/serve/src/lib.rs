//! A read-only page over a log or a recording.
//!
//! Each page is a function from what was asked to a `struct`. The struct is the page's JSON, and the
//! only thing that its template sees, so the two cannot differ.
//!
//! - [`Source`]: the log or recording, opened without changing it.
//! - [`Site`]: the source, the studies, and what is kept between requests.
//! - [`Server`]: HTTP. What may be asked is decided in `guard`, before anything is read.
//! - `pages`: one file per page. `render`: templates, with all foreign text inert.
//! - `roll`: what filters and counts need of each event of a run, in memory.
//! - [`search`]: full-text search over prompts and answers.
//! - [`first_untrusted`]: from which event on a run cannot be trusted.
//! - [`recall`]: what was found when a long run was last verified.
//! - `span`: the part of an answer that a decision was made from.

mod as_of;
mod assets;
mod checks;
mod error;
mod event_columns;
mod facts;
mod figures;
mod files;
mod http;
mod job;
mod missing_ends;
mod nothing_left;
mod pages;
mod private_copy;
mod query;
mod remains;
mod render;
mod runs;
pub mod search;
mod site;
mod source;
mod span;
mod text;
mod tree;
mod trust;
mod verified;

pub use as_of::{AsOf, as_of};
pub use event_columns::Careful;
pub use facts::StateError;
pub use http::Server;
pub use missing_ends::up_to;
pub use remains::{Counted, Remains, remains};
/// Who may ask for the page.
pub use retold_wire::Reach;
pub use site::Site;
pub use source::Source;
pub use tree::Node;
pub use trust::{Damage, Trust, doubt, first_untrusted, missing_end, trust};
pub use verified::{Verifying, is_long, of_long, recall, recall_all, trust_as_kept};
