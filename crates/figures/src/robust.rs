//! The variance of a mean, or of the difference between two, when draws of one cluster are not independent: CR2, with
//! Satterthwaite's degrees of freedom (R. M. Bell, D. F. McCaffrey, Survey Methodology 28, 2002; J. E. Pustejovsky,
//! E. Tipton, Journal of Business & Economic Statistics 36, 2018). It is what R's clubSandwich computes of
//! `lm(value ~ group)`.
//!
//! A regression on groups alone needs no matrices. A cluster's residuals add up to its sum minus its size times the mean; the
//! square root of CR2 divides them by the square root of the share of draws that are in other clusters.

use std::collections::BTreeMap;

use crate::beta::{t_chance, t_quantile};
use crate::draws::ClusteredDraws;
use crate::interval::{Interval, IntervalMethod};

/// A standard error that is less than this, for the size of the values, comes from rounding.
const ROUNDING: f64 = 1e-12;

/// A mean, or the difference between two, with its variance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RobustEstimate {
    pub(crate) value: f64,
    pub(crate) variance: f64,
    pub(crate) df: f64,
    /// How strongly the two means of a difference vary together, because of the clusters that are in both.
    pub(crate) correlation: f64,
    /// The size of the values.
    scale: f64,
}

/// A cluster's part in a mean.
#[derive(Debug, Clone, Copy, Default)]
struct ClusterPart {
    /// How far it moves the mean.
    moved: f64,
    /// Its part in what two clusters have in common, because both are compared with the same mean.
    common: f64,
    /// Its part in the variance of the mean of independent draws.
    own: f64,
}

/// The mean of at least two clusters.
pub(crate) fn robust_mean(draws: &ClusteredDraws) -> Option<RobustEstimate> {
    let value = draws.mean()?;
    let parts = parts(draws, value).into_values().map(|part| [ClusterPart::default(), part]);
    Some(estimate(value, value.abs(), parts))
}

/// The difference between the means of two groups of at least two clusters. Clusters of the same name are one.
pub(crate) fn robust_difference(
    one: &ClusteredDraws,
    other: &ClusteredDraws,
) -> Option<RobustEstimate> {
    let (first, second) = (one.mean()?, other.mean()?);
    let mut parts_of_both: BTreeMap<&str, [ClusterPart; 2]> = BTreeMap::new();
    for (at, (draws, mean)) in [(one, first), (other, second)].into_iter().enumerate() {
        for (cluster, part) in parts(draws, mean) {
            parts_of_both.entry(cluster).or_default()[at] = part;
        }
    }
    let scale = first.abs().max(second.abs());
    Some(estimate(second - first, scale, parts_of_both.into_values()))
}

fn parts(draws: &ClusteredDraws, mean: f64) -> BTreeMap<&str, ClusterPart> {
    let (_, all) = draws.total();
    let part = |[sum, n]: [f64; 2]| {
        let elsewhere = (1.0 - n / all).sqrt();
        ClusterPart {
            moved: (sum - n * mean) / (all * elsewhere),
            common: n / (all * all.sqrt() * elsewhere),
            own: n / (all * all),
        }
    };
    draws.0.iter().map(|(cluster, sums)| (cluster.as_str(), part(*sums))).collect()
}

/// The second mean minus the first one.
fn estimate(
    value: f64,
    scale: f64,
    parts: impl Iterator<Item = [ClusterPart; 2]>,
) -> RobustEstimate {
    let (mut variance, mut covariance, mut variances) = (0.0, 0.0, [0.0; 2]);
    let (mut own, mut squares, mut common, mut same) = (0.0, 0.0, [0.0; 3], 0.0);
    for [one, other] in parts {
        variance += (other.moved - one.moved).powi(2);
        variances[0] += one.moved * one.moved;
        variances[1] += other.moved * other.moved;
        covariance += one.moved * other.moved;
        own += one.own + other.own;
        squares += (one.own + other.own).powi(2);
        let products =
            [one.common * one.common, one.common * other.common, other.common * other.common];
        common.iter_mut().zip(products).for_each(|(all, more)| *all += more);
        same += (products[0] + products[2]).powi(2);
    }
    // Twice the square of the expected variance over its variance, if draws were independent.
    let [first, both, second] = common;
    let pairs = first * first + 2.0 * both * both + second * second - same;
    let spread = (variances[0] * variances[1]).sqrt();
    RobustEstimate {
        value,
        variance,
        df: own * own / (squares + pairs),
        correlation: if spread > 0.0 { (covariance / spread).clamp(-1.0, 1.0) } else { 0.0 },
        scale,
    }
}

