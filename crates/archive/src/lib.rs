//! Opens logs and recordings to be read, in any state, and reports their damage.
//!
//! Everything that shows a log opens it here: the command line, the page, reports. Nothing that is opened is
//! changed.
//!
//! - [`Archive`]: a log or a recording. Each of its runs ends before the first event that is missing.
//! - [`open_store`], [`open_or_create_store`]: a log to be written, by its path or its URL.
//! - [`find`]: the run that somebody names by its id, its name, or as the latest.
//! - [`RunView`]: a run that ends before the first event that cannot be trusted. What shows a run reads it so.
//! - [`Verdict`]: from which event on a run cannot be trusted.
//! - [`search`]: full-text search over prompts and answers.

mod archive;
mod find;
mod log_findings;
mod missing_ends;
mod place;
mod run_view;
pub mod search;
mod verdict;
mod without_end;

pub use archive::{Archive, LogVersion};
pub use find::{FindError, NameOfRun, RunMatch, find, find_last_named, has_asked, short_name};
pub use log_findings::log_findings;
pub use missing_ends::{is_finished, up_to};
pub use place::{bucket, open_or_create_store, open_store};
pub use retold_bucket::{
    BucketUrl, BucketUrlError, CompactionResult, MARKER, credential_variables, is_of_compaction,
    user_cache,
};
pub use run_view::RunView;
pub use verdict::{Damage, Verdict, is_cut_off, ledger_mismatch, missing_end};
pub use without_end::without_end;
