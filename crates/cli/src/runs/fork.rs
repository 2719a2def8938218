//! Records a run with the beginning of another.

use serde_json::Value;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::run_id::new_run_id;
use crate::runs::conclusion::RunConclusion;
use crate::runs::pending::PendingRun;
use crate::runs::person::with_person;
use crate::runs::session::StudyExecution;
use crate::runs::settings::{one_kind, settings_of};
use crate::select::{self, RunSelection};
use retold::event::{ForkedFrom, RunStarted};
use retold::id::Seq;
use retold::model::Answerer;
use retold::run::{Mode, added_form};
use retold_study::settings::ExperimentSettings;
use retold_study::study::SettingsOf;

/// A run to be recorded with the beginning of another run.
pub(crate) struct Forking {
    pub(crate) selected: RunSelection,
    /// Share only the answers before this seq.
    pub(crate) before: Option<Seq>,
    /// The experiment's settings.
    pub(crate) settings: ExperimentSettings,
    /// Whether its turns alternate, if that is said.
    pub(crate) alternate: Option<bool>,
    /// Whether calls that failed are asked again.
    pub(crate) retry_failed: bool,
    pub(crate) model: ModelArgs,
    /// The person who takes part, if any.
    pub(crate) seat: Option<Answerer>,
}

/// Records a fork and reports how it ended.
pub(crate) fn fork(forking: Forking, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Forking { selected, before, settings, alternate, retry_failed, model, seat } = forking;
    let is_played = seat.is_some();
    let RunSelection { log, run: parent } = selected;
    let started = select::started(log.reader()?.as_mut(), parent)?;
    let mut study = settings_of(global.studies, &started)?;
    let of_parent = std::mem::replace(&mut study.experiment, settings);
    // All errors are found before anything is recorded.
    global
        .studies
        .check_fork(&started.experiment, &study.experiment, &of_parent)
        .map_err(|e| CliError::usage(e.to_string()))?;
    // What the parent has learned on the way is known from the beginning.
    study.requests.extend(added_form(log.reader()?.as_mut(), parent)?);
    study.requests.alternate = alternate.unwrap_or(study.requests.alternate);
    let kept = global.studies.models(&started.experiment, &of_parent).unwrap_or_default();
    model.name(global.studies, &started.experiment, &mut study, &kept)?;
    model.apply(global.studies, &started.experiment, &mut study)?;
    global
        .studies
        .build(&started.experiment, &study.experiment)
        .map_err(|e| CliError::usage(e.to_string()))?;
    let answerer = model.make(
        global.studies,
        &started.experiment,
        started.seed,
        &study.runtime,
        Mode::Record,
    )?;
    model.endpoints_are_used(global.studies, &started.experiment, &study, Some(&started))?;
    ModelArgs::can_be_asked(global.studies, &started.experiment, &study, &answerer)?;
    ModelArgs::are_listed(global.studies, &started.experiment, &study, &answerer)?;
    let answerer =
        with_person(global.studies, answerer, seat, &started.experiment, &study.experiment)?;
    let info = answerer.info();
    one_kind(&started, info.simulated, parent)
        .map_err(|e| e.hint("use the kind of model that the run was recorded with"))?;
    let as_json = |value: serde_json::Result<Value>| {
        value.map_err(|e| CliError::usage(format!("settings: {e}")))
    };
    let started = RunStarted {
        settings: as_json(serde_json::to_value(&study))?,
        model: as_json(serde_json::to_value(&info))?,
        program: retold::PROGRAM.to_owned(),
        forked_from: Some(ForkedFrom { run: parent, before, retry_failed }),
        ..started
    };
    let (run, experiment) = (new_run_id()?, started.experiment.clone());
    select::sound(log.reader()?.as_mut(), parent, "nothing was started")?;
    let conclusion = RunConclusion {
        is_new: true,
        log: log.clone(),
        run,
        experiment,
        simulated: info.simulated,
        // The folder in the settings is the parent's: `retold export RUN FOLDER --as outputs` makes another.
        folder: None,
        phase_files: None,
        max_failed: study.runtime.limits.max_failed,
        settings_of: SettingsOf::Run,
        drawn_seed: None,
        servers: model.named_again(&study.runtime.model),
    };
    let execution = StudyExecution {
        log,
        run,
        mode: Mode::Record,
        started,
        settings: study,
        prices: model.prices()?,
        model: Some(answerer),
        until: None,
        settings_added: serde_json::Value::Null,
        trace: None,
    };
    let (is_finished, claims) = (false, Vec::new());
    PendingRun { execution, conclusion, is_finished, is_played, claims }.go(global, output)
}
