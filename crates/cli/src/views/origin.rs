//! Where a run comes from: the run that it is a fork of, or the shards that it is merged from.

use crate::output::{count_of, group_digits};
use retold::event::{EventsLost, ForkedFrom, RunStarted};

/// The runs that a run has answers of, in a sentence without its end; `None` if it began by itself.
pub(crate) fn origin(started: &RunStarted) -> Option<String> {
    if let Some(ForkedFrom { run: parent, before, retry_failed, without }) = started.forked_from {
        let before = before.map_or_else(String::new, |seq| format!(", before seq {seq}"));
        let again = if retry_failed { ", asking its failed calls again" } else { "" };
        let without = without
            .map_or_else(String::new, |seq| format!(", without the answer to its seq {seq}"));
        return Some(format!("forked from run {parent}{before}{without}{again}"));
    }
    if started.merged_from.is_empty() {
        return None;
    }
    let runs: Vec<String> = started.merged_from.iter().map(|run| run.short(8)).collect();
    Some(format!("merged from {}: {}", count_of(runs.len() as u64, "shard"), runs.join(" ")))
}

/// How many stretches of lost events are named.
const LISTED: usize = 8;

/// The damaged run that a run was made of, and what is lost of it, in a sentence without its end.
pub(crate) fn lost_text(lost: &EventsLost) -> String {
    let EventsLost { run, head, lost } = lost;
    let stretch = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    };
    let count = lost.iter().map(|(first, last)| last - first + 1).sum();
    let named: Vec<String> = lost.iter().take(LISTED).map(stretch).collect();
    let more = if lost.len() > LISTED { ", .." } else { "" };
    format!(
        "made of what is left of run {run}, which had {}: {} lost ({}{more})",
        count_of(head.seq.0, "event"),
        group_digits(count),
        named.join(", ")
    )
}
