//! A run as it is shown: it ends before the first event that cannot be trusted.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use retold::id::{RunId, Seq};
use retold::log::{Backend, Finding, Log, LogError, RunEnd, SharedBackend, with_ends};

use crate::kept_verdicts::{is_long, recall, verdict_as_kept};
use crate::verdict::{Damage, Verdict, is_cut_off, ledger_mismatch, missing_end};

/// How much of a run is verified before it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyDepth {
    /// All of it, unless an earlier verdict still holds.
    Whole,
    /// Only the events that are read, for a long run that shows no damage, and for any run of a store that checks as
    /// it reads: damage is an error where it is met.
    AsRead,
}

/// A run that is shown, with the verdict about it.
pub struct RunView {
    log: SharedBackend,
    run: RunId,
    verdict: Verdict,
    unverified: Option<Seq>,
    as_read: bool,
}

impl RunView {
    /// Looks at a run of a log that was opened up to `before` ago; verdicts about long runs are kept in `cache`.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read for another reason than damage.
    pub fn new(
        log: SharedBackend,
        run: RunId,
        depth: VerifyDepth,
        cache: Option<&Path>,
        before: Duration,
    ) -> Result<Self, LogError> {
        let store = log.as_ref();
        let unverified = match (depth, store.file()) {
            (VerifyDepth::AsRead, Some(file)) => {
                let is_known = || cache.is_some_and(|cache| recall(cache, file, run).is_some());
                unverified_end(store, run)?.filter(|_| !is_known())
            }
            _ => None,
        };
        let as_read = depth == VerifyDepth::AsRead && store.checks_as_it_reads();
        let verdict = match store.file() {
            Some(_) if unverified.is_some() => {
                Verdict { from: None, whole: ledger_mismatch(store, run)? }
            }
            // Runs in memory were verified when they were read.
            None if as_read || is_long(store.reader()?.as_mut(), run) => {
                Verdict { from: end_missing(store, run)?, whole: ledger_mismatch(store, run)? }
            }
            _ => verdict_as_kept(cache, store, run, before)?,
        };
        Ok(RunView { log, run, verdict, unverified, as_read })
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

    /// True if only the events that are read are checked, as they are read.
    pub fn is_checked_as_read(&self) -> bool {
        self.as_read
    }

    /// Its last event, if it was not verified.
    pub fn unverified_end(&self) -> Option<Seq> {
        self.unverified
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

    /// Everything that the store has, for those who want to see what cannot be trusted.
    pub fn untrusted_log(&self) -> &SharedBackend {
        &self.log
    }

    /// Whether the damage is that its end is missing: all that there is of it, which is something, is as it was written.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read for another reason than damage.
    pub fn is_only_cut(&self) -> Result<bool, LogError> {
        let damage = self.damage().filter(|damage| damage.last_good().is_some());
        let Some(damage) = damage else { return Ok(false) };
        let end = end_missing(self.log.as_ref(), self.run)?;
        Ok(end.is_some_and(|end| end.seq == damage.seq))
    }

    /// Its damage, as a finding.
    pub fn finding(&self) -> Option<Finding> {
        self.verdict.finding(self.run)
    }
}

/// The last event of a long run that shows no damage, in a log that shows none.
fn unverified_end(log: &dyn Backend, run: RunId) -> Result<Option<Seq>, LogError> {
    if !is_long(log.reader()?.as_mut(), run) {
        return Ok(None);
    }
    // Where something is missing, something before it may be damaged too.
    let is_damaged = end_missing(log, run)?.is_some()
        || is_cut_off(log)
        || log.damage().is_some()
        || !log.losses().is_empty();
    Ok(last(log, run)?.filter(|_| !is_damaged))
}

/// The first event that is missing at the end of a run.
fn end_missing(log: &dyn Backend, run: RunId) -> Result<Option<Damage>, LogError> {
    last(log, run)?.map_or(Ok(None), |last| missing_end(log, run, last))
}

/// The last event that there is of a run.
fn last(log: &dyn Backend, run: RunId) -> Result<Option<Seq>, LogError> {
    let head = log.reader()?.runs()?.into_iter().find(|head| head.run == run);
    Ok(head.map(|head| head.head.seq))
}
