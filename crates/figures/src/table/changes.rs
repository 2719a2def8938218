//! From which value to which participants changed.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// The most values of which changes are counted.
const MOST: usize = 12;

/// Participants who had a value first, and one last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueChange {
    /// The first value.
    pub first: String,
    /// The last value, which may be the same.
    pub last: String,
    /// How many participants have both.
    pub count: u64,
}

/// The changes of a group; none if there are too many values to be read.
pub(super) fn changes(counts: &BTreeMap<(String, String), u64>) -> Vec<ValueChange> {
    let values: BTreeSet<&String> = counts.keys().flat_map(|(first, last)| [first, last]).collect();
    if values.len() > MOST {
        return Vec::new();
    }
    let change = |((first, last), count): (&(String, String), &u64)| ValueChange {
        first: first.clone(),
        last: last.clone(),
        count: *count,
    };
    counts.iter().map(change).collect()
}
