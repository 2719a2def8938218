//! Percentiles.

use std::collections::BTreeMap;

/// The smallest of some values that at least this percentage of them does not exceed: the percentile
/// by nearest rank, which is always one of the values. `counts` has the values and how often each
/// occurs. `None` without values.
///
/// All percentiles of latencies are computed here, so that a report, a table and a page agree.
pub fn nearest_rank(counts: &BTreeMap<u64, u64>, percent: u32) -> Option<u64> {
    let all: u128 = counts.values().map(|count| u128::from(*count)).sum();
    // In whole numbers: 95 % of 20 values are 19, not a little more.
    let rank = (all * u128::from(percent.min(100))).div_ceil(100).max(1);
    let mut up_to = 0;
    let found = counts.iter().find(|(_, count)| {
        up_to += u128::from(**count);
        up_to >= rank
    });
    found.map(|(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(values: &[u64]) -> BTreeMap<u64, u64> {
        let mut counts = BTreeMap::new();
        values.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
        counts
    }

    /// By the definition: the first value with enough values up to it.
    fn defined(sorted: &[u64], percent: u32) -> Option<u64> {
        let enough = |value: &&u64| {
            let up_to = sorted.iter().filter(|other| other <= value).count();
            up_to * 100 >= sorted.len() * percent as usize
        };
        sorted.iter().find(enough).copied()
    }

    #[test]
    fn percentiles_are_values_by_the_definition() {
        for len in 0..60_u64 {
            // Some values occur several times.
            let sorted: Vec<u64> = (0..len).map(|n| n / 2 * 3).collect();
            for percent in 0..=100 {
                let found = nearest_rank(&counted(&sorted), percent);
                assert_eq!(found, defined(&sorted, percent), "{percent} % of {len}");
            }
        }
        let twenty: Vec<u64> = (1..=20).collect();
        assert_eq!(nearest_rank(&counted(&twenty), 95), Some(19));
        assert_eq!(nearest_rank(&counted(&twenty), 50), Some(10));
        assert_eq!(nearest_rank(&counted(&[15, 20, 35, 40, 50]), 30), Some(20));
    }
}
