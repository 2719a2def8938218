//! An event of a chain, with its place and hash.

use crate::id::{EventHash, Seq};

/// A link of the chain: an event with its place and hash.
#[derive(Debug, Clone, PartialEq)]
pub struct Link<T> {
    /// The place in the log.
    pub seq: Seq,
    /// The hash there.
    pub hash: EventHash,
    /// The event.
    pub event: T,
}
