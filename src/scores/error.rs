//! What can be wrong with the decisions of a scorer.

use super::AnswerName;
use crate::id::{RunId, Seq};
use crate::log::LogError;

/// Why the decisions of a scorer cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// The log cannot be read or is damaged.
    #[error(transparent)]
    Log(#[from] LogError),
    /// Nothing was answered there.
    #[error("line {line}: run {run} has no answer {name}{}", choice_suffix(*choice))]
    NoAnswer {
        /// The line.
        line: u64,
        /// How the answer is named.
        name: AnswerName,
        /// The choice of the answer.
        choice: u32,
        /// The run.
        run: RunId,
    },
    /// There are two decisions about one answer.
    #[error("line {line}: line {first} has a value for the answer {name} already")]
    Twice {
        /// The first line.
        first: u64,
        /// The second line.
        line: u64,
        /// How the answer is named.
        name: AnswerName,
    },
    /// The seq of an answer and its call do not fit.
    #[error("line {line}: the answer at seq {seq} is {is}, not {given}")]
    OtherCall {
        /// The line.
        line: u64,
        /// The seq.
        seq: Seq,
        /// The call in the line.
        given: AnswerName,
        /// The call of the answer.
        is: AnswerName,
    },
    /// The call was given several answers with this number.
    #[error(
        "line {line}: {name} names two answers, seq {} and seq {}: give the seq of the answer instead, as `answer_seq`",
        seqs[0], seqs[1]
    )]
    Ambiguous {
        /// The line.
        line: u64,
        /// How the answer is named.
        name: AnswerName,
        /// Two answers of this name.
        seqs: [Seq; 2],
    },
}

fn choice_suffix(choice: u32) -> String {
    if choice == 0 { String::new() } else { format!(" with a choice {choice}") }
}
