//! What can be wrong with a store or a run, as data.
//!
//! A [`Finding`] says where something is wrong, a [`Fault`] says what, with its numbers. Each becomes a sentence
//! here, by its `Display`, and nowhere else: the terminal, the page and JSON show that sentence, and nothing
//! depends on its words.
//!
//! - [`EventFault`]: one event, or the chain of a run.
//! - [`LedgerFault`]: the ledger, or a run that differs from it.
//! - [`FileFault`]: the file that a store keeps its events in.
//! - [`RowFault`]: rows of that file that no chain covers.
//! - [`SegmentFault`]: an object of a log in a bucket or a shared folder.

mod event;
mod file;
mod ledger;
mod row;
mod segment;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use event::{EventFault, FieldFault};
pub use file::{FileFault, WalCopy, WalFault};
pub use ledger::LedgerFault;
pub use row::RowFault;
pub use segment::SegmentFault;

use super::error::LogError;
use crate::id::{RunId, Seq};

/// Something in a log that is not as it was written, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The run, unless the whole file is concerned.
    pub run: Option<RunId>,
    /// The event, unless the whole run is concerned.
    pub seq: Option<Seq>,
    /// The fault.
    pub fault: Fault,
}

impl Finding {
    /// About one event.
    pub fn of_event(run: RunId, seq: Seq, fault: impl Into<Fault>) -> Self {
        Finding { run: Some(run), seq: Some(seq), fault: fault.into() }
    }

    /// About a run as a whole.
    pub fn of_run(run: RunId, fault: impl Into<Fault>) -> Self {
        Finding { run: Some(run), seq: None, fault: fault.into() }
    }

    /// About the whole file.
    pub fn of_file(fault: impl Into<Fault>) -> Self {
        Finding { run: None, seq: None, fault: fault.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.run, self.seq) {
            (Some(run), Some(seq)) => write!(f, "run {run}, seq {seq}: {}", self.fault),
            (Some(run), None) => write!(f, "run {run}: {}", self.fault),
            _ => self.fault.fmt(f),
        }
    }
}

/// A fault in a log or a recording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// An event, or the chain of its run.
    #[error(transparent)]
    Event(#[from] EventFault),
    /// The ledger, or a run that differs from it.
    #[error(transparent)]
    Ledger(#[from] LedgerFault),
    /// The file.
    #[error(transparent)]
    File(#[from] FileFault),
    /// A row that no chain covers.
    #[error(transparent)]
    Row(#[from] RowFault),
    /// An object of a log in a bucket or a shared folder.
    #[error(transparent)]
    Segment(#[from] SegmentFault),
    /// A part of the file is lost, and this event and those after it with that part.
    #[error("{part}, and this event and what followed are missing")]
    LostWith {
        /// The fault in the file.
        part: Box<Fault>,
    },
    /// The file is damaged so much that none of its runs is left.
    #[error("{why}, and of its runs nothing is left from event 1 on")]
    NothingLeft {
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// The runs may still be in the file, but cannot be read.
    #[error("{why}, and of its runs nothing can be read from event 1 on")]
    NothingReadable {
        /// The fault in the file.
        why: Box<Fault>,
    },
    /// A line of a recording; the message names the file and the line.
    #[error("{why}")]
    Recording {
        /// The message.
        why: String,
    },
    /// The same for a recording of which no event is left.
    #[error("{why}; nothing is left from event 1 on")]
    EmptyRecording {
        /// The message.
        why: String,
    },
    /// A check that ended before it had a result.
    #[error("it could not be checked: {why}")]
    Unchecked {
        /// The error.
        why: String,
    },
    /// Something known from outside the log, such as a seal or a head that was noted earlier, does not fit it.
    #[error("{why}")]
    Outside {
        /// The difference.
        why: String,
    },
}

impl Fault {
    /// What an error says of the log.
    pub fn of_error(error: LogError) -> Self {
        match error {
            LogError::Damaged { fault, .. }
            | LogError::Corrupt { fault, .. }
            | LogError::CorruptLedger { fault }
            | LogError::Lost { fault, .. } => *fault,
            other => Fault::Unchecked { why: other.to_string() },
        }
    }
}
