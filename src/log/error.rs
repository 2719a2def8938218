//! What can go wrong with a log, in terms of the log's contract.

use std::error::Error;
use std::sync::Arc;

use super::finding::{EventFault, Fault};
use crate::event::EventError;
use crate::id::{PromptHash, RunId, Seq};
use crate::sidecar::SidecarError;

/// Why there is no room in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoRoom {
    /// The disk is full.
    #[error("the disk is full")]
    Disk,
    /// The limit that was set, in bytes, is reached.
    #[error("the limit of {0} bytes is reached")]
    Limit(u64),
    /// One of the two: SQLite does not say which.
    #[error("the disk is full, or the limit of {0} bytes is reached")]
    DiskOrLimit(u64),
}

/// The error of the system, of SQLite or of a lower layer that caused a [`LogError`]. It can be
/// shared, because one failed commit is reported to every caller that waits for it.
pub type Cause = Arc<dyn Error + Send + Sync>;

/// An error reported in other words than its own.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(crate) struct RewordedError<E: Error + 'static> {
    pub(crate) words: String,
    pub(crate) source: E,
}

/// An error from a log operation.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// No file exists at the path.
    #[error("there is no log at {path}")]
    Missing {
        /// Where.
        path: String,
    },
    /// The file is not a retold log.
    #[error("{path} is not a retold log: {reason}")]
    NotALog {
        /// Where.
        path: String,
        /// What shows that.
        reason: String,
    },
    /// The log was written by a release this one cannot read.
    #[error("{path} has log format {found}; this program reads format {supported}")]
    NewerFormat {
        /// Where.
        path: String,
        /// The format of the file.
        found: String,
        /// The format that can be read.
        supported: u32,
    },
    /// The file or folder cannot be opened or written.
    #[error("cannot open the log {path}: {source}")]
    CannotOpen {
        /// Where.
        path: String,
        /// The error of the system or SQLite.
        source: Cause,
    },
    /// A file that belongs beside the log has something else in its place, which is left alone.
    #[error("{source}")]
    NotOurs {
        /// Where.
        path: String,
        /// The error, which names the path and the reason.
        source: Arc<SidecarError>,
    },
    /// Other processes held the lock on the whole log for longer than we were willing to wait.
    #[error("could not lock {path} within {seconds} s: other processes are writing to it")]
    Busy {
        /// Where.
        path: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The file system does not support SQLite's write-ahead log.
    #[error(
        "{path} cannot be written as a log: SQLite needs a write-ahead log (WAL), but here it can only keep a journal \
         of the kind {mode:?}"
    )]
    NoWal {
        /// Where.
        path: String,
        /// The journal mode that SQLite uses instead.
        mode: String,
    },
    /// The file that is being written is no longer at its path.
    #[error("{path} was removed or replaced while it was being written")]
    Gone {
        /// The log or its WAL.
        path: String,
    },
    /// Another process is writing this run.
    #[error("run {run} is being written by another process{holder}")]
    InUse {
        /// The run.
        run: RunId,
        /// ` (process 123)` if known.
        holder: String,
    },
    /// There is no room to write.
    #[error("no room to write to {path}: {why}")]
    Full {
        /// Where.
        path: String,
        /// The disk, or the limit that was set.
        why: NoRoom,
    },
    /// Something else appended to a run whose lease we hold.
    #[error("run {run} has another event at seq {seq}: something else has written to it")]
    Conflict {
        /// The run.
        run: RunId,
        /// The place where our event should have gone.
        seq: Seq,
    },
    /// The file is a log but is damaged: for example, a table is missing or a page is malformed.
    #[error("{path} is damaged: {fault}")]
    Damaged {
        /// Where.
        path: String,
        /// The fault.
        fault: Box<Fault>,
    },
    /// The log used to hold more: its WAL is damaged, or a run ends before its high-water mark.
    #[error("{path} has lost events: {fault}")]
    Lost {
        /// Where.
        path: String,
        /// The loss.
        fault: Box<Fault>,
    },
    /// A stored event is damaged.
    #[error("run {run} is damaged at seq {seq}: {fault}")]
    Corrupt {
        /// The run.
        run: RunId,
        /// The event.
        seq: Seq,
        /// The fault.
        fault: Box<Fault>,
    },
    /// An entry of the ledger is damaged.
    #[error("{fault}")]
    CorruptLedger {
        /// The entry and its fault.
        fault: Box<Fault>,
    },
    /// A stored request is damaged.
    #[error("the stored request {prompt} is damaged: {why}")]
    CorruptRequest {
        /// Its hash.
        prompt: PromptHash,
        /// The reason.
        why: String,
    },
    /// The run is not in the log.
    #[error("run {run} is not in {path}")]
    NoSuchRun {
        /// The run.
        run: RunId,
        /// The log.
        path: String,
    },
    /// The run is already in the log.
    #[error("run {run} is already in {path}")]
    RunExists {
        /// The run.
        run: RunId,
        /// The log.
        path: String,
    },
    /// The system reported a failure.
    #[error("the log {path} cannot be read or written: {source}")]
    Failed {
        /// Where.
        path: String,
        /// The error of the database or the system.
        source: Cause,
    },
}

impl LogError {
    /// Whether something that is stored is not as it was written.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            LogError::Damaged { .. }
                | LogError::Corrupt { .. }
                | LogError::CorruptLedger { .. }
                | LogError::CorruptRequest { .. }
        )
    }

    /// An event that is not as it was written.
    pub fn corrupt(run: RunId, seq: Seq, fault: impl Into<Fault>) -> Self {
        LogError::Corrupt { run, seq, fault: Box::new(fault.into()) }
    }

    /// A file that is not as it was written.
    pub fn damage(path: impl Into<String>, fault: impl Into<Fault>) -> Self {
        LogError::Damaged { path: path.into(), fault: Box::new(fault.into()) }
    }

    /// A log that used to hold more.
    pub fn loss(path: impl Into<String>, fault: impl Into<Fault>) -> Self {
        LogError::Lost { path: path.into(), fault: Box::new(fault.into()) }
    }

    /// The file or folder at a path cannot be opened or written.
    pub fn cannot_open(
        path: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        LogError::CannotOpen { path: path.into(), source: source.into().into() }
    }

    /// The system reported a failure at a path.
    pub fn failure(
        path: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        LogError::Failed { path: path.into(), source: source.into().into() }
    }
}

impl From<EventError> for LogError {
    fn from(error: EventError) -> Self {
        LogError::corrupt(error.run, error.seq, EventFault::from(error))
    }
}

impl From<SidecarError> for LogError {
    fn from(error: SidecarError) -> Self {
        let path = match error {
            SidecarError::Io { path, source } => return LogError::cannot_open(path, source),
            SidecarError::Link { ref path }
            | SidecarError::NotAFile { ref path }
            | SidecarError::ManyNames { ref path, .. }
            | SidecarError::Foreign { ref path, .. } => path.clone(),
        };
        LogError::NotOurs { path, source: error.into() }
    }
}
