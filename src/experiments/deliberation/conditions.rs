//! The four conditions, and who is in which.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::Rng;
use serde::{Deserialize, Serialize};

/// What a participant goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// Votes once.
    SimpleVoting,
    /// Votes, reads the others' positions, votes again.
    SimplePassive,
    /// Is asked for reasons in between.
    ClarifiedPassive,
    /// Adversarial cross-pollination: is asked for reasons, reads the others' positions, is
    /// challenged with the opposing one, votes again.
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

    /// As outputs spell it.
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

/// The condition of each participant: as many of each, in random order.
pub fn assign(per_condition: usize, rng: &mut ChaCha12Rng) -> Vec<Condition> {
    let mut conditions: Vec<Condition> =
        Condition::ALL.iter().flat_map(|c| std::iter::repeat_n(*c, per_condition)).collect();
    shuffle(&mut conditions, rng);
    conditions
}

/// Puts things in random order (Fisher and Yates). Our own, because a library that changed its way of
/// drawing would change every seeded study.
pub(in crate::experiments) fn shuffle<T>(things: &mut [T], rng: &mut ChaCha12Rng) {
    for last in (1..things.len()).rev() {
        things.swap(last, below(last + 1, rng));
    }
}

/// A number below a bound, each as likely: draws that would favour some are thrown away.
pub(super) fn below(bound: usize, rng: &mut ChaCha12Rng) -> usize {
    let bound = bound.max(1) as u64;
    let fair = u64::MAX - u64::MAX % bound;
    loop {
        let draw = rng.next_u64();
        if draw < fair {
            // Below a usize, so it fits.
            return usize::try_from(draw % bound).unwrap_or_default();
        }
    }
}
