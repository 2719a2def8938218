//! Decisions that an experiment derived from earlier answers without asking a model, as `audit` shows them: computed
//! again from the facts before them.

use serde_json::json;

use crate::error::CliError;
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::runs::settings::experiment_of;
use crate::select::{self, RunSelection};
use retold::escaping::printable;
use retold::id::RunId;
use retold::members::Members;
use retold::run::{Report, RunRecord};
use retold_wire::PROGRAM;

/// How a derived decision came about.
pub(crate) struct DerivedDecision {
    run: RunId,
    report: Report,
    simulated: bool,
    checked: u64,
}

/// Computes a derived decision again. `None` if the run has none with this name.
///
/// # Errors
/// [`CliError`] if the run cannot be read, or was recorded by another release of its experiment.
pub(crate) fn read(
    selected: &RunSelection,
    name: &str,
    global: &Global,
) -> Result<Option<DerivedDecision>, CliError> {
    let mut reader = selected.checked_reader()?;
    let record = RunRecord::read(&mut reader, selected.run)?;
    if !record.started.is_of_experiment() || record.started.experiment == PROGRAM {
        return Ok(None);
    }
    let experiment = experiment_of(global.studies, &record)?;
    let simulated = record.started.is_simulated();
    let Some(report) = experiment.derived_any(name, &record)? else { return Ok(None) };
    let checked = reader.checked_events();
    Ok(Some(DerivedDecision { run: selected.run, report, simulated, checked }))
}

impl DerivedDecision {
    /// Shows it.
    ///
    /// # Errors
    /// [`CliError`] if it cannot be printed.
    pub(crate) fn show(self, output: &Output) -> Result<(), CliError> {
        let DerivedDecision { run, report, simulated, checked } = self;
        if output.is_json() {
            let mut object = report.json;
            object.set("run", json!(run));
            object.set("simulated", simulated.into());
            object.set("checked_events", checked.into());
            return output.object(&object);
        }
        let said = if simulated { select::SIMULATED } else { "" };
        output.text(&format!("{said}{}{}", report.text, select::checked_line(checked, run)))
    }
}

/// Whether a run has derived decisions.
///
/// # Errors
/// [`CliError`] if the run cannot be read, or was recorded by another release of its experiment.
pub(crate) fn has_any(selected: &RunSelection, global: &Global) -> Result<bool, CliError> {
    let mut reader = selected.checked_reader()?;
    let record = RunRecord::read(&mut reader, selected.run)?;
    Ok(!names(&record, global)?.is_empty())
}

fn names(record: &RunRecord, global: &Global) -> Result<Vec<String>, CliError> {
    match record.started.is_of_experiment() {
        true => Ok(experiment_of(global.studies, record)?.derived_names_any(&record.facts)?),
        false => Ok(Vec::new()),
    }
}

/// Lists the names of a run's derived decisions.
///
/// # Errors
/// [`CliError`] if the run cannot be read, or was recorded by another release of its experiment.
pub(crate) fn list(
    selected: &RunSelection,
    global: &Global,
    output: &Output,
) -> Result<(), CliError> {
    let mut reader = selected.checked_reader()?;
    let record = RunRecord::read(&mut reader, selected.run)?;
    let names = names(&record, global)?;
    let decisions = record.decisions;
    if output.is_json() {
        return output.object(&json!({
            "run": selected.run, "derived": names, "decisions": decisions,
            "checked_events": reader.checked_events(),
        }));
    }
    let mut text = format!("{}\n", count_of(names.len() as u64, "derived decision"));
    names.iter().for_each(|name| text.push_str(&format!("  {}\n", printable(name, 100))));
    let run = selected.run.short(8);
    text.push_str(&crate::again::spell_commands(&format!(
        "{} about answers: `retold log {run} --kind DecisionMade` lists them\n",
        count_of(decisions, "decision")
    )));
    text.push_str(&select::checked_line(reader.checked_events(), selected.run));
    output.text(&text)
}
