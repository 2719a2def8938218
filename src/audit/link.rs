//! An event in a decision's provenance, with its place and hash.

use crate::id::{EventHash, Seq};

/// An event in a decision's provenance, with its place and hash.
#[derive(Debug, Clone, PartialEq)]
pub struct Link<T> {
    /// The place in the log.
    pub seq: Seq,
    /// The hash there.
    pub hash: EventHash,
    /// The event.
    pub event: T,
}
