//! A log of which it is known that the ends of some runs are missing: reading such a run to the end of
//! what is left of it is an error at the first event that is missing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use retold::event::StoredEvent;
use retold::id::{PromptHash, RunId, Seq};
use retold::log::ledger::{Ledger, LedgerEntry};
use retold::log::{
    Backend, Committer, Format, Lease, LogError, Problem, Reader, RunHead, Section, SharedBackend,
};
use retold::prompt::Request;

/// A log without the ends of some runs.
pub struct WithoutEnds {
    log: SharedBackend,
    missing: Missing,
}

/// A log of which it was looked at how far its runs go.
pub(crate) struct Ends {
    /// Reading a run whose end is missing is an error there.
    pub(crate) log: SharedBackend,
    /// Whether the end of a run is missing.
    pub(crate) is_missing: bool,
    /// Why the ledger does not fit, so that it does not show how far the runs had come.
    pub(crate) misfits: Vec<Problem>,
}

/// The first event that is missing of each run whose end is, and how that is known.
type Missing = Arc<BTreeMap<RunId, (Seq, String)>>;

impl WithoutEnds {
    /// The log, and whether the end of a run is missing: high-water marks and the ledger know that they had more,
    /// or a part of the log is lost and they do not end with the end of a run.
    ///
    /// # Errors
    /// [`LogError`] if the runs cannot be listed for another reason than damage.
    pub(crate) fn of(log: SharedBackend, lost_part: Option<&str>) -> Result<Ends, LogError> {
        let mut reader = log.reader()?;
        // Read before the runs: each run that it names must have come as far by then. A ledger that
        // cannot be read claims nothing.
        let read = Ledger::read(reader.as_mut());
        let heads = match reader.runs() {
            Err(LogError::Damaged { .. }) => Vec::new(),
            heads => heads?,
        };
        let read = match read {
            // Its first run may have begun since.
            Ok(Some(ledger)) if ledger.runs() == 0 && !heads.is_empty() => {
                Ledger::read(reader.as_mut())
            }
            read => read,
        };
        let (ledger, misfits) = match read {
            Ok(Some(ledger)) => {
                let misfits = ledger.misfits(!heads.is_empty());
                (ledger, misfits)
            }
            Ok(None) => (Ledger::default(), Vec::new()),
            Err(error) => {
                let what = format!("the ledger cannot be read: {error}");
                (Ledger::default(), vec![Problem { run: None, seq: None, what }])
            }
        };
        let lost = log.lost();
        let mut missing = BTreeMap::new();
        for RunHead { run, head, started: _ } in heads {
            let is_end = |problem: &&Problem| {
                problem.run == Some(run) && problem.seq.is_some_and(|seq| seq > head.seq)
            };
            let known = lost.iter().find(is_end).cloned();
            let known = known.or_else(|| ledger.missing_after(run, head.seq));
            let what = match (known, lost_part) {
                (Some(known), _) => Some(known.what),
                (None, Some(part)) if !is_finished(reader.as_mut(), run, head.seq) => {
                    Some(format!("{part}, and this event and what followed are missing"))
                }
                _ => None,
            };
            if let Some(what) = what {
                missing.insert(run, (head.seq.next(), what));
            }
        }
        drop(reader);
        let is_missing = !missing.is_empty();
        let log = if is_missing { WithoutEnds::from(log, missing) } else { log };
        Ok(Ends { log, is_missing, misfits })
    }

    /// A log with a run that was read up to a problem.
    pub fn up_to(log: SharedBackend, problem: Problem) -> SharedBackend {
        match (problem.run, problem.seq) {
            (Some(run), Some(seq)) => {
                WithoutEnds::from(log, BTreeMap::from([(run, (seq, problem.what))]))
            }
            _ => log,
        }
    }

    fn from(log: SharedBackend, missing: BTreeMap<RunId, (Seq, String)>) -> SharedBackend {
        Arc::new(WithoutEnds { log, missing: Arc::new(missing) })
    }
}

/// Whether the last event of a run is its end. What cannot be read is reported where it is read.
pub(crate) fn is_finished(reader: &mut dyn Reader, run: RunId, last: Seq) -> bool {
    match reader.events(run, Seq(last.0.saturating_sub(1)), 1) {
        Ok(events) => events.last().is_some_and(|event| event.kind == "RunFinished"),
        Err(_) => true,
    }
}

impl Backend for WithoutEnds {
    fn name(&self) -> String {
        self.log.name()
    }

    fn file(&self) -> Option<&Path> {
        self.log.file()
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

    fn is_cut_off(&self) -> bool {
        self.log.is_cut_off()
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
            Some((seq, what)) if events.is_empty() && limit > 0 => {
                Err(LogError::Corrupt { run, seq: *seq, what: what.clone() })
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

    fn not_found(&mut self, run: RunId, last: Seq) -> Result<Option<Seq>, LogError> {
        self.log.not_found(run, last)
    }

    fn integrity(&mut self) -> Result<Vec<String>, LogError> {
        self.log.integrity()
    }
}
