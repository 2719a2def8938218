//! Why there is no proof, and why one is wrong.

use super::event_fault::ProofEventFault;
use crate::id::{CallPath, ContentHash, EventsRoot, PromptHash, RunId, Sample, Seq};
use crate::log::LogError;
use crate::prompt::CanonicalError;

/// Why a decision cannot be proved.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The run has no end yet, which would state its root.
    #[error("run {0} is not finished: its last event will state the root that a proof leads to")]
    NotFinished(RunId),
    /// The call failed.
    #[error("call {call}#{sample} has no answer, so there is nothing to prove")]
    NoAnswer {
        /// The call.
        call: CallPath,
        /// The sample.
        sample: Sample,
    },
    /// The proof would be refused: the log is damaged, or names too many sources.
    #[error("no proof of it would hold: {0}")]
    Unsound(#[from] ProofError),
    /// Something has no canonical form: the log is damaged.
    #[error("seq {seq}: {source}")]
    NotCanonical {
        /// The event.
        seq: Seq,
        /// Why.
        source: CanonicalError,
    },
}

/// Why a file proves nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// It is not the JSON of a proof.
    #[error("it is not a proof: {0}")]
    NotAProof(String),
    /// Another version.
    #[error("its format is {0:?}, and this program reads \"retold proof 1\"")]
    Format(String),
    /// It is not canonical JSON: spaces, the order of fields, the spelling of a number.
    #[error("it is not canonical JSON: byte {0} is not what a proof has there")]
    NotCanonical(usize),
    /// An event is wrong.
    #[error("seq {seq}: {fault}")]
    Event {
        /// The event.
        seq: Seq,
        /// The problem.
        fault: ProofEventFault,
    },
    /// A content is wrong.
    #[error("content {0} {1}")]
    Content(ContentHash, &'static str),
    /// The prompt is not the one that the question names.
    #[error("its prompt does not have the hash {0} that the question names")]
    Prompt(PromptHash),
    /// The events do not lead to the given root.
    #[error("it leads to the root {found}, not to {wanted}")]
    OtherRoot {
        /// The root of the proof.
        found: EventsRoot,
        /// The root that it should have.
        wanted: EventsRoot,
    },
}
