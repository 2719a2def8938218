//! Draws by cluster, and what can be said of their mean.

use std::collections::BTreeMap;

use crate::FigureKind;
use crate::exact::{EXACT_DRAWS, clopper_pearson};
use crate::interval::{Interval, bootstrap, wilson};
use crate::merged::Sums;

/// The sum and the number of draws, cluster by cluster. Draws of one cluster are not independent of each other, such as
/// the answers of one participant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClusteredDraws(pub(crate) BTreeMap<String, Sums<2>>);

impl ClusteredDraws {
    /// Adds a draw.
    pub fn add(&mut self, cluster: &str, value: f64) {
        self.add_all(cluster, value, 1.0);
    }

    /// Adds several draws of a cluster by their sum.
    pub(crate) fn add_all(&mut self, cluster: &str, sum: f64, count: f64) {
        if !self.0.contains_key(cluster) {
            self.0.insert(cluster.to_owned(), Sums::default());
        }
        if let Some([all, n]) = self.0.get_mut(cluster) {
            *all += sum;
            *n += count;
        }
    }

    /// The sum of all draws, and their number.
    pub(crate) fn total(&self) -> (f64, f64) {
        self.0.values().fold((0.0, 0.0), |(sum, count), [s, n]| (sum + s, count + n))
    }

    /// How many draws there are.
    pub fn count(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        return self.total().1 as u64;
    }

    /// How many clusters there are.
    pub fn clusters(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether every draw is a cluster of its own.
    pub fn are_independent(&self) -> bool {
        self.0.values().all(|[_, n]| *n <= 1.0)
    }

    /// The mean of all draws; `None` without draws.
    pub fn mean(&self) -> Option<f64> {
        let (sum, count) = self.total();
        (count > 0.0).then(|| sum / count)
    }

    /// The 95 % interval of the mean, if one can be given: of a share of independent draws exact for few and Wilson's for
    /// more, otherwise a bootstrap of the clusters, which depends on the figure's name only.
    pub fn interval(&self, kind: FigureKind, name: &str) -> Option<Interval> {
        let (hits, draws) = self.total();
        if kind != FigureKind::Share || !self.are_independent() {
            return self.bootstrap(name);
        }
        if draws <= f64::from(EXACT_DRAWS) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
            return clopper_pearson(hits.round() as u32, draws as u32);
        }
        wilson(hits, draws)
    }

    /// The interval of the mean when clusters are drawn.
    pub(crate) fn bootstrap(&self, name: &str) -> Option<Interval> {
        let sums: Vec<Sums<2>> = self.0.values().copied().collect();
        bootstrap(name, &sums, |[sum, n]| (n > 0.0).then(|| sum / n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntervalMethod;

    fn draws(values: &[(&str, f64)]) -> ClusteredDraws {
        let mut draws = ClusteredDraws::default();
        values.iter().for_each(|(cluster, value)| draws.add(cluster, *value));
        draws
    }

    #[test]
    fn the_interval_follows_from_the_clusters_and_the_number_of_draws() {
        let method = |draws: &ClusteredDraws, kind| Some(draws.interval(kind, "test")?.method);
        let few = draws(&[("a", 1.0), ("b", 0.0), ("c", 1.0)]);
        assert_eq!(method(&few, FigureKind::Share), Some(IntervalMethod::ClopperPearson));
        assert_eq!(method(&few, FigureKind::Mean), Some(IntervalMethod::ClusterBootstrap));
        let names: Vec<String> = (0..21).map(|n| n.to_string()).collect();
        let many: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
        assert_eq!(method(&draws(&many), FigureKind::Share), Some(IntervalMethod::Wilson));
        let nested = draws(&[("a", 1.0), ("a", 0.0), ("b", 1.0)]);
        assert_eq!((nested.count(), nested.clusters(), nested.mean()), (3, 2, Some(2.0 / 3.0)));
        assert_eq!(method(&nested, FigureKind::Share), Some(IntervalMethod::ClusterBootstrap));
        let single = draws(&[("a", 1.0), ("a", 0.0)]);
        assert_eq!(method(&single, FigureKind::Share), None, "one cluster says nothing of others");
        assert_eq!((draws(&[]).mean(), method(&draws(&[]), FigureKind::Share)), (None, None));
    }
}
