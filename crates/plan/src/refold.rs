//! The facts of a run with other decisions about its answers.

use std::collections::BTreeMap;

use retold::compare::FactRecord;
use retold::id::{CallPath, RunId, Sample};
use retold::log::{Log, LogError};
use retold::run::{DryRunSettings, Finish, Mode, OtherDecision, Setup, execute};
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;
use serde_json::Value;

/// The facts of a run of a study that is executed again with these decisions, answered from its log. A call that would be
/// asked again keeps its recorded answer. `None` if this program cannot execute it.
///
/// # Errors
/// [`LogError`] if the log cannot be read.
pub(crate) fn facts_with(
    log: &Log,
    run: RunId,
    decisions: BTreeMap<(CallPath, Sample), OtherDecision>,
    studies: &Studies,
) -> Result<Option<Vec<Value>>, LogError> {
    let replay = Setup::replay(log, run)?;
    let settings = ExperimentSettings::from(replay.started.settings["experiment"].clone());
    let Ok(experiment) = studies.build(&replay.started.experiment, &settings) else {
        return Ok(None);
    };
    let rehearsal = DryRunSettings { decisions, ..DryRunSettings::default() };
    let setup = Setup { mode: Mode::Rehearse, rehearsal, ..replay };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let tokio = tokio.map_err(|error| LogError::failure("a rehearsal", error))?;
    match tokio.block_on(execute(experiment.as_ref(), setup))?.finish {
        Finish::Rehearsed(found) => {
            let facts = found.facts.into_iter().map(FactRecord::from);
            // A fact that was just written can be read.
            Ok(facts.map(|record| serde_json::from_str(&record.fact).ok()).collect())
        }
        _ => Ok(None),
    }
}
