//! The pieces of an index that a store keeps.

use super::builder::{Builder, IndexEntry, IndexPiece};
use super::{PIECE, last, place};
use crate::event::StoredEvent;
use crate::id::Seq;

/// A piece of the index of a run that a store keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptPiece {
    /// Its number, from 0.
    pub number: u64,
    /// The last event that it covers: that of a whole piece, or the last one of the run.
    pub last: Seq,
}

impl KeptPiece {
    /// A piece of which all events are there.
    pub fn whole(number: u64) -> Self {
        KeptPiece { number, last: last(number) }
    }

    /// Whether all events of the piece are there.
    pub fn is_whole(&self) -> bool {
        self.last == last(self.number)
    }
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
