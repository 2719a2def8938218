//! The difference between the means of two groups.

use serde::Serialize;

use crate::FigureKind;
use crate::draws::ClusteredDraws;
use crate::holm::holm;
use crate::interval::{FEWEST_CLUSTERS, Interval};
use crate::robust::robust_difference;
use crate::share::ShareDifference;

/// How the clusters of two groups correspond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupPairing {
    /// No cluster is in both groups.
    Unpaired,
    /// Clusters are in both groups, and what they share cancels out.
    Paired,
}

/// The test of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DifferenceTest {
    /// How often chance alone makes a difference at least as large, in either direction. It is below 0.05 if and only if
    /// the 95 % interval does not have 0 in it.
    pub p: f64,
    /// The same of all the tests that were made together, by Holm's correction.
    pub p_holm: f64,
    /// How many tests were made together.
    pub tests: u64,
}

/// The difference between two groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupDifference {
    /// How their clusters correspond.
    pub pairing: GroupPairing,
    /// How many clusters are in both.
    pub clusters_in_both: u64,
    /// The mean of the second group minus that of the first one. `None` if a group has no draws.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, if one can be given.
    pub interval: Option<Interval>,
    /// Its test, if it has an interval.
    pub test: Option<DifferenceTest>,
}

/// The difference between two groups of draws. Clusters of the same name are one. Without `clustered`, it is not known which
/// draws are independent, so nothing is said about chance; nor is it with fewer than [`FEWEST_CLUSTERS`] in a group.
pub fn difference(
    kind: FigureKind,
    one: &ClusteredDraws,
    other: &ClusteredDraws,
    clustered: bool,
) -> GroupDifference {
    let shared = one.0.keys().filter(|cluster| other.0.contains_key(*cluster));
    let clusters_in_both = if clustered { shared.count() as u64 } else { 0 };
    let is_enough = one.clusters().min(other.clusters()) >= FEWEST_CLUSTERS;
    let chance = (clustered && is_enough).then(|| chance(kind, one, other)).flatten();
    GroupDifference {
        pairing: match clusters_in_both {
            0 => GroupPairing::Unpaired,
            _ => GroupPairing::Paired,
        },
        clusters_in_both,
        difference: other.mean().zip(one.mean()).map(|(other, one)| other - one),
        interval: chance.map(|(interval, _)| interval),
        test: chance.map(|(_, p)| DifferenceTest { p, p_holm: p, tests: 1 }),
    }
}

/// The interval of a difference, and the p that belongs to it; `None` if nothing varies.
fn chance(
    kind: FigureKind,
    one: &ClusteredDraws,
    other: &ClusteredDraws,
) -> Option<(Interval, f64)> {
    let found = robust_difference(one, other)?;
    if kind != FigureKind::Share {
        return Some((found.interval()?, found.p()?));
    }
    let is_same_throughout = one == other;
    let found = ShareDifference::new(one, other)?;
    (!is_same_throughout).then(|| (found.interval(), found.p()))
}

/// Corrects tests that were made together.
pub(crate) fn correct<'a>(tests: impl Iterator<Item = &'a mut DifferenceTest>) {
    let mut tests: Vec<&mut DifferenceTest> = tests.collect();
    let adjusted = holm(&tests.iter().map(|test| test.p).collect::<Vec<f64>>());
    let number = tests.len() as u64;
    for (test, p_holm) in tests.iter_mut().zip(adjusted) {
        **test = DifferenceTest { p: test.p, p_holm, tests: number };
    }
}
