//! Whether the stored pieces of a run are those that its events give.

use super::builder::{Builder, IndexEntry};
use super::{KeptPiece, Section, first, place};
use crate::event::StoredEvent;
use crate::id::{RunId, Seq};
use crate::log::backend::Reader;
use crate::log::error::LogError;
use crate::log::finding::EventFault;

/// Compares the stored pieces of a run with its events, which are added in order.
#[derive(Debug)]
pub(in crate::log) struct IndexComparison {
    run: RunId,
    stored: Vec<KeptPiece>,
    builder: Builder,
    end: Seq,
    /// The first piece that is not as it should be.
    misfit: Option<KeptPiece>,
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
        let (piece, _) = place(event.seq);
        // Only the first misfit is named, and what nobody stored cannot differ.
        let stored = self.stored.binary_search_by_key(&piece, |kept| kept.number);
        let Some(kept) = stored.ok().map(|at| self.stored[at]).filter(|_| self.misfit.is_none())
        else {
            return Ok(());
        };
        // A run may have gone on since its last piece was made.
        if event.seq > kept.last {
            return Ok(());
        }
        self.builder.add(event.seq, IndexEntry::from(event));
        if event.seq < kept.last {
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
                self.misfit = Some(kept);
                break;
            }
        }
        Ok(())
    }

    /// The fault in the index, once all events were added.
    pub(in crate::log) fn end(self) -> Option<EventFault> {
        let beyond = || self.stored.iter().find(|kept| kept.last > self.end).copied();
        let KeptPiece { number, last } = self.misfit.or_else(beyond)?;
        Some(EventFault::Index { first: first(number), last })
    }
}
