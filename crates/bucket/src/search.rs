//! Looks for requests of which only the hash is known, or its beginning.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt};
use retold::id::{PromptHash, RunId, Seq};
use retold::log::LogError;
use retold::prompt::Request;

use crate::segments::Segments;

/// The number of runs that are searched at once: the requests found in each are in memory.
const RUNS_TOGETHER: usize = 4;

/// Up to `limit` requests whose hashes begin with these hex digits. The runs are searched
/// from the last one to the first, but for `near`, which comes before them.
pub(crate) async fn requests(
    segments: &Segments,
    prefix: &str,
    limit: usize,
    near: Option<RunId>,
) -> Result<BTreeMap<PromptHash, Request>, LogError> {
    let mut found = BTreeMap::new();
    let all = segments.runs().await?.into_iter().rev().filter(|run| Some(*run) != near);
    let runs = near.into_iter().chain(all);
    let searches = runs.map(|run| of_run(segments, run, prefix));
    let mut searches = futures::stream::iter(searches).buffered(RUNS_TOGETHER);
    while found.len() < limit
        && let Some(of_run) = searches.try_next().await?
    {
        found.extend(of_run);
    }
    while found.len() > limit {
        found.pop_last();
    }
    Ok(found)
}

/// The requests of a run.
async fn of_run(
    segments: &Segments,
    run: RunId,
    prefix: &str,
) -> Result<BTreeMap<PromptHash, Request>, LogError> {
    let end = segments.end_by_ledger(run).await?;
    let mut found = BTreeMap::new();
    let mut next = match end.head.seq {
        Seq(0) => None,
        _ => Some(segments.holding(run, Seq(1)).await?),
    };
    while let Some(place) = next {
        let segment = segments.segment(run, place, Seq(1)).await?;
        for (hash, request) in &segment.requests {
            if hash.to_string().starts_with(prefix) {
                found.insert(*hash, request.clone());
            }
        }
        next = segments.after(run, place);
    }
    Ok(found)
}
