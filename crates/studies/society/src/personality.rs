//! Personalities, and how agents are assigned them.

use rand_chacha::ChaCha12Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use retold::run::shuffle;

/// An agent's values: the document's five.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Personality {
    /// Efficiency-focused.
    Efficiency,
    /// Equality-focused.
    Equality,
    /// Freedom-focused.
    Freedom,
    /// Stability-focused.
    Stability,
    /// Only the base prompt.
    Neutral,
}

impl Personality {
    /// All, in the document's order.
    pub const ALL: [Personality; 5] = [
        Personality::Efficiency,
        Personality::Equality,
        Personality::Freedom,
        Personality::Stability,
        Personality::Neutral,
    ];

    /// The spelling in configs, facts and tables.
    pub fn name(self) -> &'static str {
        match self {
            Personality::Efficiency => "efficiency",
            Personality::Equality => "equality",
            Personality::Freedom => "freedom",
            Personality::Stability => "stability",
            Personality::Neutral => "neutral",
        }
    }
}

/// Deals things to a number of agents according to their shares, in random order.
///
/// Each thing is dealt as often as its share requires, rounded down; the rest goes to the largest
/// remainders, the first in a tie.
pub(super) fn deal<T: Clone>(things: &[(T, f64)], agents: usize, rng: &mut ChaCha12Rng) -> Vec<T> {
    let sum: f64 = things.iter().map(|(_, share)| share).sum();
    let exact: Vec<f64> = things.iter().map(|(_, share)| share / sum * agents as f64).collect();
    // A share that is whole except for the last bit is whole.
    let mut counts: Vec<usize> = exact.iter().map(|e| (e + 1e-9).floor() as usize).collect();
    let mut order: Vec<usize> = (0..things.len()).collect();
    let rest = |at: usize| exact[at] - exact[at].floor();
    order.sort_by(|a, b| rest(*b).total_cmp(&rest(*a)));
    let left = agents.saturating_sub(counts.iter().sum());
    order.iter().cycle().take(left).for_each(|at| counts[*at] += 1);
    let mut dealt: Vec<T> = things
        .iter()
        .zip(counts)
        .flat_map(|((thing, _), count)| std::iter::repeat_n(thing.clone(), count))
        .collect();
    shuffle(&mut dealt, rng);
    dealt
}
