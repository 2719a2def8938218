//! The runs of a log that have lost their ends: reading such a run to the end is an error at the first event that is
//! missing.

use std::collections::BTreeMap;

use retold::id::{RunId, Seq};
use retold::log::ledger::Ledger;
use retold::log::{
    Fault, Finding, LedgerFault, LogError, Reader, RunEnd, RunHead, SharedBackend, with_ends,
};

/// A log of which it was looked at how far its runs go.
pub(crate) struct Ends {
    /// Reading a run whose end is missing is an error there.
    pub(crate) log: SharedBackend,
    /// Whether the end of a run is missing.
    pub(crate) is_missing: bool,
    /// Why the ledger does not fit, so that it does not show how far the runs had come.
    pub(crate) mismatches: Vec<Finding>,
}

impl Ends {
    /// The log, and whether the end of a run is missing: high-water marks and the ledger know that they had more,
    /// or a part of the log is lost and they do not end with the end of a run.
    ///
    /// # Errors
    /// [`LogError`] if the runs cannot be listed for another reason than damage.
    pub(crate) fn new(log: SharedBackend, lost_part: Option<Fault>) -> Result<Ends, LogError> {
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
            Ok(ledger) if ledger.runs() == 0 && !heads.is_empty() => Ledger::read(reader.as_mut()),
            read => read,
        };
        let (ledger, mismatches) = match read {
            Ok(ledger) => {
                let mismatches = ledger.mismatches(!heads.is_empty());
                (ledger, mismatches)
            }
            Err(error) => {
                let fault = LedgerFault::unreadable(Fault::of_error(error));
                (Ledger::default(), vec![Finding::of_file(fault)])
            }
        };
        let lost = log.losses();
        let mut missing = BTreeMap::new();
        for RunHead { run, head, started: _ } in heads {
            let is_end = |finding: &&Finding| {
                finding.run == Some(run) && finding.seq.is_some_and(|seq| seq > head.seq)
            };
            let known = lost.iter().find(is_end).cloned();
            let known = known.or_else(|| ledger.missing_after(run, head.seq));
            let fault = match (known, &lost_part) {
                (Some(known), _) => Some(known.fault),
                (None, Some(part)) if !is_finished(reader.as_mut(), run, head.seq) => {
                    Some(Fault::LostWith { part: Box::new(part.clone()) })
                }
                _ => None,
            };
            if let Some(fault) = fault {
                missing.insert(run, RunEnd::Missing(head.seq.next(), fault));
            }
        }
        drop(reader);
        let is_missing = !missing.is_empty();
        let log = if is_missing { with_ends(log, missing) } else { log };
        Ok(Ends { log, is_missing, mismatches })
    }
}

/// A log with a run that was read up to something that is wrong.
pub fn up_to(log: SharedBackend, finding: Finding) -> SharedBackend {
    match (finding.run, finding.seq) {
        (Some(run), Some(seq)) => {
            with_ends(log, BTreeMap::from([(run, RunEnd::Missing(seq, finding.fault))]))
        }
        _ => log,
    }
}

/// Whether the last event of a run is its end. What cannot be read is reported where it is read.
pub fn is_finished(reader: &mut dyn Reader, run: RunId, last: Seq) -> bool {
    match reader.events(run, Seq(last.0.saturating_sub(1)), 1) {
        Ok(events) => events.last().is_some_and(|event| event.kind == "RunFinished"),
        Err(_) => true,
    }
}
