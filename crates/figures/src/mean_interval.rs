//! The interval of the mean of draws.

use crate::FigureKind;
use crate::draws::{ClusteredDraws, effective_number};
use crate::interval::{FEWEST_CLUSTERS, Interval, MANY_CLUSTERS, NarrowInterval};
use crate::robust::robust_mean;
use crate::share::EffectiveShare;

impl ClusteredDraws {
    /// Why the 95 % interval may be too narrow; docs/coverage.md has the numbers.
    pub(crate) fn narrow_interval(&self, kind: FigureKind) -> Option<NarrowInterval> {
        self.interval(kind)?;
        let mean = self.mean()?;
        if kind != FigureKind::Share {
            return (self.clusters() < MANY_CLUSTERS).then_some(NarrowInterval::SkewedMean);
        }
        let is_uneven =
            2.0 * effective_number(self.0.values().map(|[_, n]| *n)) < self.clusters() as f64;
        let is_near_end = !(0.2..=0.8).contains(&mean);
        (is_uneven && is_near_end).then_some(NarrowInterval::RareInUnequalClusters)
    }

    /// The 95 % interval of the mean, if one can be given: of a share exact if its draws are independent and otherwise Korn
    /// and Graubard's, of any other mean by Student's t. Draws in fewer than [`FEWEST_CLUSTERS`] clusters have none.
    pub fn interval(&self, kind: FigureKind) -> Option<Interval> {
        let is_share = kind == FigureKind::Share;
        if self.clusters() < FEWEST_CLUSTERS && !(is_share && self.are_independent()) {
            return None;
        }
        if is_share {
            return Some(EffectiveShare::new(self)?.interval());
        }
        let Interval { low, high, method } = robust_mean(self)?.interval()?;
        Some(match kind {
            FigureKind::Proportion => Interval { low: low.max(0.0), high: high.min(1.0), method },
            FigureKind::Share | FigureKind::Mean => Interval { low, high, method },
        })
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
    fn the_interval_follows_from_the_clusters_and_the_kind() {
        let method = |draws: &ClusteredDraws, kind| Some(draws.interval(kind)?.method);
        let few = draws(&[("a", 1.0), ("b", 0.0), ("c", 1.0)]);
        assert_eq!(method(&few, FigureKind::Share), Some(IntervalMethod::ClopperPearson));
        assert_eq!((method(&few, FigureKind::Mean), few.dots(FigureKind::Share)), (None, vec![]));
        assert_eq!(few.dots(FigureKind::Mean), [0.0, 1.0, 1.0]);
        let nested = ["a", "a", "b", "c", "d", "e"].map(|name| (name, f64::from(name < "c")));
        assert_eq!(method(&draws(&nested), FigureKind::Share), Some(IntervalMethod::KornGraubard));
        assert_eq!(method(&draws(&nested), FigureKind::Mean), Some(IntervalMethod::Cr2));
        assert_eq!(method(&draws(&nested[..4]), FigureKind::Share), None);
        assert_eq!(draws(&nested).cluster_means().mean(), Some(0.4));
        assert_eq!((draws(&[]).mean(), method(&draws(&[]), FigureKind::Share)), (None, None));
    }

    /// A share that never varies is not certain.
    #[test]
    fn a_share_of_all_or_nothing_has_an_interval() {
        let mut all = ClusteredDraws::default();
        (0..6).for_each(|n| all.add_all(&n.to_string(), 4.0, 4.0));
        let found = all.interval(FigureKind::Share).unwrap();
        // As if each cluster were a single draw: 0.025 to the power of a sixth.
        assert!((found.low - 0.540_741_873_56).abs() < 1e-9 && found.high == 1.0, "{found:?}");
        assert_eq!(all.interval(FigureKind::Mean), None, "nothing varies");
    }
}
