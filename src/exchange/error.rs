//! Why a file cannot be imported.

use super::line_fault::LineFault;
use crate::id::{EventHash, RunId, Seq};
use crate::jsonl::JsonlError;
use crate::log::LogError;
use crate::model::scripted::LoadProblem;

/// Why a file cannot be imported. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] JsonlError),
    /// The log cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The file has no lines.
    #[error("{path} is empty: it has neither a recording nor an exchange")]
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
    /// A later line of a recording is where the first one should be, or that one cannot be read.
    #[error("{path} is a recording whose first line is missing or damaged")]
    NoFirstLine {
        /// The file.
        path: String,
    },
    /// The recording was written by a newer release.
    #[error("{path} has recording format {found}; this program reads format {supported}")]
    NewerFormat {
        /// The file.
        path: String,
        /// Its format.
        found: String,
        /// The format that can be read.
        supported: u32,
    },
    /// A line that cannot be used.
    #[error("{path}, line {line}: {fault}")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The problem.
        fault: LineFault,
    },
    /// An exchange that cannot be used.
    #[error("{path}, line {line}: {problem}")]
    Exchange {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The problem.
        problem: LoadProblem,
    },
    /// An event whose hash does not follow from the preceding one.
    #[error(
        "{path}, line {line}: the hash of seq {seq} does not match: the recording was changed or cut"
    )]
    BrokenChain {
        /// The file.
        path: String,
        /// From 1.
        line: usize,
        /// The event.
        seq: Seq,
    },
    /// A recording with fewer events than its first line announces.
    #[error("{path} is cut off: its first line announces {due} events, but it has {found}")]
    CutOff {
        /// The file.
        path: String,
        /// The number of events in the first line.
        due: u64,
        /// The number of events found.
        found: u64,
    },
    /// A recording whose first line announces another end than it has.
    #[error(
        "{path} does not end as its first line announces ({due} events and the hash of the last): it has {found} events"
    )]
    OtherHead {
        /// The file.
        path: String,
        /// The number of events in the first line.
        due: u64,
        /// The number of events found.
        found: u64,
    },
    /// A recording without events.
    #[error("{path} has no events")]
    Empty {
        /// The file.
        path: String,
    },
    /// The log has a run with the same id but different events.
    #[error(
        "run {run} is already in the log and differs from the recording at seq {seq} ({ours} there)"
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
