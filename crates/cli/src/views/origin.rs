//! Where a run comes from: the run that it is a fork of, or the shards that it is merged from.

use crate::output::count_of;
use retold::event::{ForkedFrom, RunStarted};

/// The runs that a run has answers of, in a sentence without its end; `None` if it began by itself.
pub(crate) fn origin(started: &RunStarted) -> Option<String> {
    if let Some(ForkedFrom { run: parent, before, retry_failed }) = started.forked_from {
        let before = before.map_or_else(String::new, |seq| format!(", before seq {seq}"));
        let again = if retry_failed { ", asking its failed calls again" } else { "" };
        return Some(format!("forked from run {parent}{before}{again}"));
    }
    if started.merged_from.is_empty() {
        return None;
    }
    let runs: Vec<String> = started.merged_from.iter().map(|run| run.short(8)).collect();
    Some(format!("merged from {}: {}", count_of(runs.len() as u64, "shard"), runs.join(" ")))
}
