//! A log that was cut off: reading a run to the end of what is left of it is an error, unless that is
//! the end of the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::ledger::LedgerEntry;
use retold::log::{
    Backend, Committer, Format, Lease, LogError, Problem, Reader, RunHead, Section, SqliteBackend,
};
use retold::prompt::Request;
use retold::run::how_it_ended;

/// A copy of a log that was cut off.
pub(crate) struct WithoutEnds {
    log: SqliteBackend,
    /// The first event that is missing of each run whose end is.
    missing: Missing,
}

type Missing = Arc<BTreeMap<RunId, Seq>>;

impl WithoutEnds {
    /// Finds the runs whose end is missing, but for those of which it is known that they `lost` events.
    ///
    /// # Errors
    /// [`LogError`] if the runs cannot be listed.
    pub(crate) fn of(log: SqliteBackend, lost: &[Problem]) -> Result<Self, LogError> {
        let mut reader = log.reader()?;
        let mut missing = BTreeMap::new();
        for RunHead { run, head, started: _ } in reader.runs()? {
            let is_known = lost.iter().any(|problem| problem.run == Some(run));
            // What cannot be read is reported where it is read.
            if !is_known && let Ok(None) = how_it_ended(reader.as_mut(), run) {
                missing.insert(run, head.seq.next());
            }
        }
        Ok(WithoutEnds { log, missing: Arc::new(missing) })
    }
}

impl Backend for WithoutEnds {
    fn name(&self) -> String {
        self.log.name()
    }

    fn format(&self) -> Format {
        self.log.format()
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        self.log.lease(run)
    }

    fn lost(&self) -> Vec<Problem> {
        self.log.lost()
    }

    fn damaged(&self) -> Option<Problem> {
        self.log.damaged()
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        self.log.committer()
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(ReaderWithoutEnds { log: self.log.reader()?, missing: self.missing.clone() }))
    }
}

struct ReaderWithoutEnds {
    log: Box<dyn Reader>,
    missing: Missing,
}

impl Reader for ReaderWithoutEnds {
    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let events = self.log.events(run, after, limit)?;
        match self.missing.get(&run) {
            Some(seq) if events.is_empty() && limit > 0 && after.next() >= *seq => {
                let what = "the file was cut off, and this event and what followed are missing";
                Err(LogError::Corrupt { run, seq: *seq, what: what.to_owned() })
            }
            _ => Ok(events),
        }
    }

    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        self.log.runs()
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Option<Vec<LedgerEntry>>, LogError> {
        self.log.ledger(after, limit)
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        self.log.request(prompt)
    }

    fn check_request(&mut self, prompt: PromptHash) -> Result<bool, LogError> {
        self.log.check_request(prompt)
    }

    fn model(&mut self, prompt: PromptHash) -> Result<Option<String>, LogError> {
        self.log.model(prompt)
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        self.log.prompts(prefix, limit)
    }

    fn pieces(&mut self, run: RunId) -> Result<Vec<u64>, LogError> {
        self.log.pieces(run)
    }

    fn piece(
        &mut self,
        run: RunId,
        piece: u64,
        section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        self.log.piece(run, piece, section)
    }

    fn integrity(&mut self) -> Result<Vec<String>, LogError> {
        self.log.integrity()
    }
}
