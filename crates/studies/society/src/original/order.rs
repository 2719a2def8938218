//! The order of a log's lines, and missing lines.

use std::collections::{BTreeMap, BTreeSet};

use super::files::LogRow;
use retold::escaping::printable;

/// How many gaps are reported one by one; the others are counted.
const TOLD: usize = 20;

/// Sorts the rows chronologically, by run, epoch and turn; returns the lines that followed a later
/// one.
pub(super) fn sort(rows: &mut [(u64, LogRow)]) -> Vec<u64> {
    let when = |row: &LogRow| (row.run, row.epoch, row.turn);
    let mut latest = (0, 0, 0);
    let misplaced = rows.iter().filter(|(_, row)| {
        let is_late = when(row) < latest;
        latest = latest.max(when(row));
        is_late
    });
    let misplaced = misplaced.map(|(line, _)| *line).collect();
    rows.sort_by_key(|(_, row)| when(row));
    misplaced
}

/// Turns that must have been taken but are in no line, each with the line near which it is missing:
/// those of an agent that acted before and after an epoch but not in it, and those between two
/// turns of an epoch. The last turn of an agent, or of an epoch, may be missing without a trace.
/// `rows` are in order.
pub(super) fn missing(rows: &[(u64, LogRow)]) -> Vec<String> {
    let mut gaps = Vec::new();
    let mut without = BTreeSet::new();
    let mut latest: BTreeMap<(u32, &str), u32> = BTreeMap::new();
    let mut before: Option<&LogRow> = None;
    let mut skipped = Vec::new();
    for (line, row) in rows {
        let LogRow { run, epoch, turn, .. } = row;
        let last = before.filter(|b| (b.run, b.epoch) == (*run, *epoch)).map(|b| b.turn);
        if let Some(last) = last.filter(|last| turn - last > 1) {
            let gap = format!(
                "turns {last} and {turn} of epoch {epoch} of run {run} follow each other: what is between them \
                 is missing before line {line}"
            );
            skipped.push(((*run, *epoch), gap));
        }
        before = Some(row);
        if row.is_death() {
            continue;
        }
        let acted = latest.insert((*run, &row.agent_id), *epoch);
        if let Some(last) = acted.filter(|last| epoch - last > 1) {
            without.extend((last + 1..*epoch).take(TOLD).map(|epoch| (*run, epoch)));
            let epochs = match (last + 1, epoch - 1) {
                (first, last) if first == last => format!("epoch {first}"),
                (first, last) => format!("epochs {first} to {last}"),
            };
            let agent = printable(&row.agent_id, 40);
            gaps.push(format!(
                "a turn of {agent} in {epochs} of run {run}: missing before line {line}"
            ));
        }
    }
    // A missing line is reported once.
    gaps.extend(skipped.into_iter().filter(|(at, _)| !without.contains(at)).map(|(_, gap)| gap));
    let more = gaps.len().saturating_sub(TOLD);
    gaps.truncate(TOLD);
    if more > 0 {
        gaps.push(format!("{more} more turns that are missing"));
    }
    gaps
}
