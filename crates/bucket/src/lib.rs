//! A log in a bucket or a shared folder: the third store, for runs of many machines.
//!
//! No server is needed, and nothing is ever changed, renamed or deleted. A log is a set of objects, each created once,
//! and the store promises that if two writers create an object of the same name, one of them fails (`If-None-Match: *` on
//! S3 and compatible stores, Google Cloud Storage and Azure; a hard link in a folder).
//!
//! ```text
//! PREFIX/retold.json                              makes the place a log
//! PREFIX/runs/<run>/0000000001.jsonl.zst          segments: the events of a run from this one on
//! PREFIX/ledger/0000000001.jsonl.zst              the ledger: which runs there are
//! PREFIX/compacted/<run>/<seq>/..                 of a finished run: the same events in fewer segments, and a directory
//! ```
//!
//! # The protocol
//!
//! 1. A writer of a run that ends with event `n` creates the segment that begins with `n + 1`. If it exists, another writer has the run:
//!    it stops, and says who that is. So a run has one writer without a lock, and one that was thought to be dead
//!    cannot disturb the one that took over.
//! 2. If a reply is lost, the writer creates the segment again: either it succeeds, or it finds the segment and
//!    compares. Each opening has a random number in its segments, so that a writer recognises its own.
//! 3. A segment in which a run begins, resumes or ends, or which ends an import, announces its entries of the ledger, and
//!    counts as stored once the ledger has them. The writer appends them before it continues the run; if it dies first, the
//!    next process that takes the lease of the run appends them.
//! 4. Nothing is visible to the writer's callers before the segment, and its entries, are in the store.
//!
//! - [`BucketBackend`]: the store of a log, to be opened by its [`BucketUrl`].
//! - [`BucketFolder`]: whole files that are no part of a log, such as tables.
//! - [`user_cache`]: where segments that were read are kept on this machine.
//! - [`CompactionResult`]: what became of a run that was to be compacted; [`is_of_compaction`]: whether an object is of
//!   a compaction.

mod backend;
mod bridge;
mod bucket_folder;
mod cache;
mod committer;
mod compaction;
mod heads;
mod integrity;
mod ledger;
mod ledger_entry;
mod ledger_pages;
mod marker;
mod names;
mod objects;
mod packing;
mod read_ahead;
mod reader;
mod recent;
mod redaction;
mod repeated;
mod run_end;
mod search;
mod segment;
mod segments;
mod shared;
mod snapshot;
mod uncounted;
mod url;
mod writer;

#[cfg(test)]
mod tests;

pub use backend::BucketBackend;
pub use bucket_folder::{BucketFolder, BucketFolderError, PlacedFile, WholeFile};
pub use cache::user_cache;
pub use compaction::CompactionResult;
pub use names::{MARKER, is_of_compaction};
pub use url::{BucketUrl, BucketUrlError, credential_variables};
