//! What a batch is found by, and what a server says about it.

use crate::id::{RunId, Time};

/// The largest batch that a server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchLimits {
    /// Lines.
    pub lines: usize,
    /// Bytes of all lines.
    pub bytes: u64,
}

/// By what a batch is found again, if the reply to its submission is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTicket {
    /// The run.
    pub run: RunId,
    /// The number of the batch in it.
    pub number: u64,
    /// A random text.
    pub nonce: String,
    /// How many lines it has.
    pub lines: u64,
    /// The model that all its requests name.
    pub model: String,
    /// The function of the server that answers each line.
    pub endpoint: String,
    /// When it was planned.
    pub planned: Time,
    /// The ids of batches that are others.
    pub others: Vec<String>,
}

impl BatchTicket {
    /// The name of its file, and the one that it is shown under.
    pub fn name(&self) -> String {
        format!("retold-{}-{}-{}.jsonl", self.run, self.number, self.nonce)
    }

    /// The id of a line: the run and the question. Equal prompts are different questions.
    pub fn line_id(run: RunId, question: u64) -> String {
        format!("rt-{run}-{question}")
    }

    /// The question of a line of this run.
    pub fn question(run: RunId, id: &str) -> Option<u64> {
        id.strip_prefix("rt-")?.strip_prefix(&run.to_string())?.strip_prefix('-')?.parse().ok()
    }
}

/// What a server says about a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchReport {
    /// The server's id.
    pub id: String,
    /// The server's word for its state.
    pub status: String,
    /// How many lines have ended, as far as it says.
    pub done: u64,
    /// The end of the time in which it wants to have answered.
    pub expires: Option<Time>,
    /// How far it is.
    pub phase: BatchPhase,
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchPhase {
    /// The server works on it, or has not begun.
    UnderWay,
    /// Nothing more will be answered: where the results are.
    Ended(Vec<String>),
    /// The server refused it as a whole: why. Nothing of it is paid for.
    Refused(String),
}

/// A batch that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundBatch {
    /// The server has it.
    Found(BatchReport),
    /// The server has one that may be it, which shows when that has ended.
    Perhaps,
    /// The server does not have it.
    NotFound,
}
