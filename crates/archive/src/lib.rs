//! Opens logs and recordings to be read, in any state, and reports their damage.
//!
//! Everything that shows a log opens it here: the command line, the page, reports. Nothing that is opened is
//! changed.
//!
//! - [`Archive`]: a log or a recording. Each of its runs ends before the first event that is missing.
//! - [`open_store`], [`open_or_create_store`]: a log to be written, by its path or its URL.
//! - [`find`]: the run that somebody names by its id, its name, or as the latest.
//! - [`RunView`]: a run that ends before the first event that cannot be trusted. What shows a run reads it so.
//! - [`Verdict`]: from which event on a run cannot be trusted, found by reading all of it.
//! - [`verdict_as_kept`]: the same at once, if it was found before and the log has not changed.
//! - [`readable_rest`], [`TolerantReader`]: what can still be read of a damaged run, for those who ask for it by name.
//! - [`search`]: full-text search over prompts and answers.

mod archive;
mod file_stamp;
mod find;
mod kept_verdicts;
mod log_findings;
mod missing_ends;
mod place;
mod private_copy;
mod readable_rest;
mod run_view;
pub mod search;
mod tolerant_reader;
mod verdict;
mod without_end;

pub use archive::Archive;
pub use file_stamp::FileStamp;
pub use find::{FindError, NameOfRun, RunMatch, find, find_last_named, has_asked, short_name};
pub use kept_verdicts::{Verifying, is_long, recall, recall_all, verdict_as_kept, verdict_of_long};
pub use log_findings::log_findings;
pub use missing_ends::{is_finished, up_to};
pub use place::{bucket, open_or_create_store, open_store};
pub use readable_rest::{ReadableCount, ReadableRest, readable_rest};
pub use retold_bucket::{
    BucketUrl, BucketUrlError, CompactionResult, MARKER, credential_variables, is_of_compaction,
    user_cache,
};
pub use run_view::{RunView, VerifyDepth};
pub use tolerant_reader::TolerantReader;
pub use verdict::{
    Damage, Verdict, first_untrusted, is_cut_off, ledger_mismatch, missing_end, verdict,
};
pub use without_end::without_end;
