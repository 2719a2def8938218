//! What is wrong with an event of a proof.

use crate::event::EventDefect;
use crate::id::{ContentHash, EventHash, RunId, Seq};

/// What is wrong with an event of a proof.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofEventFault {
    /// It lacks what its kind needs.
    #[error(transparent)]
    Malformed(#[from] EventDefect),
    /// It is of another run.
    #[error("it is an event of another run, {0}")]
    OtherRun(RunId),
    /// Its number is 0.
    #[error("seqs begin at 1")]
    SeqZero,
    /// Its hash is not the one that the proof states.
    #[error("its hash is {found}, not {due}")]
    Hash {
        /// The hash that follows from it.
        found: EventHash,
        /// The hash in the proof.
        due: EventHash,
    },
    /// Its path leads to another root.
    #[error("its path does not lead to the root: it is not in the run")]
    NotInRun,
    /// Its path is too long or too short.
    #[error("its path has the wrong length for a run of {events} events")]
    PathLength {
        /// The events of the run.
        events: u64,
    },
    /// A content that it names is not in the proof.
    #[error("its content {0} is missing")]
    NoContent(ContentHash),
    /// Its content is of the other kind.
    #[error("its content is a text instead of a vector, or the reverse")]
    OtherKindOfContent,
    /// The first event is not `RunStarted`.
    #[error("it does not begin a run")]
    NotAStart,
    /// The last event is not `RunFinished`.
    #[error("it does not end a run")]
    NotAnEnd,
    /// The last event states another root.
    #[error("it does not state the root of this proof")]
    OtherRoot,
    /// The question is another kind of event.
    #[error("it is not a question")]
    NotAQuestion,
    /// The answer is another kind of event.
    #[error("it is not an answer")]
    NotAnAnswer,
    /// The answer is that to another question.
    #[error("it answers seq {0}, not the question")]
    OtherQuestion(Seq),
    /// The decision is another kind of event.
    #[error("it is not a decision")]
    NotADecision,
    /// The decision is about another answer.
    #[error("it is a decision about seq {0}, not about the answer")]
    OtherAnswer(Seq),
    /// It comes after an event that is later in the log.
    #[error("the other events are not in the order of the log")]
    OutOfOrder,
    /// It is in the proof twice.
    #[error("it is there twice")]
    Twice,
    /// A source of its prompt is not in the proof.
    #[error("its prompt was made from seq {0}, which is missing")]
    NoSource(Seq),
}
