//! The places where a run was continued, and the run as it is since.

use std::collections::BTreeSet;

use super::merge_patch::apply_patch;
use super::record::run_start;
use crate::event::kind::RUN_RESUMED;
use crate::event::{Event, RunResumed, RunStarted};
use crate::id::{RunId, Seq};
use crate::log::ledger::{LedgerChange, LedgerEntry};
use crate::log::{Census, Index, LogError, Reader, RunEvents, each_event_at};

/// Events in one read.
const BATCH: usize = 512;

/// Where a run was continued, in order.
///
/// # Errors
/// [`LogError`] if it cannot be read, or is damaged.
pub fn resumptions(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Vec<(Seq, RunResumed)>, LogError> {
    let census = Index::open(reader, run)?.census(reader)?;
    counted_resumptions(reader, run, &census)
}

/// The same, of a run whose events have been counted.
fn counted_resumptions(
    reader: &mut dyn Reader,
    run: RunId,
    census: &Census,
) -> Result<Vec<(Seq, RunResumed)>, LogError> {
    let Some(&due) = census.events.get(RUN_RESUMED) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    let mut places = Vec::new();
    each_in_ledger(reader, |entry| {
        if entry.run == run && entry.change == LedgerChange::Resumed {
            places.push(entry.head.seq);
        }
    })?;
    if places.len() as u64 == due {
        each_event_at(reader, run, &places, |stored| {
            if let Event::RunResumed(resumed) = stored.event()? {
                found.push((stored.seq, resumed));
            }
            Ok::<(), LogError>(())
        })?;
        return Ok(found);
    }
    // The ledger has no such entries of an imported run.
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        if stored.kind == RUN_RESUMED
            && let Event::RunResumed(resumed) = stored.event().map_err(LogError::from)?
        {
            found.push((stored.seq, resumed));
        }
    }
    Ok(found)
}

fn each_in_ledger(
    reader: &mut dyn Reader,
    mut each: impl FnMut(&LedgerEntry),
) -> Result<(), LogError> {
    let mut after = 0;
    loop {
        let entries = reader.ledger(after, BATCH)?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = last.number;
        entries.iter().for_each(&mut each);
    }
}

/// The runs of a log that may have been continued, so that listing all need not look into each.
///
/// # Errors
/// [`LogError`] if the ledger cannot be read.
pub fn maybe_resumed(reader: &mut dyn Reader) -> Result<BTreeSet<RunId>, LogError> {
    let mut runs = BTreeSet::new();
    each_in_ledger(reader, |entry| {
        // For imported events, the ledger does not name the kind.
        if matches!(entry.change, LedgerChange::Resumed | LedgerChange::Imported) {
            runs.insert(entry.run);
        }
    })?;
    Ok(runs)
}

/// The start of a run, with the model that it was last continued with and with the settings as its continuations have
/// changed them. This is the start that is shown, and continued. Programs' runs add to their rules instead.
///
/// # Errors
/// [`LogError`] if it cannot be read, or is damaged.
pub fn latest_start(reader: &mut dyn Reader, run: RunId) -> Result<RunStarted, LogError> {
    let mut latest = run_start(reader, run)?;
    if !latest.is_of_experiment() {
        return Ok(latest);
    }
    let census = Index::open(reader, run)?.census(reader)?;
    continue_start(&mut latest, reader, run, &census)?;
    Ok(latest)
}

/// Makes the beginning of a run, whose events have been counted, the latest one.
pub(super) fn continue_start(
    started: &mut RunStarted,
    reader: &mut dyn Reader,
    run: RunId,
    census: &Census,
) -> Result<(), LogError> {
    if !started.is_of_experiment() {
        return Ok(());
    }
    for (_, RunResumed { model, settings, .. }) in counted_resumptions(reader, run, census)? {
        // A merged run is continued without a model.
        if !model.is_null() {
            started.model = model;
        }
        if !settings.is_null() {
            apply_patch(&mut started.settings, &settings);
        }
    }
    Ok(())
}
