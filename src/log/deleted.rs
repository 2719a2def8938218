//! Runs that a log no longer holds, although something beside them says that it did.

use std::collections::BTreeSet;

use super::backend::Backend;
use super::error::LogError;
use super::ledger::Ledger;
use super::problem::Problem;
use crate::id::{RunId, Seq};

/// The runs that the ledger or a high-water mark names, and of which the log has nothing: each with
/// its first event, which is missing like all others. They are in the order in which they came into
/// the log. If the list of runs cannot be read, these are all that are known.
///
/// # Errors
/// [`LogError`] if the log cannot be read for another reason than damage.
pub fn deleted_runs(log: &dyn Backend) -> Result<Vec<Problem>, LogError> {
    let mut reader = log.reader()?;
    // Read before the runs: every run that it names must be found afterwards.
    let ledger = match Ledger::read(reader.as_mut()) {
        Err(LogError::Damaged { .. }) => None,
        ledger => ledger?,
    };
    let ledger = ledger.unwrap_or_default();
    let (held, unlisted) = match reader.runs() {
        Ok(heads) => (heads.into_iter().map(|head| head.run).collect(), None),
        Err(LogError::Damaged { what, .. }) => {
            (BTreeSet::new(), Some(format!("the list of runs cannot be read: {what}")))
        }
        Err(error) => return Err(error),
    };
    let mut deleted = ledger.deleted(|run| held.contains(&run));
    for lost in log.lost() {
        let is_known = |run| held.contains(&run) || deleted.iter().any(|one| one.run == Some(run));
        if lost.run.is_some_and(|run: RunId| !is_known(run)) {
            deleted.push(Problem { seq: Some(Seq(1)), ..lost });
        }
    }
    if let Some(what) = unlisted {
        deleted.iter_mut().for_each(|one| one.what.clone_from(&what));
    }
    Ok(deleted)
}
