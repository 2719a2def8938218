//! Intervals.

use rand_chacha::ChaCha12Rng;
use retold::run::{below, rng_for};
use serde::Serialize;

use crate::merged::{MOST_CLUSTERS, merge, set_size};

/// The quantile of the normal distribution for an interval of 95 %.
pub const Z: f64 = 1.959_963_984_540_054;

/// How many resampled runs a bootstrap has.
pub const RESAMPLES: usize = 2_000;

/// The seed of all bootstraps: the stream of each also depends on its figure's name.
const SEED: u64 = 0;

/// How an interval was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// Wilson's score interval.
    Wilson,
    /// The exact interval of Clopper and Pearson.
    ClopperPearson,
    /// Newcombe's interval of a difference, from two of Wilson's.
    Newcombe,
    /// Percentiles of a cluster bootstrap.
    ClusterBootstrap,
    /// A normal distribution, which a coefficient of a large sample approaches.
    LargeSample,
}

impl IntervalMethod {
    /// Its name for people.
    pub fn as_str(self) -> &'static str {
        match self {
            IntervalMethod::Wilson => "Wilson",
            IntervalMethod::ClopperPearson => "Clopper-Pearson",
            IntervalMethod::Newcombe => "Newcombe",
            IntervalMethod::ClusterBootstrap => "cluster bootstrap",
            IntervalMethod::LargeSample => "large sample",
        }
    }
}

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How it was computed.
    pub method: IntervalMethod,
}

/// Wilson's score interval of a share: `sum` of `count` independent draws (E. B. Wilson, JASA 22,
/// 1927). `None` without draws.
pub fn wilson(sum: f64, count: f64) -> Option<Interval> {
    if count <= 0.0 {
        return None;
    }
    let (share, square) = (sum / count, Z * Z);
    let centre = share + square / (2.0 * count);
    let half = Z * (share * (1.0 - share) / count + square / (4.0 * count * count)).sqrt();
    let scale = 1.0 + square / count;
    let (low, high) = (((centre - half) / scale).max(0.0), ((centre + half) / scale).min(1.0));
    // Rounding must not exclude the observed share.
    let low = if sum <= 0.0 { 0.0 } else { low };
    let high = if sum >= count { 1.0 } else { high };
    Some(Interval { low, high, method: IntervalMethod::Wilson })
}

/// An interval that is narrower than this comes from rounding.
const NARROWEST: f64 = 1e-12;

/// The percentile interval of a figure when whole clusters are drawn with replacement; `None` with
/// fewer than two clusters, and if the figure is the same however they are drawn: clusters that are
/// all alike say nothing about others. Resampled runs without a value are left out.
pub(crate) fn bootstrap<const N: usize>(
    name: &str,
    clusters: &[[f64; N]],
    figure: impl Fn([f64; N]) -> Option<f64>,
) -> Option<Interval> {
    if clusters.len() < 2 {
        return None;
    }
    let clusters = merge(clusters, set_size(clusters.len()));
    let mut rng = rng_for(SEED, &format!("bootstrap/{name}"));
    percentiles(|| figure(resample(&clusters, &mut rng)))
}

/// The same of the difference between two groups, of each of which clusters are drawn.
pub(crate) fn bootstrap_between(
    name: &str,
    one: &[[f64; 2]],
    other: &[[f64; 2]],
) -> Option<Interval> {
    if one.len() < 2 || other.len() < 2 {
        return None;
    }
    let [one, other] = [one, other].map(|clusters| merge(clusters, set_size(clusters.len())));
    let mut rng = rng_for(SEED, &format!("bootstrap/{name}"));
    percentiles(|| {
        let [sum, n] = resample(&one, &mut rng);
        let [other, m] = resample(&other, &mut rng);
        (n > 0.0 && m > 0.0).then(|| other / m - sum / n)
    })
}

