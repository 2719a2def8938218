//! Compactions: the events of a finished run in a few large segments beside its own, with an index.
//!
//! ```text
//! compacted/<run>/<its last event>/0000000001.jsonl.zst   segments as all others, of about 4 MB of text
//! compacted/<run>/<its last event>/directory              which events each of them has, and the index
//! ```
//!
//! The directory is put last: a compaction without it is not one, and readers do not look at it. Nothing else refers to the
//! segments that a compaction stands for, so that a rule of the store may remove them.

mod compact;
mod directory;
mod finding;
mod index;

pub use compact::CompactionResult;
pub(crate) use compact::compact;
pub(crate) use directory::Compaction;
