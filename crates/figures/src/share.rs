//! Intervals of shares, and of the difference between two.

use crate::beta::{beta_quantile, root, t_quantile};
use crate::draws::{ClusteredDraws, effective_number};
use crate::interval::{Interval, IntervalMethod, LEVEL};
use crate::robust::{robust_difference, robust_mean};

/// A share, and the number of independent draws that would say as much about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EffectiveShare {
    share: f64,
    draws: f64,
    method: IntervalMethod,
}

/// The fewest clusters with hits, and with misses, in which their variance shows.
const FEWEST_WITH_HITS: f64 = 8.0;

/// The exact interval of a share: `hits` of `draws` independent draws (C. J. Clopper, E. S. Pearson, Biometrika 26,
/// 1934). `None` without draws.
pub fn clopper_pearson(hits: f64, draws: f64) -> Option<Interval> {
    let method = IntervalMethod::ClopperPearson;
    let is_share = draws > 0.0 && (0.0..=draws).contains(&hits);
    is_share.then(|| EffectiveShare { share: hits / draws, draws, method }.interval())
}

impl EffectiveShare {
    /// The share of draws. In clusters, so many independent draws would have the variance of CR2, and the interval is
    /// exact for these (E. L. Korn, B. I. Graubard, Survey Methodology 24, 1998). That variance shows in the clusters that
    /// have hits and in those that have misses. Where either are few, draws of a cluster count as if they were all alike
    /// (L. Kish, Survey Sampling, 1965).
    pub(crate) fn new(of: &ClusteredDraws) -> Option<Self> {
        let ((hits, draws), share) = (of.total(), of.mean()?);
        if of.are_independent() {
            return Some(EffectiveShare { share, draws, method: IntervalMethod::ClopperPearson });
        }
        let (found, method) = (robust_mean(of)?, IntervalMethod::KornGraubard);
        let all_alike = effective_number(of.0.values().map(|[_, n]| *n));
        if hits <= 0.0 || hits >= draws {
            return Some(EffectiveShare { share, draws: all_alike, method });
        }
        let with_hits = effective_number(of.0.values().map(|[sum, _]| *sum));
        let with_misses = effective_number(of.0.values().map(|[sum, n]| n - sum));
        let certainty = (t_quantile(draws - 1.0) / t_quantile(found.df)).powi(2);
        let effective = (share * (1.0 - share) / found.variance * certainty).min(draws);
        let is_few = with_hits.min(with_misses) < FEWEST_WITH_HITS;
        let draws = if is_few { effective.min(all_alike) } else { effective };
        Some(EffectiveShare { share, draws, method })
    }

    /// The 95 % interval.
    pub(crate) fn interval(&self) -> Interval {
        let [low, high] = self.ends(LEVEL);
        Interval { low, high, method: self.method }
    }

    /// The ends of an interval that leaves out the truth with at most this chance.
    fn ends(&self, chance: f64) -> [f64; 2] {
        let (hits, misses) = (self.share * self.draws, (1.0 - self.share) * self.draws);
        let end = |hits: f64, misses: f64| match hits {
            hits if hits <= 0.0 => 0.0,
            hits => beta_quantile(chance / 2.0, hits, misses + 1.0),
        };
        [end(hits, misses), 1.0 - end(misses, hits)]
    }
}

/// The difference between two shares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShareDifference {
    one: EffectiveShare,
    other: EffectiveShare,
    /// How strongly the shares vary together, because of the clusters that are in both.
    correlation: f64,
}

impl ShareDifference {
    pub(crate) fn new(one: &ClusteredDraws, other: &ClusteredDraws) -> Option<Self> {
        let correlation = robust_difference(one, other)?.correlation;
        let (one, other) = (EffectiveShare::new(one)?, EffectiveShare::new(other)?);
        Some(ShareDifference { one, other, correlation })
    }

    /// The 95 % interval of the second share minus the first one.
    pub(crate) fn interval(&self) -> Interval {
        let [low, high] = self.ends(LEVEL);
        Interval { low, high, method: IntervalMethod::Mover }
    }

    /// The ends by the method of variance estimates recovery: R. G. Newcombe's (Statistics in Medicine 17, 1998) for any two
    /// intervals (G. Y. Zou, A. Donner, Statistics in Medicine 27, 2008).
    fn ends(&self, chance: f64) -> [f64; 2] {
        let [low, high] = self.one.ends(chance);
        let (below, above) = (self.one.share - low, high - self.one.share);
        let [low, high] = self.other.ends(chance);
        let (other_below, other_above) = (self.other.share - low, high - self.other.share);
        let apart = |one: f64, other: f64| {
            let square = one * one + other * other - 2.0 * self.correlation * one * other;
            square.max(0.0).sqrt()
        };
        let difference = self.other.share - self.one.share;
        [difference - apart(above, other_below), difference + apart(below, other_above)]
    }

    /// The chance with which the interval would end at 0: below 5 % if and only if 0 is outside of the 95 % interval. It is
    /// 1 if no interval leaves 0 out.
    pub(crate) fn p(&self) -> f64 {
        let is_above = self.other.share > self.one.share;
        let end = |chance: f64| {
            let [low, high] = self.ends(chance);
            if is_above { low } else { -high }
        };
        if end(1.0) <= 0.0 { 1.0 } else { root(end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntervalMethod;

    /// Published values: R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 5.
    #[test]
    fn exact_intervals_equal_published_ones() {
        let published = [
            (81.0, 263.0, 0.2527, 0.3676),
            (15.0, 148.0, 0.0578, 0.1617),
            (0.0, 20.0, 0.0, 0.1684),
            (1.0, 29.0, 0.0009, 0.1776),
        ];
        for (hits, draws, low, high) in published {
            let found = clopper_pearson(hits, draws).unwrap();
            assert!((found.low - low).abs() < 6e-5, "{hits} of {draws}: {found:?}");
            assert!((found.high - high).abs() < 6e-5, "{hits} of {draws}: {found:?}");
        }
        assert_eq!(clopper_pearson(7.0, 7.0).unwrap().high, 1.0);
        assert_eq!((clopper_pearson(0.0, 0.0), clopper_pearson(2.0, 1.0)), (None, None));
    }

    fn group(prefix: &str, hits: usize, draws: usize) -> ClusteredDraws {
        let mut group = ClusteredDraws::default();
        (0..draws)
            .for_each(|at| group.add(&format!("{prefix}{at}"), f64::from(u8::from(at < hits))));
        group
    }

    /// 0 is at the end of the interval that leaves out the truth with a chance of p.
    #[test]
    fn p_and_the_interval_come_from_one_statistic() {
        for (one, other) in
            [((8, 10), (3, 10)), ((9, 10), (1, 10)), ((0, 6), (6, 6)), ((5, 9), (20, 40))]
        {
            let (first, second) = (group("a", one.0, one.1), group("b", other.0, other.1));
            let found = ShareDifference::new(&first, &second).unwrap();
            let (p, Interval { low, high, method }) = (found.p(), found.interval());
            assert_eq!(method, IntervalMethod::Mover);
            assert_eq!(p < 0.05, low > 0.0 || high < 0.0, "{one:?} {other:?}: {p} [{low}, {high}]");
            let [low, high] = found.ends(p);
            assert!(
                p == 1.0 || low.abs().min(high.abs()) < 1e-9,
                "{one:?} {other:?}: {p} [{low}, {high}]"
            );
        }
        let same = ShareDifference::new(&group("a", 3, 6), &group("b", 3, 6)).unwrap();
        assert_eq!(same.p(), 1.0);
    }
}
