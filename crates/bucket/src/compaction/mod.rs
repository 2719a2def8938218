//! Compactions: the events of a finished run in a few large objects beside its segments, with an index.
//!
//! ```text
//! compacted/<run>/<its last event>/0000000001-<hash>.jsonl.zst    parts: segments of about 1 MB of text, one after the other
//! compacted/<run>/<its last event>/directory                      where each segment is, and the index
//! ```
//!
//! A part is read by ranges, one segment each. The directory is put last: a compaction without it is not one, and
//! readers do not look at it. Nothing else refers to the segments that a compaction stands for, so that a rule of the
//! store may remove them.

mod blocks;
mod compacted_run;
mod directory;
mod finding;
mod making;
mod prompt_table;

pub(crate) use compacted_run::Compaction;
pub use making::CompactionResult;
pub(crate) use making::compact;
pub(crate) use prompt_table::{PromptTable, beginnings};
