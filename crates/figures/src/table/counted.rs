//! Draws as a group counts them.

use std::collections::BTreeMap;

use crate::ClusteredDraws;
use crate::value_counts::ValueCounts;

/// The draws of one group.
#[derive(Debug, Default)]
pub(super) struct GroupDraws {
    pub(super) draws: ClusteredDraws,
    /// The numbers of a mean, one by one.
    pub(super) values: ValueCounts,
    /// How many changed from each value to each other.
    pub(super) changes: BTreeMap<(String, String), u64>,
    pub(super) missing: u64,
    pub(super) fallback: u64,
}

/// A draw as a group counts it: a value, nothing, or a last resort.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Counted<T> {
    Value(T),
    Missing,
    Fallback,
}
