//! Runs on which copied runs depend, and which the other log does not have.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::again::{quote, spell_commands};
use crate::error::CliError;
use crate::select;
use retold::event::RunStarted;
use retold::exchange::decides_about;
use retold::id::{RunId, Seq};
use retold::log::{Backend, Log, RunHead};
use retold_archive::is_finished;
use retold_plan::NamedPlan;

/// How a run depends on others.
#[derive(Debug, Clone, Copy)]
enum Dependence {
    /// It shares the beginning of another one.
    Fork,
    /// It has the answers of shards.
    Merge,
    /// It has decisions about the answers of another one.
    Decisions,
    /// It was recorded by a plan.
    Plan,
}

/// A copied run, and the runs that the other log needs besides.
pub(super) struct NeededRuns {
    run: RunId,
    dependence: Dependence,
    /// Whether the copied run has ended, so that it asks nothing of them any more.
    is_over: bool,
    /// Those that the log has from which it was copied.
    here: Vec<RunId>,
    /// Those that this log does not have either.
    nowhere: Vec<RunId>,
}

/// The runs that the other log needs, because the copied ones depend on them.
///
/// # Errors
/// [`CliError`] if one of the logs cannot be read.
pub(super) fn needed_runs(
    source: &Log,
    target: &dyn Backend,
    copied: &[RunId],
) -> Result<Vec<NeededRuns>, CliError> {
    let mut reader = source.reader()?;
    let ends = |heads: Vec<RunHead>| -> BTreeMap<RunId, Seq> {
        heads.into_iter().map(|head| (head.run, head.head.seq)).collect()
    };
    let (ours, theirs) = (ends(reader.runs()?), ends(target.reader()?.runs()?));
    let mut found = Vec::new();
    for run in copied {
        let Some((dependence, mut others)) = others(&select::run_start(reader.as_mut(), *run)?)
        else {
            continue;
        };
        others.retain(|other| !theirs.contains_key(other));
        let (here, nowhere): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|other| ours.contains_key(other));
        if !here.is_empty() || !nowhere.is_empty() {
            let is_over = ours.get(run).is_some_and(|end| is_finished(reader.as_mut(), *run, *end));
            found.push(NeededRuns { run: *run, dependence, is_over, here, nowhere });
        }
    }
    Ok(found)
}

/// The runs on which a run depends.
fn others(started: &RunStarted) -> Option<(Dependence, Vec<RunId>)> {
    if let Some(of) = decides_about(started) {
        return Some((Dependence::Decisions, vec![of]));
    }
    match &started.forked_from {
        Some(forked) => Some((Dependence::Fork, vec![forked.run])),
        None if started.merged_from.is_empty() => {
            NamedPlan::of(started).map(|plan| (Dependence::Plan, vec![plan.run]))
        }
        None => Some((Dependence::Merge, started.merged_from.clone())),
    }
}

impl NeededRuns {
    /// The missing runs, and the command that copies them.
    pub(super) fn text(&self, to: &Path) -> String {
        let NeededRuns { run, dependence, is_over, here, nowhere } = self;
        let ids = |runs: &[RunId]| -> Vec<String> { runs.iter().map(|run| run.short(8)).collect() };
        let all = ids(&[&here[..], nowhere].concat());
        let (runs, are) = match all.len() {
            1 => (format!("run {}", all[0]), "is"),
            _ => (format!("runs {}", all.join(", ")), "are"),
        };
        let depends = match dependence {
            Dependence::Fork => "a fork of",
            Dependence::Merge => "merged from",
            Dependence::Decisions => "of decisions about the answers of",
            Dependence::Plan => "recorded by the plan of",
        };
        let lacks = match (dependence, is_over) {
            (Dependence::Decisions, _) => "they have no effect there",
            (Dependence::Plan, _) => "nobody can tell there whether it is as planned",
            (_, true) => {
                "it has all of its answers, but what they were taken from cannot be shown there"
            }
            (_, false) => "it can be replayed, but not resumed",
        };
        let to_name = to.display();
        let mut text = format!(
            "note: run {} is {depends} {runs}, which {are} not in {to_name}: {lacks}\n",
            run.short(8)
        );
        if !nowhere.is_empty() {
            text.push_str(&format!(
                "  the log from which it was copied does not have {} either\n",
                ids(nowhere).join(", ")
            ));
        }
        if let Some(to) = quote(&to_name.to_string()).filter(|_| !here.is_empty()) {
            let command =
                format!("  `retold copy {} --to {to}` copies them\n", ids(here).join(" "));
            text.push_str(&spell_commands(&command));
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let NeededRuns { run, here, nowhere, .. } = self;
        json!({"run": run, "needs": here, "needs_elsewhere": nowhere})
    }
}
