//! Krippendorff's alpha (K. Krippendorff, Content Analysis, chapter "Reliability"; A. F. Hayes, K. Krippendorff,
//! Communication Methods and Measures 1, 2007): 1 minus the observed disagreement over the one to be expected by chance.

use serde::Serialize;

use super::{Agreement, within_range};
use crate::jackknife::jackknife;

/// What differences between values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasurementLevel {
    /// Values are names: two are the same or not.
    Nominal,
    /// Values have an order: two are as far apart as there are values between them.
    Ordinal,
    /// Values are numbers: two are as far apart as their difference.
    Interval,
}

impl MeasurementLevel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Nominal, Self::Ordinal, Self::Interval];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            MeasurementLevel::Nominal => "nominal",
            MeasurementLevel::Ordinal => "ordinal",
            MeasurementLevel::Interval => "interval",
        }
    }
}

/// Krippendorff's alpha. Each unit has the values of its judges, in any order, without those who did not judge it: the judges
/// need not be the same for each. Names are numbered. The interval is that of a jackknife of units. `None` if no disagreement is possible: fewer than two values can be paired, or all are the same.
pub fn krippendorffs_alpha(units: &[Vec<f64>], level: MeasurementLevel) -> Option<Agreement> {
    // A value that nobody else judged says nothing of agreement.
    let units: Vec<&[f64]> =
        units.iter().map(Vec::as_slice).filter(|values| values.len() > 1).collect();
    let value = alpha(&units, level)?;
    let interval = jackknife(&units, |units| alpha(units, level)).map(within_range);
    Some(Agreement { value, interval, units: units.len() as u64 })
}

fn alpha(units: &[&[f64]], level: MeasurementLevel) -> Option<f64> {
    let counted = ValueCounts::new(units);
    let n: f64 = counted.0.iter().map(|(_, n)| n).sum();
    let scores = counted.scores(level);
    let score = |value: f64| {
        let at = counted.0.partition_point(|(other, _)| *other < value);
        scores.get(at).copied().unwrap_or_default()
    };
    let is_nominal = level == MeasurementLevel::Nominal;
    let apart = |one: f64, other: f64| match is_nominal {
        true => f64::from(u8::from(one != other)),
        false => (one - other) * (one - other),
    };
    let observed: f64 = units
        .iter()
        .map(|values| {
            let scores: Vec<f64> = values.iter().map(|value| score(*value)).collect();
            let pairs =
                scores.iter().flat_map(|one| scores.iter().map(|other| apart(*one, *other)));
            pairs.sum::<f64>() / (values.len() as f64 - 1.0)
        })
        .sum();
    let weights = || counted.0.iter().map(|(_, n)| *n);
    let expected = match is_nominal {
        true => n * n - weights().map(|n| n * n).sum::<f64>(),
        false => {
            // Around their mean, squares do not lose digits.
            let mean = weights().zip(&scores).map(|(n, score)| n * score).sum::<f64>() / n;
            2.0 * n
                * weights().zip(&scores).map(|(n, score)| n * (score - mean).powi(2)).sum::<f64>()
        }
    };
    (expected > 0.0).then(|| 1.0 - (n - 1.0) * observed / expected)
}

/// The values that can be paired, sorted, and how often each was given.
struct ValueCounts(Vec<(f64, f64)>);

impl ValueCounts {
    fn new(units: &[&[f64]]) -> Self {
        let mut values: Vec<f64> = units.iter().flat_map(|values| values.iter().copied()).collect();
        values.sort_by(f64::total_cmp);
        let mut counts: Vec<(f64, f64)> = Vec::new();
        for value in values {
            match counts.last_mut() {
                Some((last, n)) if *last == value => *n += 1.0,
                _ => counts.push((value, 1.0)),
            }
        }
        ValueCounts(counts)
    }

    /// A number for each value, such that squared differences are the disagreement. For an ordinal value, it is the
    /// middle of its ranks.
    fn scores(&self, level: MeasurementLevel) -> Vec<f64> {
        let mut below = 0.0;
        let score = |(value, n): &(f64, f64)| match level {
            MeasurementLevel::Ordinal => {
                let middle = below + n / 2.0;
                below += n;
                middle
            }
            MeasurementLevel::Nominal | MeasurementLevel::Interval => *value,
        };
        self.0.iter().map(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Four observers and twelve units with missing values: K. Krippendorff, Computing Krippendorff's
    /// Alpha-Reliability, 2011, example C.
    #[test]
    fn alpha_equals_published_values() {
        let units: [&[f64]; 12] = [
            &[1.0, 1.0, 1.0],
            &[2.0, 2.0, 3.0, 2.0],
            &[3.0, 3.0, 3.0, 3.0],
            &[3.0, 3.0, 3.0, 3.0],
            &[2.0, 2.0, 2.0, 2.0],
            &[1.0, 2.0, 3.0, 4.0],
            &[4.0, 4.0, 4.0, 4.0],
            &[1.0, 1.0, 2.0, 1.0],
            &[2.0, 2.0, 2.0, 2.0],
            &[5.0, 5.0, 5.0],
            &[1.0, 1.0],
            &[3.0],
        ];
        let units: Vec<Vec<f64>> = units.iter().map(|values| values.to_vec()).collect();
        let found = MeasurementLevel::ALL.map(|level| krippendorffs_alpha(&units, level).unwrap());
        for (found, published) in found.iter().zip([0.743, 0.815, 0.849]) {
            assert!((found.value - published).abs() < 5e-4, "{found:?}");
            let interval = found.interval.unwrap();
            assert!(interval.low < found.value && found.value < interval.high);
            assert_eq!(found.units, 11);
        }
    }

    #[test]
    fn without_expected_disagreement_there_is_no_alpha() {
        let same = [vec![1.0, 1.0], vec![1.0, 1.0]];
        let alone = [vec![1.0], vec![2.0]];
        for level in MeasurementLevel::ALL {
            assert_eq!(krippendorffs_alpha(&same, level), None);
            assert_eq!(krippendorffs_alpha(&alone, level), None);
            assert_eq!(krippendorffs_alpha(&[], level), None);
        }
    }

    proptest! {
        #[test]
        fn judges_who_agree_have_an_alpha_of_one_and_no_alpha_is_greater(
            units in prop::collection::vec(prop::collection::vec(0_u8..4, 1..4), 2..12),
        ) {
            let units: Vec<Vec<f64>> = units
                .iter()
                .map(|unit| unit.iter().map(|value| f64::from(*value)).collect())
                .collect();
            let of = |units: &[Vec<f64>], level| {
                let paired = units.iter().map(Vec::as_slice).filter(|values| values.len() > 1);
                alpha(&paired.collect::<Vec<_>>(), level)
            };
            let agreed: Vec<Vec<f64>> = units.iter().map(|unit| vec![unit[0]; 2]).collect();
            for level in MeasurementLevel::ALL {
                prop_assert!(of(&units, level).is_none_or(|alpha| alpha <= 1.0));
                prop_assert!(of(&agreed, level).is_none_or(|alpha| alpha == 1.0));
            }
        }
    }
}
