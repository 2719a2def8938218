//! Looks at all objects of a log: what no chain covers.

use std::collections::BTreeMap;

use object_store::path::Path;
use retold::id::{RunId, Seq};
use retold::log::{Fault, Head, LogError, SegmentFault};

use crate::ledger_entry::KnownEntry;
use crate::names::{Place, number_of};
use crate::segments::Segments;

/// Objects that are missing, and objects that are not of a log.
pub(crate) async fn faults(segments: &Segments) -> Result<Vec<Fault>, LogError> {
    let names = &segments.names;
    let (numbers, mut faults) = numbers_of(&segments.objects.list(&names.ledger()).await?);
    // One that is missing stands for those after it.
    let gaps = std::iter::once(0).chain(numbers.iter().map(|number| number + 1)).zip(&numbers);
    for (due, _) in gaps.filter(|(due, number)| due < number) {
        faults.push(SegmentFault::Missing { object: names.ledger_object(due).to_string() }.into());
    }
    let is_whole = match segments.ledger.compare_each().await {
        Ok(()) => true,
        Err(LogError::CorruptLedger { fault }) => {
            // One that readers meet, too, is reported by them.
            if segments.ledger.read().await.is_ok() {
                faults.push(*fault);
            }
            false
        }
        Err(error) => return Err(error),
    };
    for entry in segments.ledger.last_read().await.entries() {
        faults.extend(find_misquote(segments, entry).await);
    }
    let mut runs: BTreeMap<RunId, Vec<Path>> = BTreeMap::new();
    for path in segments.objects.list(&names.runs()).await? {
        match names.run_of(&path) {
            Some(run) => runs.entry(run).or_default().push(path),
            None => faults.extend(foreign_object(&path)),
        }
    }
    let mut compacted_to = Vec::new();
    for path in segments.objects.list(&names.compactions()).await? {
        match names.compaction_of(&path) {
            Some((run, _)) => drop(runs.entry(run).or_default()),
            None => faults.extend(foreign_object(&path)),
        }
        compacted_to.extend(names.directory_of(&path));
    }
    // The ledger named the ends found above before: runs may have begun, and ended, since it was read.
    let known = match segments.ledger.read().await {
        Ok(known) => known,
        Err(LogError::CorruptLedger { .. }) => segments.ledger.last_read().await,
        Err(error) => return Err(error),
    };
    // Runs that it does not name at all are reported below.
    let is_named = |run| known.of(run).next().is_some();
    let has_end = |run, end| known.of(run).any(|known| known.entry.head.seq == end);
    let unnamed =
        compacted_to.into_iter().filter(|(run, end)| is_named(*run) && !has_end(*run, *end));
    let unnamed = unnamed.map(|(run, end)| SegmentFault::UnnamedEnd { run, end }.into());
    faults.extend(unnamed.filter(|_| is_whole));
    for (run, paths) in runs {
        let (numbers, foreign) = numbers_of(&paths);
        faults.extend(foreign);
        let compacted = match segments.find_compaction(run).await {
            Ok(found) => found.map_or(Head::START, |found| found.end().head),
            // It is reported when the run is read.
            Err(LogError::Corrupt { .. }) => continue,
            Err(error) => return Err(error),
        };
        let replaced = numbers.into_iter().map(Seq).filter(|first| *first <= compacted.seq);
        faults.extend(replaced_segments(segments, run, replaced.rev(), compacted).await?);
        if is_whole && !is_named(run) && has_counted(segments, run).await? {
            faults.push(SegmentFault::Unnamed { run }.into());
        }
    }
    Ok(faults)
}

/// True if a run has events that count. (One that cannot be read is reported when the run is read.)
async fn has_counted(segments: &Segments, run: RunId) -> Result<bool, LogError> {
    match segments.end(run).await {
        Ok(end) => Ok(end.head != Head::START),
        Err(LogError::Corrupt { .. }) => Ok(segments.known_end(run).head != Head::START),
        Err(error) => Err(error),
    }
}

/// An event that an object of the ledger repeats and that its run does not have. (A segment that cannot be read is reported
/// when the run is read.)
async fn find_misquote(segments: &Segments, known: &KnownEntry) -> Option<Fault> {
    let run = known.entry.run;
    for event in &known.repeats {
        let quoted = known.repeated_event(event.seq).map(|event| event.hash);
        let of_run = match event.seq {
            seq if seq == known.entry.head.seq => Some(known.entry.head.hash),
            _ => segments.first(run).await.ok().map(|first| first.hash),
        };
        if of_run.is_some() && quoted != of_run {
            let object = segments.names.ledger_object(known.object).to_string();
            let why = format!("it repeats event {} of run {run} as that is not", event.seq);
            return Some(SegmentFault::Changed { object, why }.into());
        }
    }
    None
}

/// The faults of segments that a compaction replaces, and that nobody reads any more. Any of them may be gone.
async fn replaced_segments(
    segments: &Segments,
    run: RunId,
    last_first: impl Iterator<Item = Seq>,
    compacted: Head,
) -> Result<Vec<Fault>, LogError> {
    let mut faults = Vec::new();
    // The end that the segment after the one that is looked at follows.
    let mut next = compacted;
    for first in last_first {
        match segments.segment(run, Place::Object(first), Seq(u64::MAX)).await {
            Ok(segment) => {
                let reaches = segment.footer.reaches;
                if reaches.seq == next.seq && reaches != next {
                    let object = segments.names.segment(run, first).to_string();
                    let why = "its events are not those of the compacted run".to_owned();
                    faults.push(SegmentFault::Changed { object, why }.into());
                }
                next = segment.footer.follows;
            }
            Err(LogError::Corrupt { fault, .. }) => faults.push(*fault),
            Err(error) => return Err(error),
        }
    }
    Ok(faults)
}

/// The numbers of objects, and those that have none.
fn numbers_of(paths: &[Path]) -> (Vec<u64>, Vec<Fault>) {
    let numbers = paths.iter().filter_map(number_of).collect();
    let foreign = paths.iter().filter(|path| number_of(path).is_none());
    (numbers, foreign.filter_map(foreign_object).collect())
}

/// The fault of an object that is not of a log. Files that a system leaves in folders begin with a dot, and are no fault.
fn foreign_object(path: &Path) -> Option<Fault> {
    let is_of_system = path.filename().is_some_and(|name| name.starts_with('.'));
    (!is_of_system).then(|| SegmentFault::Foreign { object: path.to_string() }.into())
}
