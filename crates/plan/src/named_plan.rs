//! The plan that a run names.

use retold::event::{PLAN, RunStarted};
use retold::id::RunId;
use retold::log::{Head, LogError, Reader};
use retold::members::Members;
use retold::run::run_start;
use retold_figures::FigureDefinition;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::registered::RegisteredPlan;

/// The setting of a run under which it names its plan. No prompt is made from it.
const PLAN_SETTING: &str = "plan";

/// The plan by which a run is recorded: with its head, so that no other plan can take its place later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPlan {
    /// The run that registered it.
    pub run: RunId,
    /// The end of that run.
    pub head: Head,
}

impl NamedPlan {
    /// The plan that a run names, if it names one.
    pub fn of(started: &RunStarted) -> Option<Self> {
        let is_plan = started.experiment == PLAN;
        let named = started.settings.get(PLAN_SETTING).filter(|_| !is_plan)?;
        serde_json::from_value(named.clone()).ok()
    }

    /// Names it in the settings of a run that begins.
    pub fn record(self, started: &mut RunStarted) {
        started.settings.set(PLAN_SETTING, json!(self));
    }
}

/// The figures of the plan that runs name; none if they do not name the same one, or the log does not have it.
///
/// # Errors
/// [`LogError`] if the log cannot be read.
pub fn planned_figures(
    reader: &mut dyn Reader,
    runs: &[RunId],
) -> Result<Vec<FigureDefinition>, LogError> {
    let mut named = Vec::new();
    for run in runs {
        named.push(NamedPlan::of(&run_start(reader, *run)?).map(|plan| plan.run));
    }
    let Some(Some(plan)) = named.first().copied() else { return Ok(Vec::new()) };
    if named.iter().any(|other| *other != Some(plan)) {
        return Ok(Vec::new());
    }
    let started = match run_start(reader, plan) {
        Ok(started) => started,
        Err(LogError::NoSuchRun { .. }) => return Ok(Vec::new()),
        Err(error) if error.is_damage() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let hypotheses = RegisteredPlan::of(&started).map(|plan| plan.hypotheses).unwrap_or_default();
    Ok(hypotheses.iter().filter_map(|planned| planned.figure.parse().ok()).collect())
}
