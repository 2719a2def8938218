//! A log as it was when one of its runs had come to a certain event.

use std::path::Path;

use super::backend::{Backend, Committer, Lease, Reader, RunHead, SharedBackend};
use super::error::LogError;
use super::format::Format;
use super::index::{Section, last};
use super::ledger::LedgerEntry;
use super::problem::Problem;
use super::writer::Log;
use crate::event::StoredEvent;
use crate::event::chain::Head;
use crate::id::{PromptHash, RunId, Seq};
use crate::prompt::Request;

impl Log {
    /// The log as it was when a run had come to an event: what came later in that run is not read.
    /// Nothing can be written through it.
    #[must_use]
    pub fn until(&self, run: RunId, at: Seq) -> Log {
        Log::new(std::sync::Arc::new(Until { inner: self.backend().clone(), run, at }))
    }
}

struct Until {
    inner: SharedBackend,
    run: RunId,
    at: Seq,
}

impl Until {
    fn refused(&self) -> LogError {
        let why = format!("it is shown as of event {}, so nothing can be written", self.at);
        LogError::cannot_open(self.name(), why)
    }
}

impl Backend for Until {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn file(&self) -> Option<&Path> {
        self.inner.file()
    }

    fn format(&self) -> Format {
        self.inner.format()
    }

    fn lease(&self, _run: RunId) -> Result<Lease, LogError> {
        Err(self.refused())
    }

    fn lost(&self) -> Vec<Problem> {
        self.inner.lost()
    }

    fn damaged(&self) -> Option<Problem> {
        self.inner.damaged()
    }

    fn is_cut_off(&self) -> bool {
        self.inner.is_cut_off()
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        Err(self.refused())
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(ReaderUntil::new(self.inner.reader()?, self.run, self.at)))
    }
}

/// Reads a log as it was when one of its runs had come to a certain event.
pub struct ReaderUntil {
    inner: Box<dyn Reader>,
    run: RunId,
    at: Seq,
}

impl ReaderUntil {
    /// What came after an event of a run is not read.
    pub fn new(inner: Box<dyn Reader>, run: RunId, at: Seq) -> Self {
        ReaderUntil { inner, run, at }
    }
}

impl Reader for ReaderUntil {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        let mut runs = self.inner.runs()?;
        if let Some(found) = runs.iter_mut().find(|found| found.run == self.run)
            && found.head.seq > self.at
        {
            let before = Seq(self.at.0.saturating_sub(1));
            let event = self.inner.events(self.run, before, 1)?.pop();
            if let Some(event) = event.filter(|event| event.seq == self.at) {
                found.head = Head { seq: event.seq, hash: event.hash };
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
        if run != self.run {
            return self.inner.events(run, after, limit);
        }
        let left = usize::try_from(self.at.0.saturating_sub(after.0)).unwrap_or(limit);
        if left == 0 {
            return Ok(Vec::new());
        }
        let mut events = self.inner.events(run, after, limit.min(left))?;
        // In a damaged log, an event may be missing.
        events.retain(|event| event.seq <= self.at);
        Ok(events)
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Option<Vec<LedgerEntry>>, LogError> {
        self.inner.ledger(after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.inner.request(prompt)
    }

    fn check_request(&mut self, prompt: PromptHash) -> Result<bool, LogError> {
        self.inner.check_request(prompt)
    }

    fn model(&mut self, prompt: PromptHash) -> Result<Option<String>, LogError> {
        self.inner.model(prompt)
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        self.inner.prompts(prefix, limit)
    }

    fn pieces(&mut self, run: RunId) -> Result<Vec<u64>, LogError> {
        let mut pieces = self.inner.pieces(run)?;
        // A piece that has later events as well is made again, from the earlier ones.
        pieces.retain(|piece| run != self.run || last(*piece) <= self.at);
        Ok(pieces)
    }

    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        self.inner.piece(run, piece, section)
    }

    fn not_found(&mut self, run: RunId, last: Seq) -> Result<Option<Seq>, LogError> {
        self.inner.not_found(run, last)
    }

    fn integrity(&mut self) -> Result<Vec<String>, LogError> {
        self.inner.integrity()
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
            let until = log.until(one, Seq(at));
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
