//! The exact interval of a share of few draws.

use crate::interval::{Interval, IntervalMethod};

/// The most draws of which a share has an exact interval. Wilson's interval has a coverage of 95 % on average, but
/// of as little as 83 % for some shares of few draws; an exact interval never has less than 95 %, and is the wider
/// for it (L. D. Brown, T. T. Cai, A. DasGupta, Statistical Science 16, 2001).
pub const EXACT_DRAWS: u32 = 20;

/// The chance that is left out on each side of an interval of 95 %.
const TAIL: f64 = 0.025;

/// Halvings after which an end is as exact as a number can be.
const HALVINGS: u32 = 100;

/// The exact interval of a share: `hits` of `draws` independent draws (C. J. Clopper, E. S. Pearson, Biometrika 26,
/// 1934). `None` without draws.
pub fn clopper_pearson(hits: u32, draws: u32) -> Option<Interval> {
    if draws == 0 || hits > draws {
        return None;
    }
    // The lower end is the share with which so many hits, or more, are as rare as a tail. More hits are the likelier,
    // the greater the share.
    let low = match hits {
        0 => 0.0,
        _ => solve(|share| at_least(hits, draws, share) < TAIL),
    };
    // The upper end is that of the misses, seen from 1.
    let high = match draws - hits {
        0 => 1.0,
        misses => 1.0 - solve(|share| at_least(misses, draws, share) < TAIL),
    };
    Some(Interval { low, high, method: IntervalMethod::ClopperPearson })
}

/// The share below which a condition holds.
fn solve(is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_below(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// The chance of at least so many hits.
fn at_least(hits: u32, draws: u32, share: f64) -> f64 {
    let (hit, miss) = (share.ln(), (1.0 - share).ln());
    let (mut ways, mut chance) = (0.0_f64, 0.0);
    for number in 0..=draws {
        if number > 0 {
            // The logarithm of the number of ways to choose so many.
            ways += f64::from(draws - number + 1).ln() - f64::from(number).ln();
        }
        if number >= hits {
            chance += (ways + f64::from(number) * hit + f64::from(draws - number) * miss).exp();
        }
    }
    chance
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published values: R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 5.
    #[test]
    fn exact_intervals_equal_published_ones() {
        let published = [
            (81, 263, 0.2527, 0.3676),
            (15, 148, 0.0578, 0.1617),
            (0, 20, 0.0, 0.1684),
            (1, 29, 0.0009, 0.1776),
        ];
        for (hits, draws, low, high) in published {
            let found = clopper_pearson(hits, draws).unwrap();
            assert!((found.low - low).abs() < 6e-5, "{hits} of {draws}: {found:?}");
            assert!((found.high - high).abs() < 6e-5, "{hits} of {draws}: {found:?}");
        }
        assert_eq!(clopper_pearson(7, 7).unwrap().high, 1.0);
        assert_eq!((clopper_pearson(0, 0), clopper_pearson(2, 1)), (None, None));
    }

    /// What makes it exact: whatever the true share, the interval has it in at least 95 % of all samples.
    #[test]
    fn the_coverage_is_never_below_what_is_claimed() {
        for draws in [1, 2, 5, 12, EXACT_DRAWS] {
            let intervals: Vec<Interval> =
                (0..=draws).map(|hits| clopper_pearson(hits, draws).unwrap()).collect();
            for step in 1..200 {
                let share = f64::from(step) / 200.0;
                let covered = (0..=draws).filter(|hits| {
                    let Interval { low, high, .. } = intervals[*hits as usize];
                    low <= share && share <= high
                });
                let chance: f64 = covered
                    .map(|hits| at_least(hits, draws, share) - at_least(hits + 1, draws, share))
                    .sum();
                assert!(chance >= 0.95 - 1e-9, "{share} of {draws}: {chance}");
            }
        }
    }
}