/// The same of a figure that is not made of sums. Of more units than [`MOST_CLUSTERS`], so many are drawn, and the distances
/// to the figure of all units are scaled by the square root of their share (P. J. Bickel, F. Götze, W. R. van Zwet, Statistica
/// Sinica 7, 1997).
pub(crate) fn bootstrap_units<T: Copy>(
    name: &str,
    units: &[T],
    figure: impl Fn(&[T]) -> Option<f64>,
) -> Option<Interval> {
    if units.len() < 2 {
        return None;
    }
    let mut rng = rng_for(SEED, &format!("bootstrap/{name}"));
    let most = units.len().min(MOST_CLUSTERS);
    let (centre, scale) = (figure(units)?, (most as f64 / units.len() as f64).sqrt());
    percentiles(|| {
        let drawn: Vec<T> = (0..most).map(|_| units[below(units.len(), &mut rng)]).collect();
        let resampled = figure(&drawn)?;
        Some(if most < units.len() { centre + (resampled - centre) * scale } else { resampled })
    })
}

/// The sums of as many clusters as there are, drawn with replacement.
fn resample<const N: usize>(clusters: &[[f64; N]], rng: &mut ChaCha12Rng) -> [f64; N] {
    let mut all = [0.0; N];
    for _ in clusters {
        let drawn = &clusters[below(clusters.len(), rng)];
        all.iter_mut().zip(drawn).for_each(|(all, more)| *all += more);
    }
    all
}

/// The interval between the percentiles of resampled figures.
fn percentiles(mut resampled: impl FnMut() -> Option<f64>) -> Option<Interval> {
    let mut values: Vec<f64> = (0..RESAMPLES).filter_map(|_| resampled()).collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (quantile(&values, 0.025)?, quantile(&values, 0.975)?);
    let is_wide = high - low > NARROWEST * low.abs().max(high.abs()).max(1.0);
    is_wide.then_some(Interval { low, high, method: IntervalMethod::ClusterBootstrap })
}

/// A quantile of sorted values, interpolated linearly; `None` without values.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is an index")]
    let at = place.floor() as usize;
    let (low, high) = (sorted.get(at)?, sorted.get((at + 1).min(last))?);
    Some(low + (high - low) * (place - place.floor()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values: R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
    #[test]
    fn wilson_intervals_equal_published_ones() {
        let published = [
            (81.0, 263.0, 0.2553, 0.3662),
            (15.0, 148.0, 0.0624, 0.1605),
            (0.0, 20.0, 0.0, 0.1611),
            (1.0, 29.0, 0.0061, 0.1718),
        ];
        for (sum, count, low, high) in published {
            let found = wilson(sum, count).unwrap();
            assert!((found.low - low).abs() < 5e-5, "{sum} of {count}: {found:?}");
            assert!((found.high - high).abs() < 5e-5, "{sum} of {count}: {found:?}");
        }
        assert_eq!(wilson(5.0, 5.0).unwrap().high, 1.0);
        assert_eq!(wilson(0.0, 0.0), None);
    }

    /// For many equal clusters, the bootstrap of a mean approaches the normal interval.
    #[test]
    fn a_bootstrap_approaches_the_normal_interval() {
        let clusters: Vec<[f64; 2]> = (0..400).map(|n| [f64::from(n % 4), 1.0]).collect();
        let found = bootstrap("test", &clusters, |[sum, n]| Some(sum / n)).unwrap();
        // The mean is 1.5, its standard error the square root of 1.25 / 400.
        let half = Z * (1.25_f64 / 400.0).sqrt();
        assert!((found.low - (1.5 - half)).abs() < 0.01, "{found:?}");
        assert!((found.high - (1.5 + half)).abs() < 0.01, "{found:?}");
        assert_eq!(bootstrap("test", &clusters, |[sum, n]| Some(sum / n)), Some(found));
        assert_eq!(bootstrap("test", &clusters[..1], |[sum, n]| Some(sum / n)), None);
    }

    /// Of more units than are drawn, the interval is as narrow as if all were.
    #[test]
    fn the_interval_of_many_units_is_the_normal_one() {
        let units: Vec<f64> = (0..40_000).map(|n| f64::from(n % 4)).collect();
        let mean = |units: &[f64]| Some(units.iter().sum::<f64>() / units.len() as f64);
        let found = bootstrap_units("test", &units, mean).unwrap();
        let half = Z * (1.25_f64 / 40_000.0).sqrt();
        for (end, due) in [(found.low, 1.5 - half), (found.high, 1.5 + half)] {
            assert!((end - due).abs() < half / 8.0, "{found:?}");
        }
    }

    #[test]
    fn quantiles_are_interpolated() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(quantile(&[1.0], 0.3), Some(1.0));
        assert_eq!(quantile(&[], 0.3), None);
    }
}
