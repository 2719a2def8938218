//! Looks for requests of which only the hash is known, or its beginning.

use std::collections::BTreeMap;

use futures::{StreamExt, TryStreamExt};
use retold::id::{PromptHash, RunId, Seq};
use retold::log::LogError;

use crate::compaction::beginnings;
use crate::segments::{Place, ReadSegment, Segments};

/// The number of runs that are searched at once: the requests found in each are in memory.
const RUNS_TOGETHER: usize = 4;

/// Up to `limit` requests whose hashes begin with these hex digits, each with a segment that has it. The runs are searched
/// from the last one to the first, but for `near`, which comes before them.
///
/// # Errors
/// [`LogError`] if a segment cannot be read.
pub(crate) async fn requests(
    segments: &Segments,
    prefix: &str,
    limit: usize,
    near: Option<RunId>,
) -> Result<BTreeMap<PromptHash, ReadSegment>, LogError> {
    let mut found = BTreeMap::new();
    let Some(range) = beginnings(prefix) else { return Ok(found) };
    let all = segments.runs().await?.into_iter().rev().filter(|run| Some(*run) != near);
    let runs = near.into_iter().chain(all);
    let searches = runs.map(|run| of_run(segments, run, prefix, range));
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

/// The requests of a run. Of a run that was compacted, those segments are read that may have one.
async fn of_run(
    segments: &Segments,
    run: RunId,
    prefix: &str,
    range: (u32, u32),
) -> Result<BTreeMap<PromptHash, ReadSegment>, LogError> {
    let end = segments.end_at_first(run).await?;
    let compaction = segments.usable_compaction(run).await?;
    let mut places = Vec::new();
    if let Some(compaction) = &compaction {
        let numbers = segments.segments_asking(compaction, range).await?;
        let up_to = compaction.end().head.seq;
        places.extend(numbers.into_iter().map(|number| Place::Compacted(up_to, number)));
    }
    let compacted = compaction.map_or(0, |compaction| compaction.end().segments);
    places.extend((compacted + 1..=end.segments).map(Place::Object));
    let mut found = BTreeMap::new();
    for place in places {
        let segment = segments.segment(run, place, Seq(1)).await?;
        let read = ReadSegment { place, segment };
        let has = |hash: &&PromptHash| hash.to_string().starts_with(prefix);
        found.extend(read.segment.requests.keys().filter(has).map(|hash| (*hash, read.clone())));
    }
    Ok(found)
}
