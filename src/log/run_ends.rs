//! Where the reading of a run ends before the last event that its store has: after an event, to show
//! the run as it was then, or before the first event that is missing or cannot be trusted.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::backend::{Backend, Committer, Lease, Reader, RunHead, SharedBackend, StoreInfo};
use super::error::LogError;
use super::finding::{EventFault, Fault, Finding};
use super::index::{KeptPiece, Section};
use super::last_writer::LastWriter;
use super::ledger::LedgerEntry;
use super::store_index::StoreIndex;
use super::uncounted::UncountedEvents;
use super::writer::Log;
use crate::event::StoredEvent;
use crate::event::chain::Head;
use crate::id::{PromptHash, RunId, Seq};
use crate::prompt::Request;

/// Where a run is read no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// After this event: the run is shown as it was then.
    After(Seq),
    /// Before this event, which is missing or cannot be trusted: reading it is [`LogError::Corrupt`] with this reason.
    Missing(Seq, Fault),
}

/// Where runs end; those that are not named are read to their last event.
pub type RunEnds = BTreeMap<RunId, RunEnd>;

impl Log {
    /// The log as it was when a run had come to an event: what came later in that run is not read.
    /// Nothing can be written through it.
    #[must_use]
    pub fn as_of(&self, run: RunId, at: Seq) -> Log {
        Log::new(with_ends(self.backend().clone(), BTreeMap::from([(run, RunEnd::After(at))])))
    }
}

/// A log whose runs end there.
pub fn with_ends(log: SharedBackend, ends: RunEnds) -> SharedBackend {
    Arc::new(EndedLog { log, ends: Arc::new(ends) })
}

struct EndedLog {
    log: SharedBackend,
    ends: Arc<RunEnds>,
}

impl EndedLog {
    /// Fails if the log is shown as of an earlier event, because nothing can be written then.
    fn is_now(&self) -> Result<(), LogError> {
        let earlier = self.ends.values().find_map(|end| match end {
            RunEnd::After(at) => Some(at),
            RunEnd::Missing(..) => None,
        });
        let Some(at) = earlier else { return Ok(()) };
        let why = format!("it is shown as of event {at}, so nothing can be written");
        Err(LogError::cannot_open(self.log.name(), why))
    }
}

impl Backend for EndedLog {
    fn info(&self) -> StoreInfo {
        self.log.info()
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        self.is_now()?;
        self.log.lease(run)
    }

    fn last_writer(&self, run: RunId) -> Result<Option<LastWriter>, LogError> {
        self.log.last_writer(run)
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        self.is_now()?;
        self.log.committer()
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(EndedReader { reader: self.log.reader()?, ends: self.ends.clone() }))
    }
}

/// Reads a log whose runs end before what its store has.
pub struct EndedReader {
    reader: Box<dyn Reader>,
    ends: Arc<RunEnds>,
}

impl EndedReader {
    /// Reads a run as it was after an event.
    pub fn as_of(reader: Box<dyn Reader>, run: RunId, at: Seq) -> Self {
        EndedReader { reader, ends: Arc::new(BTreeMap::from([(run, RunEnd::After(at))])) }
    }

    fn events_until(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
        last: Seq,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let left = usize::try_from(last.0.saturating_sub(after.0)).unwrap_or(limit);
        if left == 0 {
            return Ok(Vec::new());
        }
        let mut events = self.reader.events(run, after, limit.min(left))?;
        // In a damaged log, an event may be missing.
        let next = events.first().map(|event| event.seq);
        events.retain(|event| event.seq <= last);
        match next.and_then(|next| EventFault::gap(after.next(), next)) {
            Some(missing) if events.is_empty() => {
                Err(LogError::corrupt(run, after.next(), missing))
            }
            _ => Ok(events),
        }
    }

    /// The head of a run as it was after an event.
    fn head_after(&mut self, run: RunId, at: Seq) -> Result<Option<Head>, LogError> {
        let before = Seq(at.0.saturating_sub(1));
        let event = self.reader.events(run, before, 1)?.pop();
        let event = event.filter(|event| event.seq == at);
        Ok(event.map(|event| Head { seq: event.seq, hash: event.hash }))
    }
}

