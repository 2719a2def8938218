//! Compares two tables with the same rows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::OriginalRow;

/// The rows of an original table next to ours, by key.
pub struct Pairs<'a, K> {
    /// The original's row and ours, in the original's order.
    pub both: Vec<(OriginalRow<'a>, OriginalRow<'a>)>,
    /// Rows of the original with the key of an earlier row, and that row's line. They are not in
    /// any pair.
    pub twice: Vec<(K, OriginalRow<'a>, u64)>,
    /// Rows that only the original has.
    pub theirs: Vec<(K, OriginalRow<'a>)>,
    /// The keys of rows that only we have.
    pub ours: Vec<K>,
}

impl<'a, K: Ord + Clone> Pairs<'a, K> {
    /// Pairs rows with the same key.
    pub fn new(
        theirs: impl IntoIterator<Item = (K, OriginalRow<'a>)>,
        ours: impl IntoIterator<Item = (K, OriginalRow<'a>)>,
    ) -> Self {
        let mut left: BTreeMap<K, OriginalRow<'a>> = ours.into_iter().collect();
        let mut lines: BTreeMap<K, u64> = BTreeMap::new();
        let mut pairs =
            Pairs { both: Vec::new(), twice: Vec::new(), theirs: Vec::new(), ours: Vec::new() };
        for (key, row) in theirs {
            match lines.entry(key.clone()) {
                Entry::Occupied(first) => pairs.twice.push((key, row, *first.get())),
                Entry::Vacant(place) => {
                    place.insert(row.line());
                    match left.remove(&key) {
                        Some(own) => pairs.both.push((row, own)),
                        None => pairs.theirs.push((key, row)),
                    }
                }
            }
        }
        pairs.ours = left.into_keys().collect();
        pairs
    }
}
