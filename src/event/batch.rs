//! The steps of a batch: many questions of a run that a server answers later, at a lower price. Its answers and failures are events like
//! all others, and name its number.

use serde::{Deserialize, Serialize};

use super::kind;
use super::outcome::spans;
use crate::id::{Seq, Time};

/// A step of a batch. The number of a batch is its place among those of the run, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchStep {
    /// It is to be submitted. This is durable before anything of it leaves.
    Planned(BatchPlanned),
    /// Its file is at the server.
    Uploaded(BatchUploaded),
    /// The server has it.
    Submitted(BatchSubmitted),
    /// The server says something new about it.
    Seen(BatchSeen),
    /// Nothing more will be answered.
    Ended(BatchEnded),
    /// Its answers and failures are events of the run.
    Collected(BatchCollected),
}

impl BatchStep {
    /// The number of its batch.
    pub fn number(&self) -> u64 {
        match self {
            BatchStep::Planned(BatchPlanned { number, .. })
            | BatchStep::Uploaded(BatchUploaded { number, .. })
            | BatchStep::Submitted(BatchSubmitted { number, .. })
            | BatchStep::Seen(BatchSeen { number, .. })
            | BatchStep::Ended(BatchEnded { number, .. })
            | BatchStep::Collected(BatchCollected { number, .. }) => *number,
        }
    }

    /// The name of its kind of event.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            BatchStep::Planned(_) => kind::BATCH_PLANNED,
            BatchStep::Uploaded(_) => kind::BATCH_UPLOADED,
            BatchStep::Submitted(_) => kind::BATCH_SUBMITTED,
            BatchStep::Seen(_) => kind::BATCH_SEEN,
            BatchStep::Ended(_) => kind::BATCH_ENDED,
            BatchStep::Collected(_) => kind::BATCH_COLLECTED,
        }
    }
}

/// The questions of a batch, and where they are going.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchPlanned {
    /// How long its lines are together, in bytes.
    pub bytes: u64,
    /// BLAKE3 of its lines, in hexadecimal.
    pub digest: String,
    /// The path of the function that answers each line, below the server.
    pub endpoint: String,
    /// The model that all its requests name.
    pub model: String,
    /// A random text, by which the batch is found again if the reply to its submission is lost.
    pub nonce: String,
    /// Its number in the run.
    pub number: u64,
    /// The `RequestSent` of each line, ascending: the first and the last of each stretch.
    pub seqs: Vec<(u64, u64)>,
    /// The server: its base URL without credentials.
    pub server: String,
}

/// The file of a batch is at the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchUploaded {
    /// The server's id of the file.
    pub file: String,
    /// The number of the batch in the run.
    pub number: u64,
}

/// A server has a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSubmitted {
    /// The end of the time in which the server wants to have answered it, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Time>,
    /// The server's id of it.
    pub id: String,
    /// Its number in the run.
    pub number: u64,
}

/// A server says something new about a batch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchSeen {
    /// How many of its lines have ended, as far as the server says.
    pub done: u64,
    /// Its number in the run.
    pub number: u64,
    /// The server's word for its state.
    pub status: String,
}

/// Nothing more of a batch will be answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchEnded {
    /// The server's reason if it refused the whole batch; nothing of such a batch is paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Where its results are, in the server's words: ids of files, or paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Its number in the run.
    pub number: u64,
    /// The server's word for its state.
    pub status: String,
}

/// The answers and failures of a batch are events of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchCollected {
    /// Lines with an answer.
    pub answered: u64,
    /// BLAKE3 of its result files, in hexadecimal.
    pub digest: String,
    /// Lines that the server did not come to: the batch expired or was cancelled.
    pub expired: u64,
    /// Lines with an error.
    pub failed: u64,
    /// Lines of which the results say nothing.
    pub missing: u64,
    /// Its number in the run.
    pub number: u64,
}

impl BatchPlanned {
    /// Seqs, ascending, as [`seqs`](Self::seqs) has them.
    pub fn stretches(seqs: &[Seq]) -> Vec<(u64, u64)> {
        spans(&seqs.iter().map(|seq| seq.0).collect::<Vec<u64>>())
    }

    /// The `RequestSent` of each line.
    pub fn questions(&self) -> impl Iterator<Item = Seq> {
        self.seqs.iter().flat_map(|(first, last)| (*first..=*last).map(Seq))
    }

    /// Whether a question has a line in it.
    pub fn has(&self, question: Seq) -> bool {
        let after = self.seqs.partition_point(|(first, _)| *first <= question.0);
        let stretch = after.checked_sub(1).and_then(|at| self.seqs.get(at));
        stretch.is_some_and(|(_, last)| question.0 <= *last)
    }

    /// How many lines it has.
    pub fn lines(&self) -> u64 {
        let lengths = self.seqs.iter().map(|(first, last)| (last + 1).saturating_sub(*first));
        lengths.fold(0, u64::saturating_add)
    }
}
