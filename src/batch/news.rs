//! What there is to say of batches while they are settled.

use std::time::Duration;

use crate::id::Time;
use crate::model::Failure;

/// Something happened to a batch.
#[derive(Debug)]
#[non_exhaustive]
pub enum BatchNews<'a> {
    /// A server has it.
    Submitted(&'a WaitingBatch),
    /// A server says something new about it.
    Seen(&'a WaitingBatch),
    /// The server may have it: the reply to its submission was lost, and the batches that may be it are not finished.
    PerhapsSubmitted(&'a WaitingBatch),
    /// It has ended, but its results cannot be read yet.
    NotThereYet(&'a WaitingBatch),
    /// Its answers are in the log.
    Collected {
        /// The batch.
        batch: &'a WaitingBatch,
        /// Lines with an answer.
        answered: u64,
        /// All others.
        others: u64,
    },
    /// Its results are gone, and its answers are lost.
    Lost(&'a WaitingBatch),
    /// A line that was read again is not what was recorded.
    Differs {
        /// The number of the batch.
        number: u64,
        /// The `RequestSent` of the line.
        question: u64,
    },
    /// The server could not be asked; it is asked again after a while.
    Trouble {
        /// The server.
        server: &'a str,
        /// What happened.
        failure: &'a Failure,
        /// The wait.
        wait: Duration,
    },
}

/// A batch that is not collected yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingBatch {
    /// Its number in the run.
    pub number: u64,
    /// The server.
    pub server: String,
    /// The model.
    pub model: String,
    /// The server's id of it; `None` if it is not known to have it.
    pub id: Option<String>,
    /// The server's word for its state; `planned` before it was submitted.
    pub status: String,
    /// Lines that have ended, as far as the server says.
    pub done: u64,
    /// All lines.
    pub lines: u64,
    /// The end of the time in which the server wants to have answered it.
    pub expires: Option<Time>,
}
