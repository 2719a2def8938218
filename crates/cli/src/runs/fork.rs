//! Records a run with the beginning of another.

use serde_json::Value;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::run_id::new_run_id;
use crate::runs::conclusion::RunConclusion;
use crate::runs::config::asked_otherwise;
use crate::runs::folder::{FolderArgs, OutputFolder};
use crate::runs::pending::PendingRun;
use crate::runs::person::with_person;
use crate::runs::record::choose_folder;
use crate::runs::session::StudyExecution;
use crate::runs::settings::{as_json, one_kind, settings_of};
use crate::select::{self, RunSelection};
use retold::event::{ForkedFrom, RunStarted};
use retold::id::Seq;
use retold::model::Answerer;
use retold::run::{Mode, latest_start};
use retold_study::study::{SettingsOf, Study, StudySettings};

/// A run to be recorded with the beginning of another run.
pub(crate) struct Forking {
    pub(crate) selected: RunSelection,
    /// Share only the answers before this seq.
    pub(crate) before: Option<Seq>,
    /// The question whose answer is taken back.
    pub(crate) without: Option<Seq>,
    /// Its settings.
    pub(crate) settings: StudySettings,
    /// Whether calls that failed are asked again.
    pub(crate) retry_failed: bool,
    pub(crate) model: ModelArgs,
    /// The person who takes part, if any.
    pub(crate) seat: Option<Answerer>,
}

/// Records a fork and reports how it ended.
pub(crate) fn fork(forking: Forking, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Forking { selected, before, without, settings, retry_failed, model, seat } = forking;
    let is_played = seat.is_some();
    let RunSelection { log, run: parent } = selected;
    let started = latest_start(log.reader()?.as_mut(), parent)?;
    let (mut study, of_parent) = (settings, settings_of(global.studies, &started)?.experiment);
    // All errors are found before anything is recorded.
    global
        .studies
        .check_fork(&started.experiment, &study.experiment, &of_parent)
        .map_err(|e| CliError::usage(e.to_string()))?;
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
    let to_json = |value: serde_json::Result<Value>| {
        value.map_err(|e| CliError::usage(format!("settings: {e}")))
    };
    let (now, asked) = (as_json(&study.experiment)?, as_json(&of_parent)?);
    let asks_the_same = before.is_none()
        && asked_otherwise(global.studies, &started.experiment, &now, &asked).is_none();
    let flags = FolderArgs::default().or_remembered(&started);
    let mut started = RunStarted {
        settings: to_json(serde_json::to_value(&study))?,
        model: to_json(serde_json::to_value(&info))?,
        program: retold::PROGRAM.to_owned(),
        forked_from: None,
        ..started
    };
    let (run, experiment) = (new_run_id()?, started.experiment.clone());
    select::sound(&log, parent, "nothing was started")?;
    let (mut folder, mut claims) = (None, Vec::new());
    // What asks something else is another study. Its settings name the folder of its parent, so that it has none.
    if asks_the_same {
        let first = flags.with_number(1);
        let first = OutputFolder::new(global.studies, &experiment, &study.experiment, first)?;
        let flags = match first {
            None => flags,
            Some(first) => {
                let (seed, seed_is_drawn, settings) = (started.seed, false, study.clone());
                let of = Study { experiment: experiment.clone(), seed, seed_is_drawn, settings };
                let (chosen, claim, flags) = choose_folder(first, &of, &log, true, flags, global)?;
                (folder, claims) = (chosen, claim.into_iter().collect());
                flags
            }
        };
        flags.remember(&mut started.settings);
        global.studies.record_name(&mut started);
    }
    started.forked_from = Some(ForkedFrom { run: parent, before, retry_failed, without });
    let conclusion = RunConclusion {
        is_new: true,
        log: log.clone(),
        run,
        experiment,
        simulated: info.simulated,
        folder,
        phase_files: None,
        limits: study.runtime.limits,
        settings_of: SettingsOf::Run,
        drawn_seed: None,
        servers: model.named_again(&study.runtime.model),
    };
    let execution = StudyExecution {
        batch_wait: model.batches.batch_wait(),
        prices: model.prices()?,
        model: Some(answerer),
        ..StudyExecution::new(log, run, Mode::Record, started, study)
    };
    let is_finished = false;
    PendingRun { execution, conclusion, is_finished, is_played, claims }.go(global, output)
}