impl Reader for EndedReader {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        let mut runs = self.reader.runs()?;
        for (run, end) in self.ends.clone().iter() {
            let RunEnd::After(at) = end else { continue };
            if let Some(found) = runs.iter_mut().find(|found| found.run == *run)
                && found.head.seq > *at
                && let Some(head) = self.head_after(*run, *at)?
            {
                found.head = head;
            }
        }
        Ok(runs)
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        match self.ends.get(&run) {
            None => self.reader.events(run, after, limit),
            Some(RunEnd::Missing(seq, fault)) => {
                let (seq, fault) = (*seq, fault.clone());
                let events = self.events_until(run, after, limit, Seq(seq.0.saturating_sub(1)))?;
                if !events.is_empty() || limit == 0 {
                    return Ok(events);
                }
                // If the store knows more about it, that is the error.
                self.reader.events(run, after, 1)?;
                Err(LogError::corrupt(run, seq, fault))
            }
            Some(RunEnd::After(at)) => {
                let at = *at;
                self.events_until(run, after, limit, at)
            }
        }
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        self.reader.ledger(after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.reader.request(prompt)
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        Some(self)
    }
}

impl StoreIndex for EndedReader {
    fn request_part(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.reader.request_part(prompt)
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        self.reader.prompts(prefix, limit)
    }

    fn pieces(&mut self, run: RunId) -> Result<Vec<KeptPiece>, LogError> {
        let mut pieces = self.reader.pieces(run)?;
        let end = self.ends.get(&run).map(|end| match end {
            RunEnd::After(at) => *at,
            RunEnd::Missing(seq, _) => Seq(seq.0.saturating_sub(1)),
        });
        if let Some(end) = end {
            // A piece that has later events as well is made again, from the earlier ones.
            pieces.retain(|piece| piece.last <= end);
        }
        Ok(pieces)
    }

    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        self.reader.piece(run, piece, section)
    }

    fn check(&mut self, run: Option<RunId>) -> Result<Vec<Finding>, LogError> {
        self.reader.check(run)
    }

    fn uncounted_events(&mut self, run: Option<RunId>) -> Result<Vec<UncountedEvents>, LogError> {
        self.reader.uncounted_events(run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NewEvent;
    use crate::id::Time;
    use crate::log::{Append, CheckedReader};

    #[test]
    fn what_came_later_in_the_run_is_not_there() {
        let log = Log::in_memory();
        let [one, other] = [RunId([1; 8]), RunId([2; 8])];
        for run in [one, other] {
            let events = (1..=9).map(|n| NewEvent::new("Occurred", Time(n)));
            let append = Append::new(run, Head::START, events);
            log.backend().committer().unwrap().commit(&[append]).unwrap();
        }
        let mut whole = log.reader().unwrap();
        for at in 1..=9 {
            let until = log.as_of(one, Seq(at));
            let mut reader = until.reader().unwrap();
            let events = whole.events(one, Seq(0), 99).unwrap();
            let due: Vec<_> = events.into_iter().take(at as usize).collect();
            assert_eq!(reader.events(one, Seq(0), 99).unwrap(), due);
            assert_eq!(reader.events(one, Seq(at - 1), 99).unwrap().len(), 1);
            assert!(reader.events(one, Seq(at), 99).unwrap().is_empty());
            let ends = reader.runs().unwrap().into_iter().map(|head| head.head.seq.0);
            assert_eq!(ends.collect::<Vec<_>>(), [at, 9]);
            let mut checked = CheckedReader::new(reader);
            assert_eq!(checked.events(one, Seq(0), 99).unwrap().len() as u64, at);
            let hash = checked.runs().unwrap()[0].head.hash;
            assert_eq!(hash, due.last().unwrap().hash);
            assert!(until.backend().committer().is_err() && until.backend().lease(one).is_err());
        }
    }
}
