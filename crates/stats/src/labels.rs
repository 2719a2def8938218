//! Labels in a canonical order.

use std::collections::BTreeMap;

/// Numbers the clusters from 0 in the order in which they first appear.
pub fn in_order_of_appearance(labels: &[usize]) -> Vec<usize> {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    labels
        .iter()
        .map(|label| {
            let next = numbers.len();
            *numbers.entry(*label).or_insert(next)
        })
        .collect()
}

/// The number of different labels.
pub(super) fn count(labels: &[usize]) -> usize {
    labels.iter().collect::<std::collections::BTreeSet<_>>().len()
}
