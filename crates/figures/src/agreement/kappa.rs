//! Cohen's kappa (J. Cohen, Educational and Psychological Measurement 20, 1960), with the standard error of J. L. Fleiss,
//! J. Cohen and B. S. Everitt (Psychological Bulletin 72, 1969).

use std::collections::BTreeMap;

use super::Agreement;
use crate::interval::{Interval, IntervalMethod, Z};

/// Cohen's kappa of two judges, from the pairs of names that they gave to the same things. The interval is that of a large
/// sample; `None` as an interval if nothing varies. `None` if both gave a single name to everything, so that they agree by
/// chance alone.
pub fn cohens_kappa<N: Ord + Copy>(pairs: impl IntoIterator<Item = (N, N)>) -> Option<Agreement> {
    let (mut cells, mut units) = (BTreeMap::<(N, N), f64>::new(), 0_u64);
    for pair in pairs {
        *cells.entry(pair).or_default() += 1.0;
        units += 1;
    }
    let all = units as f64;
    let (mut first, mut second) = (BTreeMap::new(), BTreeMap::new());
    for ((one, other), n) in &mut cells {
        *n /= all;
        *first.entry(*one).or_insert(0.0) += *n;
        *second.entry(*other).or_insert(0.0) += *n;
    }
    let given = |by: &BTreeMap<N, f64>, name: &N| by.get(name).copied().unwrap_or(0.0);
    let agreed: f64 = cells.iter().filter(|((a, b), _)| a == b).map(|(_, share)| share).sum();
    let expected: f64 = first.iter().map(|(name, share)| share * given(&second, name)).sum();
    if units == 0 || 1.0 - expected <= f64::EPSILON {
        return None;
    }
    let value = (agreed - expected) / (1.0 - expected);
    let rest = 1.0 - value;
    let spread: f64 = cells
        .iter()
        .map(|((one, other), share)| match one == other {
            true => {
                let given = given(&first, one) + given(&second, one);
                share * (1.0 - given * rest).powi(2)
            }
            false => share * rest.powi(2) * (given(&second, one) + given(&first, other)).powi(2),
        })
        .sum();
    let varying = spread - (value - expected * rest).powi(2);
    let half = Z * (varying.max(0.0) / all).sqrt() / (1.0 - expected);
    let method = IntervalMethod::LargeSample;
    // The formula knows nothing of the range of kappa.
    let (low, high) = ((value - half).max(-1.0), (value + half).min(1.0));
    let interval = Interval { low, high, method };
    Some(Agreement { value, interval: (varying > 1e-12).then_some(interval), units })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times that two judges gave names 1, 2 and 3 (rows and columns).
    fn pairs(table: &[[u32; 3]; 3]) -> Vec<(&'static str, &'static str)> {
        let names = ["1", "2", "3"];
        let mut pairs = Vec::new();
        for (row, one) in table.iter().zip(names) {
            for (times, other) in row.iter().zip(names) {
                (0..*times).for_each(|_| pairs.push((one, other)));
            }
        }
        pairs
    }

    /// Published values: J. L. Fleiss, J. Cohen, B. S. Everitt (1969), table 1: 200 diagnoses.
    #[test]
    fn kappa_equals_a_published_value() {
        let table = [[106, 10, 4], [22, 28, 10], [2, 12, 6]];
        let found = cohens_kappa(pairs(&table)).unwrap();
        assert!((found.value - 0.429).abs() < 5e-4, "{found:?}");
        let interval = found.interval.unwrap();
        let error = (interval.high - interval.low) / (2.0 * Z);
        assert!((error * error - 0.002_885).abs() < 5e-5, "{}", error * error);
        assert_eq!(found.units, 200);
    }

    #[test]
    fn what_does_not_vary_has_no_interval() {
        let all = cohens_kappa(pairs(&[[3, 0, 0], [0, 4, 0], [0, 0, 0]])).unwrap();
        assert_eq!((all.value, all.interval), (1.0, None));
        // However it is rounded.
        let all = cohens_kappa(pairs(&[[24, 0, 0], [0, 35, 0], [0, 0, 13]])).unwrap();
        assert!(all.value > 1.0 - 1e-9 && all.interval.is_none(), "{all:?}");
        assert_eq!(cohens_kappa(pairs(&[[3, 0, 0], [0, 0, 0], [0, 0, 0]])), None);
        assert_eq!(cohens_kappa::<&str>([]), None);
    }
}
