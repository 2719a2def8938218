//! How often each number was drawn, in memory that does not grow with the draws.

use std::collections::BTreeMap;

use serde::Serialize;

/// The most numbers, or bins of them, that are counted apart.
const MOST: usize = 256;

/// The narrowest bins are 2^-20 wide: numbers of a scale are counted one by one.
const NARROWEST: i32 = -20;

/// Numbers, counted in bins. Bins are as narrow as they can be without being too many, so that the counts depend on the numbers
/// alone and not on their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueCounts {
    counts: BTreeMap<i128, u64>,
    /// A bin is 2 to the power of this wide.
    exponent: i32,
}

/// How many numbers are in a bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ValueCount {
    /// The number where the bin begins.
    pub low: f64,
    /// The number before which it ends; the same if the bin is a single number.
    pub high: f64,
    /// How many there are.
    pub count: u64,
}

impl ValueCount {
    /// The number in the middle of the bin.
    pub fn middle(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}

impl Default for ValueCounts {
    fn default() -> Self {
        ValueCounts { counts: BTreeMap::new(), exponent: NARROWEST }
    }
}

impl ValueCounts {
    pub(crate) fn add(&mut self, value: f64) {
        #[expect(clippy::cast_possible_truncation, reason = "huge numbers are in the last bin")]
        let bin = (value / 2.0_f64.powi(self.exponent)).floor() as i128;
        *self.counts.entry(bin).or_default() += 1;
        while self.counts.len() > MOST {
            self.exponent += 1;
            for (bin, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(bin.div_euclid(2)).or_default() += count;
            }
        }
    }

    /// The bins in which there are numbers, in order.
    pub(crate) fn bins(&self) -> Vec<ValueCount> {
        let width = 2.0_f64.powi(self.exponent);
        let bin = |(bin, count): (&i128, &u64)| {
            let (low, count) = (*bin as f64 * width, *count);
            match self.exponent {
                // The number itself, but for what six digits do not show.
                NARROWEST => {
                    let value = ((low + width / 2.0) * 1e5).round() / 1e5;
                    ValueCount { low: value, high: value, count }
                }
                _ => ValueCount { low, high: low + width, count },
            }
        };
        self.counts.iter().map(bin).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(values: impl IntoIterator<Item = f64>) -> Vec<ValueCount> {
        let mut counts = ValueCounts::default();
        values.into_iter().for_each(|value| counts.add(value));
        counts.bins()
    }

    #[test]
    fn numbers_of_a_scale_are_counted_one_by_one() {
        let found = counted([3.0, 1.0, 3.0, 0.1, -2.5]);
        let found: Vec<(f64, f64, u64)> =
            found.iter().map(|it| (it.low, it.high, it.count)).collect();
        assert_eq!(found, [(-2.5, -2.5, 1), (0.1, 0.1, 1), (1.0, 1.0, 1), (3.0, 3.0, 2)]);
    }

    #[test]
    fn many_numbers_are_counted_in_bins_of_one_width() {
        let found = counted((0..10_000).map(f64::from));
        assert!(found.len() <= MOST && found.len() > MOST / 4, "{}", found.len());
        assert_eq!(found.iter().map(|it| it.count).sum::<u64>(), 10_000);
        assert!(found.iter().all(|it| it.high - it.low == found[0].high - found[0].low));
        assert_eq!(counted([1e99, -1e99, 0.5]).iter().map(|it| it.count).sum::<u64>(), 3);
    }

    proptest! {
        #[test]
        fn the_order_of_numbers_does_not_matter(values in proptest::collection::vec(-1e6..1e6_f64, 0..600)) {
            let backwards = values.iter().rev().copied();
            prop_assert_eq!(counted(values.iter().copied()), counted(backwards));
        }
    }
}
