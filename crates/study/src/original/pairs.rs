//! Two tables of the same rows, side by side.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::Row;

/// The rows of an original table beside ours, by key.
pub struct Pairs<'a, K> {
    /// The original's row and ours, in the original's order.
    pub both: Vec<(Row<'a>, Row<'a>)>,
    /// Rows of the original whose key an earlier one has, with the line of that one. They are in no pair.
    pub twice: Vec<(K, Row<'a>, u64)>,
    /// Rows that the original alone has.
    pub theirs: Vec<(K, Row<'a>)>,
    /// The keys of the rows that we alone have.
    pub ours: Vec<K>,
}

impl<'a, K: Ord + Clone> Pairs<'a, K> {
    /// Puts rows of the same key side by side.
    pub fn of(
        theirs: impl IntoIterator<Item = (K, Row<'a>)>,
        ours: impl IntoIterator<Item = (K, Row<'a>)>,
    ) -> Self {
        let mut left: BTreeMap<K, Row<'a>> = ours.into_iter().collect();
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
