//! Why an audit could not be done.

use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::LogError;

/// An audit that could not be done.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The decision does not exist.
    #[error("run {run} has no decision {wanted}{nearest}")]
    NotFound {
        /// The run.
        run: RunId,
        /// The decision as the user named it.
        wanted: String,
        /// `; its decisions have names like ..`.
        nearest: String,
    },
    /// The event is a fact that no answer led to.
    #[error(
        "the fact at seq {seq} of run {run} rests {}, so no prompt led to it",
        if *.rests_on_draws { "only on the draws of the run (seq 1)" } else { "on no answer" }
    )]
    NoPrompt {
        /// The run.
        run: RunId,
        /// The fact.
        seq: Seq,
        /// Whether it rests on the draws of the run.
        rests_on_draws: bool,
    },
    /// The call has several samples, and none was named.
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
