//! From which event on a run cannot be trusted: what every page and every command says.

use retold::id::{RunId, Seq};
use retold::log::ledger::Ledger;
use retold::log::{Backend, Fault, FileFault, Finding, LedgerFault, LogError};

/// Why a run cannot be trusted from an event on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The first event that is missing, or not as it was written.
    pub seq: Seq,
    /// The fault of this event.
    pub fault: Fault,
}

impl Damage {
    /// The earlier of two.
    pub fn first(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        one.into_iter().chain(other).min_by_key(|damage| damage.seq)
    }

    /// The last event before it, if there is one.
    pub fn last_good(&self) -> Option<Seq> {
        self.seq.0.checked_sub(1).filter(|last| *last > 0).map(Seq)
    }

    /// The last event before it, or [`Seq(0)`](Seq) if it is the first.
    pub(crate) fn last_good_or_none(&self) -> Seq {
        Seq(self.seq.0.saturating_sub(1))
    }

    /// A sentence about the damaged run: `run` names it, such as "this run".
    pub fn distrust(&self, run: &str) -> String {
        let Damage { seq, fault } = self;
        format!("from event {seq} on, {run} cannot be trusted: {fault}")
    }

    /// Why the state after an event is not shown: it is the first that is damaged, or comes later.
    pub fn no_state_after(&self, at: Seq) -> String {
        let Damage { seq, fault } = self;
        let why = match at == *seq {
            true => format!("that event cannot be trusted: {fault}"),
            false => format!("it depends on event {seq}, which cannot be trusted: {fault}"),
        };
        format!("the state after event {at} cannot be shown: {why}")
    }
}

/// What is known to be wrong with a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The first event that cannot be trusted.
    pub from: Option<Damage>,
    /// The fault of the run as a whole: of its index, or doubt whether it once had more events.
    pub whole: Option<Fault>,
}

impl Verdict {
    /// Whether anything is wrong.
    pub fn is_damaged(&self) -> bool {
        self.from.is_some() || self.whole.is_some()
    }

    /// The damage of the run, as a finding.
    pub fn finding(&self, run: RunId) -> Option<Finding> {
        match (&self.from, &self.whole) {
            (Some(Damage { seq, fault }), _) => Some(Finding::of_event(run, *seq, fault.clone())),
            (None, Some(fault)) => Some(Finding::of_run(run, fault.clone())),
            (None, None) => None,
        }
    }
}

/// Why it is not known any more whether a run once had more events, if the ledger does not fit. In a log
/// that was cut off, the ledger is as well, which is said of the log.
///
/// # Errors
/// [`LogError`] if the log cannot be read for another reason than damage.
pub fn ledger_mismatch(log: &dyn Backend, run: RunId) -> Result<Option<Fault>, LogError> {
    if is_cut_off(log) {
        return Ok(None);
    }
    match Ledger::read(log.reader()?.as_mut()) {
        Ok(ledger) => Ok(ledger.mismatch(run)),
        Err(LogError::Damaged { fault: why, .. }) => {
            Ok(Some(LedgerFault::Unreadable { why }.into()))
        }
        Err(error) => Err(error),
    }
}

/// The first event that is missing at the end of a run, of which the last that there is is known. This
/// takes no time, however long the run is.
///
/// # Errors
/// [`LogError`] if the log cannot be read for another reason than damage.
pub fn missing_end(log: &dyn Backend, run: RunId, last: Seq) -> Result<Option<Damage>, LogError> {
    match log.reader()?.events(run, last, 1) {
        Err(LogError::Corrupt { seq, fault, .. }) => Ok(Some(Damage { seq, fault: *fault })),
        Ok(_) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the end of the file is missing.
pub fn is_cut_off(log: &dyn Backend) -> bool {
    let is_it = |found: Finding| matches!(found.fault, Fault::File(FileFault::CutOff { .. }));
    log.damage().is_some_and(is_it)
}
