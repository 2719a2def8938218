//! Looks at all objects of a log: what no chain covers.

use std::collections::BTreeMap;

use object_store::path::Path;
use retold::id::{RunId, Seq};
use retold::log::{Fault, LogError, SegmentFault};

use crate::ledger::KnownEntry;
use crate::names::number_of;
use crate::segments::Segments;

/// Objects that are missing, and objects that are not of a log.
///
/// # Errors
/// [`LogError`] if the store cannot be read.
pub(crate) async fn faults(segments: &Segments) -> Result<Vec<Fault>, LogError> {
    let names = &segments.names;
    let mut faults = Vec::new();
    let ledger = segments.objects.list(&names.ledger(), None).await?;
    let (numbers, foreign) = numbered(&ledger);
    faults.extend(foreign);
    faults.extend(gaps(&numbers, &|number| names.ledger_object(number)));
    let known = segments.ledger.last_read().await;
    for entry in known.entries() {
        faults.extend(misquoted(segments, entry).await);
    }
    let mut runs: BTreeMap<Option<RunId>, Vec<Path>> = BTreeMap::new();
    for path in segments.objects.list(&names.runs(), None).await? {
        runs.entry(names.run_of(&path)).or_default().push(path);
    }
    for (run, paths) in runs {
        let Some(run) = run else {
            faults.extend(paths.iter().map(foreign_object));
            continue;
        };
        let (numbers, foreign) = numbered(&paths);
        faults.extend(foreign);
        faults.extend(gaps(&numbers, &|number| names.segment(run, number)));
        if known.of(run).next().is_none() && has_gone_on(segments, run, &numbers).await {
            faults.push(SegmentFault::Unnamed { run }.into());
        }
    }
    Ok(faults)
}

/// An event that an object of the ledger repeats and that its run does not have. (A segment that cannot be read is reported
/// when the run is read.)
async fn misquoted(segments: &Segments, known: &KnownEntry) -> Option<Fault> {
    let run = known.entry.run;
    for event in &known.repeats {
        let quoted = known.repeated(event.seq).map(|event| event.hash);
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

/// Whether a run has segments after its first commit. A segment that cannot be read is reported when the run is read.
async fn has_gone_on(segments: &Segments, run: RunId, numbers: &[u64]) -> bool {
    for number in numbers {
        match segments.segment(run, *number, Seq(1)).await {
            Ok(segment) if segment.footer.more => {}
            _ => return numbers.last().is_some_and(|last| last > number),
        }
    }
    false
}

/// The numbers of objects, and those that have none.
fn numbered(paths: &[Path]) -> (Vec<u64>, Vec<Fault>) {
    let numbers = paths.iter().filter_map(number_of).collect();
    // What a system leaves in folders begins with a dot.
    let is_foreign = |path: &&Path| {
        number_of(path).is_none() && path.filename().is_none_or(|name| !name.starts_with('.'))
    };
    let foreign = paths.iter().filter(is_foreign).map(foreign_object);
    (numbers, foreign.collect())
}

fn foreign_object(path: &Path) -> Fault {
    SegmentFault::Foreign { object: path.to_string() }.into()
}

/// The objects that are missing before the last.
fn gaps(numbers: &[u64], name: &dyn Fn(u64) -> Path) -> Vec<Fault> {
    let mut due = 1;
    let mut faults = Vec::new();
    for number in numbers {
        let missing = (due..*number).map(|n| SegmentFault::Missing { object: name(n).to_string() });
        // One that is named stands for those after it.
        faults.extend(missing.take(1).map(Fault::from));
        due = number + 1;
    }
    faults
}