impl RobustEstimate {
    fn error(&self) -> Option<f64> {
        let error = self.variance.sqrt();
        (error > ROUNDING * self.scale.max(1.0)).then_some(error)
    }

    /// The 95 % interval by Student's t; `None` if nothing varies.
    pub(crate) fn interval(&self) -> Option<Interval> {
        let half = t_quantile(self.df) * self.error()?;
        let (low, high) = (self.value - half, self.value + half);
        Some(Interval { low, high, method: IntervalMethod::Cr2 })
    }

    /// How often chance alone makes a value so far from 0, if it is 0 in truth; `None` if nothing varies.
    pub(crate) fn p(&self) -> Option<f64> {
        Some(t_chance(self.value / self.error()?, self.df))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(clusters: &[(&str, &[f64])]) -> ClusteredDraws {
        let mut draws = ClusteredDraws::default();
        for (name, values) in clusters {
            values.iter().for_each(|value| draws.add(name, *value));
        }
        draws
    }

    fn assert_is(found: RobustEstimate, value: f64, variance: f64, df: f64, correlation: f64) {
        let RobustEstimate { value: v, variance: s, df: d, correlation: c, .. } = found;
        let apart = [v - value, s - variance, d - df, c - correlation];
        assert!(apart.iter().all(|apart| apart.abs() < 1e-12), "{found:?}");
    }

    /// What `scripts/figures-check` computes with the matrices of a regression.
    #[test]
    fn sums_of_clusters_have_the_variance_of_a_regression() {
        let one: [(&str, &[f64]); 5] = [
            ("a", &[1.0, 2.0, 3.0]),
            ("b", &[4.0]),
            ("c", &[2.0, 5.0]),
            ("d", &[7.0, 1.0, 1.0, 3.0]),
            ("e", &[6.0]),
        ];
        let other: [(&str, &[f64]); 6] = [
            ("a", &[2.0, 4.0]),
            ("b", &[9.0, 8.0, 5.0]),
            ("f", &[3.0]),
            ("c", &[1.0]),
            ("g", &[6.0, 6.0]),
            ("h", &[4.0, 7.0]),
        ];
        let (one, other) = (group(&one), group(&other));
        let mean = robust_mean(&one).unwrap();
        assert_is(mean, 35.0 / 11.0, 0.232_090_384_363_111_55, 2.970_297_029_702_970_3, 0.0);
        let found = robust_difference(&one, &other).unwrap();
        let (variance, df, correlation) =
            (0.811_328_434_658_139_6, 5.218_160_285_126_46, 0.395_446_901_032_976);
        assert_is(found, 20.0 / 11.0, variance, df, correlation);
    }

    /// Clusters of one size have the t of their means.
    #[test]
    fn clusters_of_one_size_have_the_interval_of_their_means() {
        let values: [(&str, &[f64]); 5] =
            [("a", &[1.0]), ("b", &[2.0]), ("c", &[4.0]), ("d", &[4.0]), ("e", &[9.0])];
        let found = robust_mean(&group(&values)).unwrap();
        assert!((found.df - 4.0).abs() < 1e-12, "{found:?}");
        // scipy.stats.t.interval(0.95, 4, loc=4, scale=scipy.stats.sem([1, 2, 4, 4, 9]))
        assert!((found.interval().unwrap().low - 0.172_934_531_245).abs() < 1e-9, "{found:?}");
        let same = robust_mean(&group(&[("a", &[2.0]), ("b", &[2.0, 2.0])])).unwrap();
        assert_eq!((same.interval(), same.p()), (None, None));
    }
}
