//! Compares an original log's statements about its society with ours.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::files::{EpochSummary, LogRow as Logged};
use super::settings::OriginalTurn;
use retold::counted::count_of;
use retold::escaping::printable;
use retold_study::original::{OriginalComparison, OriginalError, OriginalRow, Outputs, Rows};

/// A turn that was refused in the original.
pub(super) struct RefusedTurn {
    line: u64,
    entry: OriginalTurn,
    /// Whether that world carried out such an action elsewhere in the log. If so, it recognised
    /// this one, and its own rules refused it.
    pub(super) is_known_there: bool,
}

/// The turns that were refused in the original.
pub(super) fn refused_turns(rows: &[(u64, Logged)]) -> Vec<RefusedTurn> {
    let done: BTreeSet<String> = rows
        .iter()
        .filter(|(_, row)| row.success)
        .map(|(_, row)| row.action_type.to_string())
        .collect();
    let refused = rows.iter().filter(|(_, row)| !row.success && !row.is_death());
    let refused = refused.map(|(line, row)| RefusedTurn {
        line: *line,
        entry: row.entry(),
        is_known_there: done.contains(&row.action_type.to_string()),
    });
    refused.collect()
}

/// How many differences are listed; the others are counted.
const LISTED: usize = 100;

/// Compares the living agents and the trades in each epoch. Every turn that was refused in the
/// original must be rejected here, unless that world's own rules refused it, and must have changed
/// nothing.
pub(super) fn compare(
    ours: Outputs<'_>,
    refused: &[RefusedTurn],
    summary: Option<&[EpochSummary]>,
) -> OriginalComparison {
    let mut comparison = OriginalComparison::default();
    let done = turns(ours, refused, &mut comparison)
        .and_then(|()| epochs(ours, summary.unwrap_or(&[]), &mut comparison));
    comparison.read(done);
    comparison
}

fn turns(
    ours: Outputs<'_>,
    refused: &[RefusedTurn],
    comparison: &mut OriginalComparison,
) -> Result<(), OriginalError> {
    let rejected = rejected_agents(&ours.table("invalid_actions.csv")?);
    for RefusedTurn { line, entry, is_known_there } in refused {
        let OriginalTurn { run, epoch, agent_id, action_type, before, after, .. } = entry;
        let who = printable(&format!("line {line}, {agent_id} in epoch {epoch} of run {run}"), 120);
        let what = printable(action_type, 60);
        comparison.compared += 2;
        let is_here = rejected.contains(&(run.to_string(), epoch.to_string(), agent_id.clone()));
        if !is_here && !is_known_there {
            comparison
                .differences
                .push(format!("{who}: {what:?} was refused there and is accepted here"));
        }
        for (what, had, has) in [
            ("energy", before.energy, after.energy),
            ("influence", before.influence, after.influence),
        ] {
            if had != has {
                comparison.differences.push(format!(
                    "{who}: the turn was refused there, and {what} went from {had} to {has}"
                ));
            }
        }
    }
    let more = comparison.differences.len().saturating_sub(LISTED);
    if more > 0 {
        comparison.differences.truncate(LISTED);
        comparison
            .differences
            .push(format!("{more} more differences of turns that were refused there"));
    }
    Ok(())
}

fn epochs(
    ours: Outputs<'_>,
    summary: &[EpochSummary],
    comparison: &mut OriginalComparison,
) -> Result<(), OriginalError> {
    let ours = ours.json("summary.json")?;
    let mut left: BTreeMap<&str, u64> = BTreeMap::new();
    for EpochSummary { run, epoch, alive_agents, transaction_count, others } in summary {
        for (name, _) in others.iter().filter(|(name, value)| !is_empty(name, value)) {
            *left.entry(name).or_default() += 1;
        }
        let mut epochs = ours["epochs"].as_array().into_iter().flatten();
        let mine = epochs.find(|e| e["run"] == *run && e["epoch"] == *epoch);
        for (key, value) in [("alive", alive_agents), ("trades", transaction_count)] {
            let mine = mine.map_or(&Value::Null, |e| &e[key]);
            comparison.value(*mine == *value, || {
                format!("run {run}, epoch {epoch}: {key} is {mine} by the log and {value} in the summary")
            });
        }
    }
    comparison.not_compared.extend(left.into_iter().map(|(name, epochs)| {
        let name = printable(name, 60);
        format!("{name} of {}: {NOT_IN_THE_LOG}", count_of(epochs, "epoch"))
    }));
    Ok(())
}

/// Why a field of a summary is not compared.
const NOT_IN_THE_LOG: &str =
    "the rules by which an epoch ends in that world, on which it depends, are not in the log";

/// Whether a field of a summary says nothing about its epoch: it has no value, or names the run.
fn is_empty(name: &str, value: &Value) -> bool {
    let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    is_nothing || matches!(name, "run_id" | "operator")
}

/// The agents that were rejected here, by run, epoch and agent.
fn rejected_agents(rows: &Rows) -> BTreeSet<(String, String, String)> {
    let who = |row: OriginalRow<'_>| {
        (row.text("run").to_owned(), row.text("epoch").to_owned(), row.text("agent_id").to_owned())
    };
    rows.iter().map(who).collect()
}
