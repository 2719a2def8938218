//! Why a file cannot be taken into a log.

use crate::id::{EventHash, RunId, Seq};
use crate::jsonl::JsonlError;
use crate::log::LogError;
use crate::model::scripted::LoadProblem;

/// Why a file cannot be taken into a log. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] JsonlError),
    /// The log cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// There is not a single line in it.
    #[error("{path} is empty: it holds neither a recording nor an exchange")]
    Nothing {
        /// The file.
        path: String,
    },
    /// The first line does not say that it is a recording.
    #[error("{path} is not a recording: its first line must be {{\"recording\":\"retold\",..}}")]
    NotARecording {
        /// The file.
        path: String,
    },
    /// The recording is of a release this one cannot read.
    #[error("{path} has recording format {found}, and this program reads up to {supported}")]
    NewerFormat {
        /// The file.
        path: String,
        /// Its format.
        found: String,
        /// The newest that can be read.
        supported: String,
    },
    /// A line that cannot be used.
    #[error("{path}, line {line}: {what}")]
    Line {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// An exchange that cannot be used.
    #[error("{path}, line {line}: {problem}")]
    Exchange {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// What is wrong.
        problem: LoadProblem,
    },
    /// An event whose hash does not follow from the one before.
    #[error(
        "{path}, line {line}: the hash of seq {seq} does not fit: the recording was changed or cut"
    )]
    BrokenChain {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// The event.
        seq: Seq,
    },
    /// A recording that ends before its first line says.
    #[error(
        "{path} is cut off: its first line names {due} events and their head, and it has {found}"
    )]
    CutOff {
        /// The file.
        path: String,
        /// How many events the first line names.
        due: u64,
        /// How many there are.
        found: u64,
    },
    /// A recording without events.
    #[error("{path} holds no events")]
    Empty {
        /// The file.
        path: String,
    },
    /// The log has the run, and it went another way.
    #[error(
        "run {run} is in the log already and differs from the recording at seq {seq} ({ours} there)"
    )]
    OtherHistory {
        /// The run.
        run: RunId,
        /// The first seq that differs.
        seq: Seq,
        /// The hash in the log.
        ours: EventHash,
    },
}
