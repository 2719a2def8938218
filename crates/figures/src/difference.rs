//! The difference between the means of two groups.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::FigureKind;
use crate::draws::ClusteredDraws;
use crate::interval::{Interval, IntervalMethod, bootstrap, bootstrap_between, wilson};
use crate::merged::Sums;
use crate::permutation::{PermutationTest, between, within};

/// How the clusters of two groups correspond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GroupPairing {
    /// No cluster is in both groups.
    Unpaired,
    /// Clusters are in both groups: the difference is over these.
    Paired,
    /// Some clusters are in both groups, but less than half of them: such groups are neither independent nor pairs, so that
    /// the difference has no interval and no test.
    Mixed,
}

/// The difference between two groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupDifference {
    /// How their clusters correspond.
    pub pairing: GroupPairing,
    /// How many clusters are in both.
    pub clusters_in_both: u64,
    /// The mean of the second group minus that of the first one; of pairs, over the clusters that are in both.
    /// `None` if a group has no draws.
    pub difference: Option<f64>,
    /// The 95 % interval of the difference, if one can be given.
    pub interval: Option<Interval>,
    /// The permutation test, if the groups can be tested.
    pub test: Option<PermutationTest>,
}

/// The difference between two groups of draws. `name` seeds the random numbers. Without `clustered`, it is not known
/// which draws are independent, so nothing is said about chance.
pub fn difference(
    kind: FigureKind,
    name: &str,
    one: &ClusteredDraws,
    other: &ClusteredDraws,
    clustered: bool,
) -> GroupDifference {
    let unpaired = || Some(other.mean()? - one.mean()?);
    let neither = |pairing, clusters_in_both| {
        let (interval, test) = (None, None);
        GroupDifference { pairing, clusters_in_both, difference: unpaired(), interval, test }
    };
    if !clustered {
        return neither(GroupPairing::Unpaired, 0);
    }
    let twin = |(cluster, [a, n]): (&String, &Sums<2>)| {
        other.0.get(cluster).map(|[b, m]| [*a, *n, *b, *m])
    };
    let pairs: Vec<Sums<4>> = one.0.iter().filter_map(twin).collect();
    let clusters_in_both = pairs.len() as u64;
    let smaller = one.clusters().min(other.clusters());
    if pairs.is_empty() {
        return GroupDifference {
            pairing: GroupPairing::Unpaired,
            clusters_in_both,
            difference: unpaired(),
            interval: interval_between(kind, name, one, other),
            test: between(name, &sums(one), &sums(other)),
        };
    }
    if 2 * clusters_in_both < smaller {
        return neither(GroupPairing::Mixed, clusters_in_both);
    }
    let of = |[a, n, b, m]: Sums<4>| (n > 0.0 && m > 0.0).then(|| b / m - a / n);
    let mut all = Sums::default();
    for pair in &pairs {
        all.iter_mut().zip(pair).for_each(|(all, more)| *all += more);
    }
    GroupDifference {
        pairing: GroupPairing::Paired,
        clusters_in_both,
        difference: of(all),
        interval: bootstrap(name, &pairs, of),
        test: within(name, &pairs),
    }
}

fn sums(draws: &ClusteredDraws) -> Vec<Sums<2>> {
    draws.0.values().copied().collect()
}

/// The interval of the difference between groups of different clusters: Newcombe's for shares of independent draws,
/// otherwise a bootstrap that draws clusters within each group.
pub(crate) fn interval_between(
    kind: FigureKind,
    name: &str,
    one: &ClusteredDraws,
    other: &ClusteredDraws,
) -> Option<Interval> {
    if kind == FigureKind::Share && one.are_independent() && other.are_independent() {
        return newcombe(one.total(), other.total());
    }
    bootstrap_between(name, &sums(one), &sums(other))
}

/// The interval of the difference between two shares, each the sum and number of independent draws: Newcombe's hybrid of two
/// Wilson intervals (R. G. Newcombe, Statistics in Medicine 17, 1998, 873-890, method 10). `None` if a group has no
/// draws.
pub fn newcombe(one: (f64, f64), other: (f64, f64)) -> Option<Interval> {
    let (first, second) = (wilson(one.0, one.1)?, wilson(other.0, other.1)?);
    let (p, q) = (one.0 / one.1, other.0 / other.1);
    let method = IntervalMethod::Newcombe;
    Some(Interval {
        low: q - p - (q - second.low).hypot(first.high - p),
        high: q - p + (second.high - q).hypot(p - first.low),
        method,
    })
}

