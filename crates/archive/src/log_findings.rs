//! The findings about a log, as far as they are known without reading the events of its runs.

use retold::id::RunId;
use retold::log::ledger::Ledger;
use retold::log::{Backend, Finding, LedgerFault, LogError, Reader, deleted_runs};

use crate::verdict::is_cut_off;

/// Findings about the file and the ledger, runs that were deleted, and lost events that are not among the `known` findings.
///
/// # Errors
/// [`LogError`] if the log cannot be read for another reason than damage.
pub fn log_findings(
    log: &dyn Backend,
    reader: &mut dyn Reader,
    runs: &[RunId],
    known: &[Finding],
) -> Result<Vec<Finding>, LogError> {
    let mut found = deleted_runs(log)?;
    let ledger = match Ledger::read(reader) {
        Ok(ledger) => {
            let findings = ledger.mismatches(!runs.is_empty());
            // A fault of the ledger is reported once, and not for each run.
            let is_whole = findings.is_empty() && !is_cut_off(log);
            let unnamed = runs.iter().filter(|_| is_whole);
            let unnamed =
                unnamed.filter_map(|run| Some(Finding::of_run(*run, ledger.mismatch(*run)?)));
            let unnamed: Vec<Finding> = unnamed.collect();
            findings.into_iter().chain(unnamed).collect()
        }
        Err(LogError::Damaged { fault: why, .. }) => {
            vec![Finding::of_file(LedgerFault::Unreadable { why })]
        }
        Err(error) => return Err(error),
    };
    found.extend(ledger);
    for lost in log.losses() {
        let is_it = |other: &Finding| lost.run.is_some() && other.run == lost.run;
        if !known.iter().chain(&found).any(is_it) {
            found.push(lost);
        }
    }
    found.extend(log.damage());
    Ok(found)
}
