//! A log as if other decisions had been accepted about a run.

use std::collections::BTreeSet;

use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::ledger::LedgerEntry;
use retold::log::{LogError, Reader, RunHead, StoreIndex};
use retold::prompt::Request;

/// Reads a log without some of its runs, and with those of another log.
pub(crate) struct AlternativeReader {
    log: Box<dyn Reader>,
    without: BTreeSet<RunId>,
    beside: Option<Box<dyn Reader>>,
}

impl AlternativeReader {
    pub(crate) fn new(
        log: Box<dyn Reader>,
        without: BTreeSet<RunId>,
        beside: Option<Box<dyn Reader>>,
    ) -> Self {
        AlternativeReader { log, without, beside }
    }
}

impl Reader for AlternativeReader {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        let mut runs = self.log.runs()?;
        runs.retain(|head| !self.without.contains(&head.run));
        if let Some(beside) = &mut self.beside {
            runs.extend(beside.runs()?);
        }
        Ok(runs)
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        if self.without.contains(&run) {
            return Ok(Vec::new());
        }
        if let Some(beside) = &mut self.beside {
            let events = beside.events(run, after, limit)?;
            if !events.is_empty() {
                return Ok(events);
            }
        }
        self.log.events(run, after, limit)
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        self.log.ledger(after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        let found = self.beside.as_mut().map(|beside| beside.request(prompt)).transpose()?;
        match found.flatten() {
            Some(request) => Ok(Some(request)),
            None => self.log.request(prompt),
        }
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        None
    }
}
