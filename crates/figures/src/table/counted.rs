//! Draws as a group counts them.

use crate::ClusteredDraws;

/// The draws of one group.
#[derive(Debug, Default)]
pub(super) struct GroupDraws {
    pub(super) draws: ClusteredDraws,
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
