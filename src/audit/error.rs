//! Why an audit could not be done.

use crate::id::{CallPath, RunId, Sample};
use crate::log::LogError;

/// An audit that could not be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuditError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is no such decision.
    #[error("run {run} has no decision {wanted}{nearest}")]
    NotFound {
        /// The run.
        run: RunId,
        /// As given.
        wanted: String,
        /// `; its decisions are like ..`.
        nearest: String,
    },
    /// A call with several samples.
    #[error("call {call} has samples {first} to {last}: write {call}#{first}, or another sample")]
    ManySamples {
        /// The call.
        call: CallPath,
        /// The first.
        first: Sample,
        /// The last.
        last: Sample,
    },
}
