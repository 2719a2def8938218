//! Commits that the ledger does not have.

use std::collections::BTreeMap;
use std::sync::Arc;

use retold::id::{RunId, Seq};
use retold::log::{LogError, UncountedEvents};

use crate::names::number_of;
use crate::segment::Segment;
use crate::segments::Segments;

/// The last commits of a run, or of all, that do not count, since the ledger does not have their entries: see
/// [`run_end`](crate::run_end). An import that is not complete announces nothing yet.
pub(crate) async fn uncounted_events(
    segments: &Arc<Segments>,
    run: Option<RunId>,
) -> Result<Vec<UncountedEvents>, LogError> {
    let names = &segments.names;
    let listed = run.map_or_else(|| names.runs(), |run| names.run(run));
    let mut lasts: BTreeMap<RunId, u64> = BTreeMap::new();
    for path in segments.objects.list(&listed).await? {
        if let Some((run, number)) = segments.names.run_of(&path).zip(number_of(&path)) {
            lasts.insert(run, number);
        }
    }
    let mut found = Vec::new();
    for (run, last) in lasts {
        if last <= segments.known_end(run).head.seq.0 {
            continue;
        }
        let end = match segments.end(run).await {
            Ok(end) => end,
            // Verification reports the damage.
            Err(LogError::Corrupt { .. }) => continue,
            Err(error) => return Err(error),
        };
        if end.undecided.is_some() {
            let last = segments.last(run, end).await?;
            found.extend(announced_events(run, &last, end.head.seq.next()));
        }
    }
    Ok(found)
}

/// The events of a last segment that are announced but do not count, unless its writer is alive.
fn announced_events(run: RunId, segment: &Segment, first: Seq) -> Option<UncountedEvents> {
    let writer = segment.last_writer();
    let entries = &segment.footer.entries;
    if entries.is_empty() || writer.is_alive == Some(true) {
        return None;
    }
    let changes = entries.iter().map(|entry| entry.what.as_str().into()).collect();
    Some(UncountedEvents { run, first, last: segment.footer.last(), changes, writer })
}
