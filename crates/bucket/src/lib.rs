//! A log in a bucket or a shared folder: the third store, for runs of many machines.
//!
//! There is no server of ours, and nothing is ever changed, renamed or deleted: a log is a set of objects that are
//! created once, with the store's own promise that of two who create an object of one name, one succeeds
//! (`If-None-Match: *` on S3 and its like, Google Cloud Storage and Azure; a hard link in a folder).
//!
//! ```text
//! PREFIX/retold.json                              makes the place a log
//! PREFIX/runs/<run>/0000000001.jsonl.zst          segments: the events of a run
//! PREFIX/ledger/0000000001.jsonl.zst              the ledger: which runs there are
//! ```
//!
//! # The protocol
//!
//! 1. A writer of a run that ends with segment `n` creates segment `n + 1`. If it exists, another writer has the run:
//!    it stops, and says who that is. So a run has one writer without a lock, and one that was thought to be dead
//!    cannot disturb the one that took over.
//! 2. If a reply is lost, the writer creates the segment again: either it succeeds, or it finds the segment and
//!    compares. Each opening has a random number in its segments, so that a writer recognises its own.
//! 3. A segment with which a run begins, resumes or ends, or which ends an import, announces its entries of the ledger.
//!    It counts when the ledger has them. The writer appends them before it goes on with the run; if it dies before
//!    that, whoever takes the lease of the run next does.
//! 4. Nothing is visible to the writer's callers before the segment, and its entries, are in the store.
//!
//! - [`BucketBackend`]: the store of a log, to be opened by its [`BucketUrl`].

mod backend;
mod bridge;
mod committer;
mod integrity;
mod ledger;
mod marker;
mod names;
mod objects;
mod reader;
mod redaction;
mod segment;
mod segments;
mod url;
mod writer;

#[cfg(test)]
mod tests;

pub use backend::BucketBackend;
pub use url::{BucketUrl, BucketUrlError};
