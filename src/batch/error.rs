//! Why the batches of a run come no further.

use crate::log::LogError;
use crate::model::Failure;
use crate::prompt::CanonicalError;
use crate::run::RecorderError;

/// Why the batches of a run come no further. The log has all that is known of them, and a continuation goes on from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The log cannot be read or written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Cannot happen: events can be written as JSON.
    #[error(transparent)]
    Event(#[from] CanonicalError),
    /// The lines of a batch cannot be written to a file of this machine.
    #[error("the lines of a batch cannot be written: {0}")]
    File(#[from] std::io::Error),
    /// A server cannot be asked about batches, or refuses to.
    #[error("{server}: {failure}")]
    Server {
        /// The server.
        server: String,
        /// What happened.
        failure: Failure,
    },
    /// A server refused a batch as a whole. Nothing of it is paid for.
    #[error("{server} refused batch {number} ({id}): {reason}")]
    Refused {
        /// The server.
        server: String,
        /// The number of the batch in the run.
        number: u64,
        /// The server's id of it.
        id: String,
        /// The server's reason.
        reason: String,
    },
    /// The server that has a batch is not the one that this run would ask.
    #[error("batch {number} is at {server}, and the model {model:?} is now asked at {now}")]
    Elsewhere {
        /// The number of the batch.
        number: u64,
        /// The server that has it.
        server: String,
        /// The model that its requests name.
        model: String,
        /// The server that would be asked; `no server` if there is none.
        now: String,
    },
    /// The lines of a batch that was planned by another release come out differently now.
    #[error("the lines of batch {number} come out differently in this release")]
    OtherLines {
        /// The number of the batch.
        number: u64,
    },
}

impl From<RecorderError> for BatchError {
    fn from(error: RecorderError) -> Self {
        match error {
            RecorderError::Log(error) => BatchError::Log(error),
            RecorderError::Event(error) => BatchError::Event(error),
        }
    }
}
