//! The calls and the cost of the runs in a list. They are found by reading the runs, so only as many of the newest
//! are read as take about a second.

use std::collections::BTreeMap;

use crate::error::CliError;
use crate::global::Global;
use crate::limits::prices;
use retold::id::RunId;
use retold::log::{CheckedReader, LogError, RunHead};
use retold::totals::{Calls, Totals};
use retold_archive::bucket;

/// The most events that are read for a list. A hundred thousand take about half a second.
const MOST: u64 = 100_000;

/// The same in a bucket, where events are unpacked and checked as they are read.
const MOST_IN_BUCKET: u64 = 50_000;

/// How many events could be read while a run in a bucket is opened, which takes a few requests.
const OPENING: u64 = 5_000;

/// The calls of a run that asked a model, and their cost.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallSpending {
    pub(super) calls: u64,
    /// The other calls: their answers were recorded before.
    pub(super) reused: u64,
    pub(super) failed: u64,
    /// In US dollars; `None` if a price or a count of tokens is missing, or if nobody was paid.
    pub(super) dollars: Option<f64>,
    /// Of a merged run together with its shards; `None` if that of one of them is not known, or it is not merged.
    pub(super) with_shards: Option<f64>,
}

/// The calls of the newest runs, or why they cannot be read: nothing is counted of a run in which an event is missing or not as it
/// was written. Longer runs than may be read are left out.
pub(super) fn of_newest(
    reader: &mut CheckedReader,
    heads: &[RunHead],
    global: &Global,
) -> Result<BTreeMap<RunId, Result<CallSpending, LogError>>, CliError> {
    let prices = prices(None)?;
    let (mut left, opening) = match bucket(&global.log)? {
        Some(_) => (MOST_IN_BUCKET, OPENING),
        None => (MOST, 0),
    };
    let mut found = BTreeMap::new();
    let (mut paid, mut merged) = (BTreeMap::new(), Vec::new());
    for RunHead { run, head, .. } in heads.iter().rev() {
        let Some(after) = left.checked_sub(opening + head.seq.0) else { continue };
        left = after;
        let totals = match Totals::read(reader, *run, &prices) {
            Ok(totals) => totals,
            Err(error) => {
                found.insert(*run, Err(error));
                continue;
            }
        };
        let all = totals.figures(global.studies.parsers()).all;
        // Where the beginning is missing, nobody can tell.
        let started = retold::run::run_start(reader, *run).ok();
        let is_known =
            all.cost.is_complete && started.as_ref().is_some_and(|started| !started.is_simulated());
        let dollars = all.cost.dollars.filter(|_| is_known);
        if is_known {
            // A merged run may have asked nothing itself.
            paid.insert(*run, dollars.unwrap_or(0.0));
        }
        let shards = started.map(|started| started.merged_from).unwrap_or_default();
        if !shards.is_empty() {
            merged.push((*run, shards));
        }
        let Calls { asked, reused, failed, .. } = all.counts.calls;
        let calls = asked - reused;
        found.insert(*run, Ok(CallSpending { calls, reused, failed, dollars, with_shards: None }));
    }
    for (run, shards) in merged {
        let all = shards.iter().chain([&run]).map(|run| paid.get(run).copied());
        if let Some(Ok(spending)) = found.get_mut(&run) {
            spending.with_shards = all.sum();
        }
    }
    Ok(found)
}
