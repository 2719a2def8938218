//! The jackknife (J. W. Tukey, Annals of Mathematical Statistics 29, 1958): how much a figure that is not made of sums
//! depends on each of the units that it is made from.

use crate::beta::t_quantile;
use crate::interval::{FEWEST_CLUSTERS, Interval, IntervalMethod};

/// The most sets of units that are left out, each in turn, if there are more units (P. S. Kott, Journal of Official
/// Statistics 17, 2001): the figure is computed once for each.
const MOST_SETS: usize = 1_000;

/// The fewest such sets, and the most units that all figures are computed from.
const FEWEST_SETS: usize = 100;
const MOST_UNITS: usize = 10_000_000;

/// A standard error that is less than this comes from rounding.
const ROUNDING: f64 = 1e-12;

/// The 95 % interval of a figure, by Student's t of its values without one unit each; `None` with fewer than
/// [`FEWEST_CLUSTERS`] units, if nothing varies, and if the figure is not defined without one of the units.
pub(crate) fn jackknife<T: Copy>(
    units: &[T],
    figure: impl Fn(&[T]) -> Option<f64>,
) -> Option<Interval> {
    if (units.len() as u64) < FEWEST_CLUSTERS {
        return None;
    }
    let sets = units.len().min((MOST_UNITS / units.len()).clamp(FEWEST_SETS, MOST_SETS));
    let without = |set: usize| {
        let rest = units.iter().enumerate().filter(|(at, _)| at % sets != set);
        figure(&rest.map(|(_, unit)| *unit).collect::<Vec<T>>())
    };
    let values = (0..sets).map(without).collect::<Option<Vec<f64>>>()?;
    let (value, n) = (figure(units)?, sets as f64);
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares * (n - 1.0) / n).sqrt();
    let half = t_quantile(n - 1.0) * error;
    let method = IntervalMethod::Jackknife;
    (error > ROUNDING).then_some(Interval { low: value - half, high: value + half, method })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The jackknife of a mean is its standard error.
    #[test]
    fn the_interval_of_a_mean_is_that_of_t() {
        let mean = |units: &[f64]| Some(units.iter().sum::<f64>() / units.len() as f64);
        let units = [1.0, 2.0, 4.0, 4.0, 9.0];
        let found = jackknife(&units, mean).unwrap();
        // scipy.stats.t.interval(0.95, 4, loc=4, scale=scipy.stats.sem([1, 2, 4, 4, 9]))
        assert!((found.low - 0.172_934_531_245).abs() < 1e-9, "{found:?}");
        assert!((found.low + found.high - 8.0).abs() < 1e-12);
        assert_eq!((jackknife(&units[..4], mean), jackknife(&[3.0; 6], mean)), (None, None));
        let many: Vec<f64> = (0..4_000).map(|n| f64::from(n % 7)).collect();
        let found = jackknife(&many, mean).unwrap();
        assert!((found.high - found.low - 2.0 * 1.96 * 2.0 / 4_000_f64.sqrt()).abs() < 0.02);
    }
}
