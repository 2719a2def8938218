//! What shows that the ledger had more: runs that went on after their first commit, which they do only once the ledger names
//! them.

use std::collections::BTreeMap;

use object_store::path::Path;
use retold::id::RunId;
use retold::log::LogError;

use crate::names::{Names, number_of};
use crate::objects::Objects;
use crate::segment::footer;

/// Whether a log whose ledger has no objects once had one.
///
/// # Errors
/// [`LogError`] if the store cannot be read.
pub(crate) async fn is_lost(objects: &Objects, names: &Names) -> Result<bool, LogError> {
    let listing = objects.list(&names.runs(), None).await?;
    let mut runs: BTreeMap<RunId, Vec<&Path>> = BTreeMap::new();
    for path in &listing.names {
        if let Some(run) = names.run_of(path) {
            runs.entry(run).or_default().push(path);
        }
    }
    for (run, paths) in runs {
        let numbers: Vec<u64> = paths.into_iter().filter_map(number_of).collect();
        if has_gone_on(objects, names, run, &numbers).await? {
            return Ok(true);
        }
    }
    // Only runs that the ledger names are compacted.
    Ok(!objects.list(&names.compactions(), None).await?.is_empty())
}

/// Whether a run has segments after its first commit. A segment that cannot be read is reported when the run is read.
///
/// # Errors
/// [`LogError`] if the store cannot be read.
pub(crate) async fn has_gone_on(
    objects: &Objects,
    names: &Names,
    run: RunId,
    numbers: &[u64],
) -> Result<bool, LogError> {
    let Some((last, before)) = numbers.split_last() else { return Ok(false) };
    for number in before {
        let path = names.segment(run, *number);
        let bytes = objects.get(&path).await?.unwrap_or_default();
        match footer(path.as_ref(), (run, *number), &bytes) {
            Ok(footer) if footer.more => {}
            _ => return Ok(last > number),
        }
    }
    Ok(false)
}
