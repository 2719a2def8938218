//! The append-only store of the events of many runs.
//!
//! - [`Backend`]: where events are kept, as a minimal trait with its contract in its docs; [`StoreIndex`]: what a store may
//!   keep besides. [`SqliteBackend`] is the default, [`MemoryBackend`] is for tests and for recordings read from
//!   a file. One conformance suite runs against each.
//! - [`ForeignDatabase`]: a database of another program, which is only read.
//! - [`Log`]: a backend and the single writer thread that groups commits.
//! - [`Scratch`]: a temporary log.
//! - [`RunWriter`]: the only way to append to a run; holds its lease.
//! - [`ledger`]: the log's own chain, which records the runs that it has held.
//! - [`marks`]: how far each run has come, from the mark file beside the log.
//! - [`RunEvents`]: the events of a run, one after the other.
//! - [`EventFilter`]: which events are listed; [`AskedModels`]: the models that questions ask for.
//! - [`Finding`]: what can be wrong with a store or a run, as data.
//! - [`Index`]: finds the events that belong to a call, a cause or a text.
//! - [`EndedReader`]: a log whose runs end before what its store has: after an event that is asked for, or before the
//!   first that is missing.
//! - [`verify_run`], [`verify_all`]: recompute every chain and report what is wrong.

mod asked;
mod backend;
mod checked;
#[cfg(feature = "conformance")]
pub mod conformance;
mod contention;
mod deleted;
mod error;
mod filter;
mod finding;
mod format;
mod group;
mod high_water_mark;
mod index;
mod indexed_reader;
mod last_writer;
mod lease;
pub mod ledger;
pub(crate) mod lists;
mod memory;
mod run_ends;
mod run_events;
mod scratch;
mod skeleton;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store_index;
mod uncounted;
mod verify;
mod writer;

pub use crate::event::chain::Head;
pub use asked::AskedModels;
pub use backend::{
    Append, AppendKind, Backend, Committer, Lease, LeaseGuard, Reader, RunHead, SharedBackend,
    StoreInfo, Turn,
};
pub use checked::CheckedReader;
pub(crate) use checked::follow;
pub use deleted::{deleted_latest, deleted_runs};
pub(crate) use error::RewordedError;
pub use error::{Cause, LogError, NoRoom};
pub use filter::{
    EventFields, EventFilter, Filtering, MOMENTS, NAME_AND_VALUE, method_and_model, moment,
    name_and_value,
};
pub use finding::{
    EventFault, Fault, FieldFault, FileFault, Finding, LedgerFault, RowFault, SegmentFault,
    WalCopy, WalFault,
};
pub use format::FORMAT;
pub use high_water_mark::{HighWaterMark, HighWaterMarkFile, damaged_slots, marks};
pub(crate) use index::TextKeys;
pub use index::{
    CallTable, Census, Index, IndexPiece, IndexPieces, KeptPiece, Section, each_event_at,
};
pub use last_writer::LastWriter;
pub use lease::is_being_written;
pub use memory::MemoryBackend;
pub use run_ends::{EndedReader, RunEnd, RunEnds, with_ends};
pub use run_events::RunEvents;
pub(crate) use run_events::event_at;
pub use scratch::Scratch;
pub(crate) use skeleton::externalise_from;
pub use skeleton::{expand, externalise};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    Cell, ForeignDatabase, ForeignError, HeldFile, SqliteBackend, SqliteOptions, close_all,
};
pub use store_index::StoreIndex;
pub use uncounted::UncountedEvents;
pub use verify::{Verification, events_root, outcome_digest, verify_all, verify_run};
pub use writer::{Durable, Log, RunWriter};
