//! The pieces of an index that a store keeps.

use super::builder::{Builder, IndexEntry, IndexPiece};
use super::{PIECE, place};
use crate::event::StoredEvent;
use crate::id::Seq;

/// A piece of the index of a run that a store keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptPiece {
    /// Its number, from 0.
    pub number: u64,
    /// The last event that it covers: the last of the piece, unless the run ended before that.
    pub last: Seq,
}

/// Makes the pieces of a run's index from all of its events, in order.
#[derive(Debug, Default)]
pub struct IndexPieces {
    builder: Builder,
    /// Whether events were added since the last piece.
    is_begun: bool,
}

impl IndexPieces {
    /// Adds the next event; returns the piece that it completes.
    pub fn add(&mut self, event: &StoredEvent) -> Option<IndexPiece> {
        let (_, at) = place(event.seq);
        self.builder.add(event.seq, IndexEntry::from(event));
        self.is_begun = at < PIECE;
        (!self.is_begun).then(|| std::mem::take(&mut self.builder).finish())
    }

    /// The last piece, if the run does not end with a whole one.
    pub fn finish(self) -> Option<IndexPiece> {
        self.is_begun.then(|| self.builder.finish())
    }
}
