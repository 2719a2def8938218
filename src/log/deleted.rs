//! Runs that a log no longer holds, although something beside them says that it did.

use std::collections::BTreeSet;

use super::backend::Backend;
use super::error::LogError;
use super::finding::{Fault, FileFault, Finding};
use super::ledger::Ledger;
use crate::id::{RunId, Seq};

/// The runs that the ledger or a high-water mark names, and of which the log has nothing: each with
/// its first event, which is missing like all others. They are in the order in which they came into
/// the log. If the list of runs cannot be read, these are all that are known.
///
/// # Errors
/// [`LogError`] if the log cannot be read for another reason than damage.
pub fn deleted_runs(log: &dyn Backend) -> Result<Vec<Finding>, LogError> {
    Ok(NamedRuns::read(log)?.deletions(log))
}

/// The run that came into the log last, if the log has nothing of it. That, and not the last that is left, is the
/// latest run.
///
/// # Errors
/// As [`deleted_runs`].
pub fn deleted_latest(log: &dyn Backend) -> Result<Option<Finding>, LogError> {
    let named = NamedRuns::read(log)?;
    let Some(deleted) = named.deletions(log).pop() else { return Ok(None) };
    let (Some(newest), Some(run)) = (named.held.last(), deleted.run) else {
        return Ok(Some(deleted));
    };
    let place = |run| named.ledger.known_runs().position(|known| known == run);
    Ok(match (place(*newest), place(run)) {
        (Some(newest), Some(place)) => (place > newest).then_some(deleted),
        // The entry about it was lost with it. From a ledger that was changed, any entry may be missing.
        (Some(_), None) => named.ledger.faults().is_empty().then_some(deleted),
        (None, _) => None,
    })
}

/// The runs that a log names, and those that it has.
struct NamedRuns {
    ledger: Ledger,
    /// In the order in which they came into the log.
    held: Vec<RunId>,
    /// Why they cannot be listed, if they cannot.
    unlisted: Option<Fault>,
}

impl NamedRuns {
    fn read(log: &dyn Backend) -> Result<Self, LogError> {
        let mut reader = log.reader()?;
        // Read before the runs: every run that it names must be found afterwards.
        let ledger = match Ledger::read(reader.as_mut()) {
            Err(LogError::Damaged { .. }) => Ledger::default(),
            ledger => ledger?,
        };
        let (held, unlisted) = match reader.runs() {
            Ok(heads) => (heads.into_iter().map(|head| head.run).collect(), None),
            Err(LogError::Damaged { fault: why, .. }) => {
                (Vec::new(), Some(FileFault::RunList { why }.into()))
            }
            Err(error) => return Err(error),
        };
        Ok(NamedRuns { ledger, held, unlisted })
    }

    /// The runs of which the log has nothing.
    fn deletions(&self, log: &dyn Backend) -> Vec<Finding> {
        let held: BTreeSet<RunId> = self.held.iter().copied().collect();
        let mut deleted = self.ledger.deletions(|run| held.contains(&run));
        for lost in log.losses() {
            let is_known =
                |run| held.contains(&run) || deleted.iter().any(|one| one.run == Some(run));
            if lost.run.is_some_and(|run: RunId| !is_known(run)) {
                deleted.push(Finding { seq: Some(Seq(1)), ..lost });
            }
        }
        if let Some(fault) = &self.unlisted {
            deleted.iter_mut().for_each(|one| one.fault.clone_from(fault));
        }
        deleted
    }
}
