//! Cohen's kappa (J. Cohen, Educational and Psychological Measurement 20, 1960).

use std::collections::BTreeMap;

use super::{Agreement, within_range};
use crate::jackknife::jackknife;

/// Cohen's kappa of two judges, from the pairs of names that they gave to the same things. The interval is that of a
/// jackknife of the things. `None` if both gave a single name to everything, so that they agree by chance alone.
pub fn cohens_kappa<N: Ord + Copy>(pairs: impl IntoIterator<Item = (N, N)>) -> Option<Agreement> {
    let pairs: Vec<(N, N)> = pairs.into_iter().collect();
    let value = kappa(&pairs)?;
    let interval = jackknife(&pairs, kappa).map(within_range);
    Some(Agreement { value, interval, units: pairs.len() as u64 })
}

fn kappa<N: Ord + Copy>(pairs: &[(N, N)]) -> Option<f64> {
    let (mut agreed, mut given) = (0.0, BTreeMap::<N, [f64; 2]>::new());
    for (one, other) in pairs {
        agreed += f64::from(u8::from(one == other));
        given.entry(*one).or_default()[0] += 1.0;
        given.entry(*other).or_default()[1] += 1.0;
    }
    let all = pairs.len() as f64;
    let expected = given.values().map(|[one, other]| one * other).sum::<f64>() / all;
    (expected < all).then(|| (agreed - expected) / (all - expected))
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
        // Their standard error of a large sample, which the jackknife approaches.
        let interval = found.interval.unwrap();
        let error = (interval.high - interval.low) / (2.0 * 1.972);
        assert!((error * error / 0.002_885 - 1.0).abs() < 0.05, "{}", error * error);
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
