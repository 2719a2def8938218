//! The four conditions, and the assignment of participants to them.

use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use retold::run::shuffle;

/// The course of a participant through the study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Votes once.
    SimpleVoting,
    /// Votes, reads the others' positions, and votes again.
    SimplePassive,
    /// Is also asked for reasons in between.
    ClarifiedPassive,
    /// Adversarial cross-pollination: is asked for reasons, reads the others' positions, is
    /// challenged with the opposing position, and votes again.
    Acp,
}

impl Condition {
    /// All four, in the document's order.
    pub const ALL: [Condition; 4] = [
        Condition::SimpleVoting,
        Condition::SimplePassive,
        Condition::ClarifiedPassive,
        Condition::Acp,
    ];

    /// The spelling in outputs.
    pub fn as_str(self) -> &'static str {
        match self {
            Condition::SimpleVoting => "simple_voting",
            Condition::SimplePassive => "simple_passive",
            Condition::ClarifiedPassive => "clarified_passive",
            Condition::Acp => "acp",
        }
    }

    /// Whether reasons are asked for (phases 3 and 4).
    pub fn is_clarified(self) -> bool {
        matches!(self, Condition::ClarifiedPassive | Condition::Acp)
    }

    /// Whether the final vote follows the summary (phase 6).
    pub fn votes_after_summary(self) -> bool {
        matches!(self, Condition::SimplePassive | Condition::ClarifiedPassive)
    }
}

/// The condition of each participant: the same number for each, in random order.
pub fn assign(per_condition: usize, rng: &mut ChaCha12Rng) -> Vec<Condition> {
    let mut conditions: Vec<Condition> =
        Condition::ALL.iter().flat_map(|c| std::iter::repeat_n(*c, per_condition)).collect();
    shuffle(&mut conditions, rng);
    conditions
}