/// A group by its clusters, from sums and counts.
pub(crate) fn by_cluster<'a>(draws: impl Iterator<Item = (&'a str, f64, f64)>) -> ClusteredDraws {
    let mut clustered = ClusteredDraws(BTreeMap::new());
    draws.for_each(|(cluster, sum, count)| clustered.add_all(cluster, sum, count));
    clustered
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn group(prefix: &str, values: &[f64]) -> ClusteredDraws {
        let mut draws = ClusteredDraws::default();
        for (at, value) in values.iter().enumerate() {
            draws.add(&format!("{prefix}{at}"), *value);
        }
        draws
    }

    /// Published values: R. G. Newcombe, Statistics in Medicine 17 (1998), 873-890, table II, method 10.
    #[test]
    fn intervals_of_differences_equal_published_ones() {
        let published = [
            ((48.0, 80.0), (56.0, 70.0), 0.0524, 0.3339),
            ((3.0, 10.0), (9.0, 10.0), 0.1705, 0.8090),
            ((2.0, 7.0), (6.0, 7.0), 0.0582, 0.8062),
            ((0.0, 29.0), (5.0, 56.0), -0.0381, 0.1926),
            ((0.0, 20.0), (10.0, 10.0), 0.6791, 1.0),
        ];
        for (one, other, low, high) in published {
            let found = newcombe(one, other).unwrap();
            assert!((found.low - low).abs() < 6e-5, "{one:?} {other:?}: {found:?}");
            assert!((found.high - high).abs() < 6e-5, "{one:?} {other:?}: {found:?}");
        }
        assert_eq!(newcombe((0.0, 0.0), (1.0, 2.0)), None);
    }

    #[test]
    fn groups_are_paired_only_if_clusters_are_in_both() {
        let kind = FigureKind::Share;
        let (one, other) = (group("a", &[0.0, 0.0, 1.0]), group("b", &[1.0, 1.0, 1.0]));
        let strangers = difference(kind, "test", &one, &other, true);
        assert_eq!((strangers.pairing, strangers.clusters_in_both), (GroupPairing::Unpaired, 0));
        assert_eq!(strangers.interval.unwrap().method, IntervalMethod::Newcombe);
        assert_eq!(strangers.test.unwrap().assignments, 20);
        let same = difference(kind, "test", &one, &group("a", &[1.0, 1.0, 1.0]), true);
        assert_eq!((same.pairing, same.clusters_in_both), (GroupPairing::Paired, 3));
        assert_eq!(same.interval.unwrap().method, IntervalMethod::ClusterBootstrap);
        assert_eq!(same.test.unwrap().assignments, 8);
        let mut mixed = group("c", &[1.0; 5]);
        mixed.add("a0", 1.0);
        let mixed = difference(kind, "test", &group("a", &[0.0; 5]), &mixed, true);
        assert_eq!((mixed.pairing, mixed.clusters_in_both), (GroupPairing::Mixed, 1));
        assert_eq!((mixed.difference, mixed.interval, mixed.test), (Some(1.0), None, None));
        let unknown = difference(kind, "test", &one, &other, false);
        assert_eq!((unknown.interval, unknown.test), (None, None));
        let nobody = difference(kind, "test", &one, &group("b", &[]), true);
        assert_eq!((nobody.difference, nobody.interval, nobody.test), (None, None, None));
    }

    proptest! {
        /// The other way round, everything has the other sign, and the test says the same.
        #[test]
        fn a_difference_has_no_direction(
            one in prop::collection::vec(0_u8..2, 1..7),
            other in prop::collection::vec(0_u8..2, 1..7),
            pairs in any::<bool>(),
        ) {
            let values = |of: &[u8]| of.iter().map(|value| f64::from(*value)).collect::<Vec<_>>();
            let (one, other) =
                (group("a", &values(&one)), group(if pairs { "a" } else { "b" }, &values(&other)));
            let there = difference(FigureKind::Share, "test", &one, &other, true);
            let back = difference(FigureKind::Share, "test", &other, &one, true);
            let (d, e) = (there.difference.unwrap(), back.difference.unwrap());
            prop_assert!((d + e).abs() < 1e-12);
            prop_assert!((there.test.unwrap().p - back.test.unwrap().p).abs() < 1e-12);
            if let (Some(there), Some(back)) = (there.interval, back.interval) {
                prop_assert!((there.low + back.high).abs() < 1e-9);
                prop_assert!(there.low <= d + 1e-9 && d <= there.high + 1e-9);
            }
        }
    }
}
