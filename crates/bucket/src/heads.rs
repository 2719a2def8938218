//! The list of runs.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use retold::id::RunId;
use retold::log::{Head, LogError, RunHead};

use crate::ledger::KnownLedger;
use crate::objects::TOGETHER;
use crate::segments::Segments;

/// The runs that a ledger has, in the order in which they came into the log.
pub(crate) async fn heads(
    segments: &Arc<Segments>,
    ledger: Result<Arc<KnownLedger>, LogError>,
) -> Result<Vec<RunHead>, LogError> {
    let heads = segments.runs_of(ledger).await?.into_iter().map(|run| {
        let segments = segments.clone();
        async move { head(&segments, run).await }
    });
    let heads = futures::stream::iter(heads).buffered(TOGETHER);
    Ok(heads.try_collect::<Vec<_>>().await?.into_iter().flatten().collect())
}

/// The head of a run: from the ledger, if it has ended, and else from its last segment.
async fn head(segments: &Segments, run: RunId) -> Result<Option<RunHead>, LogError> {
    let ledger = segments.ledger.last_read().await;
    let last = ledger.of(run).next_back();
    if let Some(last) = last.filter(|last| last.is_the_end()) {
        return Ok(Some(RunHead { run, started: last.started, head: last.entry.head }));
    }
    let head = match segments.end(run).await {
        Ok(end) => end.head,
        // The head is shown as far as it is known; reading the run reports the damage.
        Err(LogError::Corrupt { .. }) => segments.known_end(run).head,
        Err(error) => return Err(error),
    };
    let started = match last {
        Some(known) => known.started,
        None if head == Head::START => return Ok(None),
        None => segments.first(run).await?.time,
    };
    Ok(Some(RunHead { run, started, head }))
}
