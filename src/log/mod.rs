//! The append-only store of the events of many runs.
//!
//! - [`Backend`]: where events are kept: a minimal trait with its contract in its docs.
//!   [`SqliteBackend`] is the default, [`MemoryBackend`] is for tests and for recordings read from
//!   a file. One conformance suite runs against each.
//! - [`Log`]: a backend and the one writer thread that groups commits.
//! - [`RunWriter`]: the only way to append to a run; holds its lease.
//! - [`verify_run`], [`verify_all`]: recompute every chain and name what is wrong.

mod backend;
mod error;
mod group;
mod lease;
mod memory;
mod skeleton;
mod sqlite;
mod verify;
mod writer;

pub use crate::event::chain::Head;
pub use backend::{Append, Backend, Committer, Lease, LeaseGuard, Reader, RunHead, SharedBackend};
pub use error::LogError;
pub use memory::MemoryBackend;
pub use skeleton::{expand, externalise};
pub use sqlite::{FORMAT, Format, SqliteBackend, SqliteOptions};
pub use verify::{Problem, Verification, verify_all, verify_run};
pub use writer::{Durable, Log, RunWriter};
