//! A run as it is shown: it ends before the first event that cannot be trusted.

use std::collections::BTreeMap;

use retold::id::RunId;
use retold::log::{Backend, Finding, Log, LogError, RunEnd, SharedBackend, with_ends};

use crate::verdict::{Damage, Verdict, ledger_mismatch, missing_end};

/// A run that is shown, with the verdict about it.
///
/// Nothing is read before it is shown: each event is compared with its hash as it is read, and what the marks and the
/// ledger know of the end of the run is known from the beginning. Damage that is met later ends the run
/// [there](Self::ending_at).
pub struct RunView {
    log: SharedBackend,
    run: RunId,
    verdict: Verdict,
}

impl RunView {
    /// Looks at the end of a run.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read for another reason than damage.
    pub fn new(log: SharedBackend, run: RunId) -> Result<Self, LogError> {
        let store = log.as_ref();
        let verdict =
            Verdict { from: end_missing(store, run)?, whole: ledger_mismatch(store, run)? };
        Ok(RunView { log, run, verdict })
    }

    /// The same run, of which damage was met.
    #[must_use]
    pub fn ending_at(self, met: Damage) -> Self {
        let from = Damage::first(self.verdict.from, Some(met));
        RunView { verdict: Verdict { from, ..self.verdict }, ..self }
    }

    /// Which run it is.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The verdict about it.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The first event that cannot be trusted.
    pub fn damage(&self) -> Option<&Damage> {
        self.verdict.from.as_ref()
    }

    /// The run up to its damage: reading on is an error that names it.
    pub fn log(&self) -> Log {
        let end = |damage: &Damage| RunEnd::Missing(damage.seq, damage.fault.clone());
        self.with_end(self.damage().map(end))
    }

    /// The run as it was before its damage, as if nothing had come later.
    pub fn before_damage(&self) -> Log {
        self.with_end(self.damage().map(|damage| RunEnd::After(damage.last_good_or_none())))
    }

    fn with_end(&self, end: Option<RunEnd>) -> Log {
        Log::new(match end {
            Some(end) => with_ends(self.log.clone(), BTreeMap::from([(self.run, end)])),
            None => self.log.clone(),
        })
    }

    /// Its damage, as a finding.
    pub fn finding(&self) -> Option<Finding> {
        self.verdict.finding(self.run)
    }
}

/// The first event that is missing at the end of a run.
fn end_missing(log: &dyn Backend, run: RunId) -> Result<Option<Damage>, LogError> {
    let head = log.reader()?.runs()?.into_iter().find(|head| head.run == run);
    head.map_or(Ok(None), |head| missing_end(log, run, head.head.seq))
}
