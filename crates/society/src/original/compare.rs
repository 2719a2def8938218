//! Compares an original log's statements about its society with ours.

use std::collections::BTreeSet;

use serde_json::Value;

use super::files::{Row as Logged, Summary};
use super::settings::Entry;
use retold::escaping::printable;
use retold_study::original::{Comparison, OriginalError, Outputs, Row, Rows};

/// A turn that was refused in the original.
pub(super) struct Refused {
    line: u64,
    entry: Entry,
    /// Whether that world carried out such an action elsewhere in the log. If so, it recognised
    /// this one, and its own rules refused it.
    pub(super) is_known_there: bool,
}

/// The turns that were refused in the original.
pub(super) fn refused(rows: &[(u64, Logged)]) -> Vec<Refused> {
    let done: BTreeSet<String> = rows
        .iter()
        .filter(|(_, row)| row.success)
        .map(|(_, row)| row.action_type.to_string())
        .collect();
    let refused = rows.iter().filter(|(_, row)| !row.success && !row.is_death());
    let refused = refused.map(|(line, row)| Refused {
        line: *line,
        entry: row.entry(),
        is_known_there: done.contains(&row.action_type.to_string()),
    });
    refused.collect()
}

/// How many differences are listed; the others are counted.
const LISTED: usize = 100;

/// Compares which agents were alive and what was traded in each epoch. Every turn that was refused
/// in the original must be rejected here, unless that world's own rules refused it, and must have
/// changed nothing.
pub(super) fn compare(
    ours: Outputs<'_>,
    refused: &[Refused],
    summary: Option<&[Summary]>,
) -> Comparison {
    let mut comparison = Comparison::default();
    let done = turns(ours, refused, &mut comparison)
        .and_then(|()| epochs(ours, summary.unwrap_or(&[]), &mut comparison));
    comparison.read(done);
    comparison
}

fn turns(
    ours: Outputs<'_>,
    refused: &[Refused],
    comparison: &mut Comparison,
) -> Result<(), OriginalError> {
    let rejected = rejected(&ours.table("invalid_actions.csv")?);
    for Refused { line, entry, is_known_there } in refused {
        let Entry { run, epoch, agent_id, action_type, before, after, .. } = entry;
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
    summary: &[Summary],
    comparison: &mut Comparison,
) -> Result<(), OriginalError> {
    let ours = ours.json("summary.json")?;
    for Summary { run, epoch, alive_agents, transaction_count } in summary {
        let mut epochs = ours["epochs"].as_array().into_iter().flatten();
        let mine = epochs.find(|e| e["run"] == *run && e["epoch"] == *epoch);
        for (key, value) in [("alive", alive_agents), ("trades", transaction_count)] {
            let mine = mine.map_or(&Value::Null, |e| &e[key]);
            comparison.value(*mine == *value, || {
                format!("run {run}, epoch {epoch}: {key} is {mine} by the log and {value} in the summary")
            });
        }
    }
    Ok(())
}

/// The agents that were rejected here, by run, epoch and agent.
fn rejected(rows: &Rows) -> BTreeSet<(String, String, String)> {
    let who = |row: Row<'_>| {
        (row.text("run").to_owned(), row.text("epoch").to_owned(), row.text("agent_id").to_owned())
    };
    rows.iter().map(who).collect()
}
