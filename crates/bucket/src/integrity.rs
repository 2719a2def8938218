//! Looks at all objects of a log: what no chain covers.

use std::collections::BTreeMap;

use object_store::path::Path;
use retold::id::RunId;
use retold::log::{Fault, LogError, SegmentFault};

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
    }
    Ok(faults)
}

/// The numbers of objects, and those that have none.
fn numbered(paths: &[Path]) -> (Vec<u64>, Vec<Fault>) {
    let numbers = paths.iter().filter_map(number_of).collect();
    let foreign = paths.iter().filter(|path| number_of(path).is_none()).map(foreign_object);
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
