//! Whether the stored pieces of a run are those that its events give.

use super::builder::{Builder, IndexEntry};
use super::{PIECE, Section, first, last, place};
use crate::event::StoredEvent;
use crate::id::{RunId, Seq};
use crate::log::backend::Reader;
use crate::log::error::LogError;
use crate::log::finding::EventFault;

/// Compares the stored pieces of a run with its events, which are added in order.
#[derive(Debug)]
pub(in crate::log) struct IndexComparison {
    run: RunId,
    stored: Vec<u64>,
    builder: Builder,
    end: Seq,
    /// The first piece that is not as it should be.
    misfit: Option<u64>,
}

impl IndexComparison {
    pub(in crate::log) fn new(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        // A run that cannot be found is reported when its events are read.
        let stored = match reader.pieces(run) {
            Err(error) if error.is_damage() => Vec::new(),
            pieces => pieces?,
        };
        let builder = Builder::default();
        Ok(IndexComparison { run, stored, builder, end: Seq(0), misfit: None })
    }

    /// Adds the next event.
    pub(in crate::log) fn add(
        &mut self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
    ) -> Result<(), LogError> {
        self.end = event.seq;
        let (piece, at) = place(event.seq);
        // Only the first misfit is named, and what nobody stored cannot differ.
        if self.misfit.is_some() || self.stored.binary_search(&piece).is_err() {
            return Ok(());
        }
        self.builder.add(event.seq, IndexEntry::from(event));
        if at < PIECE {
            return Ok(());
        }
        let due = std::mem::take(&mut self.builder).finish();
        for section in Section::ALL {
            let fits = match reader.piece(self.run, piece, section) {
                Ok(found) => found.is_some_and(|found| found == due.section(section)),
                Err(LogError::Damaged { .. }) => false,
                Err(error) => return Err(error),
            };
            if !fits {
                self.misfit = Some(piece);
                break;
            }
        }
        Ok(())
    }

    /// What is wrong with the index, once all events were added.
    pub(in crate::log) fn end(self) -> Option<EventFault> {
        let beyond = || self.stored.iter().find(|piece| last(**piece) > self.end).copied();
        let piece = self.misfit.or_else(beyond)?;
        Some(EventFault::Index { first: first(piece), last: last(piece) })
    }
}
