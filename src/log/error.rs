//! What can go wrong with a log, in terms of the log's contract.

use crate::beside::BesideError;
use crate::id::{PromptHash, RunId, Seq};

/// A log operation that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// There is no file at the path.
    #[error("there is no log at {path}")]
    Missing {
        /// Where.
        path: String,
    },
    /// The file is something else.
    #[error("{path} is not a retold log: {reason}")]
    NotALog {
        /// Where.
        path: String,
        /// How that was seen.
        reason: String,
    },
    /// The log was written by a release this one cannot read.
    #[error("{path} has log format {found}, and this program reads up to {supported}")]
    NewerFormat {
        /// Where.
        path: String,
        /// The format of the file.
        found: String,
        /// The newest format that can be read.
        supported: String,
    },
    /// The file or folder cannot be opened or written.
    #[error("cannot open the log {path}: {reason}")]
    CannotOpen {
        /// Where.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The copy of a log cannot be written.
    #[error("cannot write the copy {path}: {reason}")]
    CannotCopy {
        /// Where the copy was to be.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// What is at the path of a file that the log has beside it is something else: it is left alone.
    #[error("{reason}")]
    NotOurs {
        /// Where.
        path: String,
        /// What it is, with the path.
        reason: String,
    },
    /// The log can only be read, and its newest events stand in a file beside it that cannot be.
    #[error("{path} is where we may not write, and its newest events are still in {path}-wal")]
    Unmerged {
        /// Where.
        path: String,
    },
    /// Others held the lock on the whole log whenever we tried to take it, for too long.
    #[error("the log {path} is in use: others held it locked whenever we tried, for {seconds} s")]
    Busy {
        /// Where.
        path: String,
        /// How long we waited.
        seconds: u64,
    },
    /// The file system does not let SQLite keep a write-ahead log.
    #[error(
        "{path} cannot be written as a log: SQLite needs a write-ahead log (WAL) and keeps a journal of the \
         kind {mode:?} there"
    )]
    NoWal {
        /// Where.
        path: String,
        /// What SQLite keeps instead.
        mode: String,
    },
    /// The file that is being written is not at its path any more.
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
    #[error("no room to write to {path}: {reason}")]
    Full {
        /// Where.
        path: String,
        /// The disk, or the limit that was set.
        reason: String,
    },
    /// Someone else appended to a run that we hold.
    #[error("run {run} has another event at seq {seq}: something else has written to it")]
    Conflict {
        /// The run.
        run: RunId,
        /// The place that was to be ours.
        seq: Seq,
    },
    /// The file is a log, and not as one was written: a table is missing, a page does not fit.
    #[error("{path} is damaged: {what}")]
    Damaged {
        /// Where.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// The log held more once: its WAL is damaged, or a run ends before its high-water mark.
    #[error("{path} has lost events: {what}")]
    Lost {
        /// Where.
        path: String,
        /// What was lost, the first of it.
        what: String,
    },
    /// A stored event is damaged.
    #[error("run {run} is damaged at seq {seq}: {what}")]
    Corrupt {
        /// The run.
        run: RunId,
        /// The event.
        seq: Seq,
        /// What is wrong.
        what: String,
    },
    /// An entry of the ledger is damaged.
    #[error("entry {number} of the ledger is damaged: {what}")]
    CorruptLedger {
        /// Its place.
        number: u64,
        /// What is wrong.
        what: String,
    },
    /// A stored request is damaged.
    #[error("the stored request {prompt} is damaged: {what}")]
    CorruptRequest {
        /// Its hash.
        prompt: PromptHash,
        /// What is wrong.
        what: String,
    },
    /// The run is not in the log.
    #[error("run {run} is not in {path}")]
    NoSuchRun {
        /// The run.
        run: RunId,
        /// The log.
        path: String,
    },
    /// The run is there already.
    #[error("run {run} is in {path} already")]
    RunExists {
        /// The run.
        run: RunId,
        /// The log.
        path: String,
    },
    /// The system failed.
    #[error("the log {path} failed: {reason}")]
    Failed {
        /// Where.
        path: String,
        /// What the database or the system says.
        reason: String,
    },
}

impl From<BesideError> for LogError {
    fn from(error: BesideError) -> Self {
        let reason = error.to_string();
        match error {
            BesideError::Io { path, source } => {
                LogError::CannotOpen { path, reason: source.to_string() }
            }
            BesideError::Link { path }
            | BesideError::NotAFile { path }
            | BesideError::ManyNames { path, .. }
            | BesideError::Foreign { path, .. } => LogError::NotOurs { path, reason },
        }
    }
}
