//! A read-only page over a log or a recording.
//!
//! Each page is a function from a request to a `struct`. The struct is the page's JSON, and the only thing that its template
//! sees, so the two cannot differ.
//!
//! - [`SiteSource`]: the log or recording, and its present state.
//! - [`Site`]: the source, the studies, and the results that are kept between requests.
//! - [`SiteServer`]: HTTP. [`Reach`] decides which requests are allowed, before anything is read.
//! - [`PageToken`]: the token that a reader on this machine has to know.
//! - `pages`: one file per page. `render`: templates, with all foreign text inert.
//! - `event_columns`: the values of each event of a run that filters and counts need, in memory.
//! - `span`: the part of an answer that a decision was made from.

mod agreement;
mod as_of;
mod assets;
mod background;
mod computed;
mod decision_columns;
mod error;
mod event_columns;
mod event_set;
mod facts;
mod figures;
mod http;
mod job;
mod job_error;
mod outcome;
mod page_token;
mod pages;
mod prompt_images;
mod query;
mod question_columns;
mod question_news;
mod render;
mod run_summary;
mod runs;
mod site;
mod source;
mod span;
mod summaries;
mod table;
mod texts;
mod tree;

pub use as_of::{AsOf, as_of};
pub use facts::StateError;
pub use http::SiteServer;
pub use page_token::PageToken;
/// Who may ask for the page.
pub use retold_wire::Reach;
pub use site::Site;
pub use source::SiteSource;
pub use tree::TreeNode;
