//! A reader that checks every event it returns.

use super::backend::{Reader, RunHead};
use super::error::LogError;
use super::index::Section;
use super::ledger::LedgerEntry;
use crate::event::StoredEvent;
use crate::event::chain::{ChainLink, GENESIS};
use crate::id::{EventHash, PromptHash, RunId, Seq};
use crate::prompt::Request;

/// A reader that checks every event it returns: its hash must follow from its columns, its content,
/// its prompt's hash and the hash stored before it. So a change to the file that did not recompute
/// the hash shows up as damage wherever it is read, without reading the rest of the run. An
/// attacker who recomputes all later hashes is detected only by [`verify_run`](super::verify_run)
/// and the ledger.
pub struct CheckedReader {
    inner: Box<dyn Reader>,
    events: u64,
    /// The last event that was checked.
    last: Option<(RunId, Seq, EventHash)>,
}

impl CheckedReader {
    /// Checks what `inner` returns.
    pub fn new(inner: Box<dyn Reader>) -> Self {
        CheckedReader { inner, events: 0, last: None }
    }

    /// How many events were returned and found intact.
    pub fn checked(&self) -> u64 {
        self.events
    }

    /// Events after a seq, with the hash that precedes them.
    fn read(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<(EventHash, Vec<StoredEvent>), LogError> {
        match self.last {
            _ if after == Seq(0) => Ok((GENESIS, self.inner.events(run, after, limit)?)),
            Some((last, seq, hash)) if (last, seq) == (run, after) => {
                Ok((hash, self.inner.events(run, after, limit)?))
            }
            _ => {
                let before = Seq(after.0.saturating_sub(1));
                let mut events = self.inner.events(run, before, limit.saturating_add(1))?;
                let hash = match events.first() {
                    Some(event) if event.seq == after => events.remove(0).hash,
                    // There is no event before them.
                    _ => GENESIS,
                };
                // The preceding event may have been so large that it was returned alone.
                if events.is_empty() {
                    Ok((hash, self.inner.events(run, after, limit)?))
                } else {
                    Ok((hash, events))
                }
            }
        }
    }
}

/// Checks that events follow each other, the first of them the event with the hash `before`.
/// Returns the hash of the last.
///
/// # Errors
/// [`LogError::Corrupt`] for the first event whose hash is another.
pub(crate) fn follow(mut before: EventHash, events: &[StoredEvent]) -> Result<EventHash, LogError> {
    for event in events {
        if ChainLink::of_stored(event).hash_after(before) != event.hash {
            let what =
                "its hash does not match: the event, its content or its position was changed";
            let (run, seq) = (event.run, event.seq);
            return Err(LogError::Corrupt { run, seq, what: what.to_owned() });
        }
        before = event.hash;
    }
    Ok(before)
}

impl Reader for CheckedReader {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        self.inner.runs()
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let (before, events) = self.read(run, after, limit)?;
        follow(before, &events)?;
        if let Some(last) = events.last() {
            self.last = Some((run, last.seq, last.hash));
        }
        self.events += events.len() as u64;
        Ok(events)
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Option<Vec<LedgerEntry>>, LogError> {
        self.inner.ledger(after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.inner.request(prompt)
    }

    fn model(&mut self, prompt: PromptHash) -> Result<Option<String>, LogError> {
        self.inner.model(prompt)
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        self.inner.prompts(prefix, limit)
    }

    fn pieces(&mut self, run: RunId) -> Result<Vec<u64>, LogError> {
        self.inner.pieces(run)
    }

    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        self.inner.piece(run, piece, section)
    }

    fn integrity(&mut self) -> Result<Vec<String>, LogError> {
        self.inner.integrity()
    }
}
