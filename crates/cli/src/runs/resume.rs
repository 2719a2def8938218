//! Continues a run.

use serde_json::Value;

use crate::error::{CliError, write_err};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::runs::asking_so_far::AskingSoFar;
use crate::runs::changes::{change_asking, refuse_others};
use crate::runs::conclusion::RunConclusion;
use crate::runs::config::{NamedConfig, asks_otherwise, drawn_seed_of, is_of};
use crate::runs::folder::{FolderArgs, OutputFolder};
use crate::runs::pending::PendingRun;
use crate::runs::person::{is_played, with_person};
use crate::runs::program::needs_command;
use crate::runs::session::StudyExecution;
use crate::runs::settings::{as_json, as_recorded, one_kind, settings_of};
use crate::runs::unfinished_shards::refuse_to_ask;
use crate::runs::{continuation, original};
use crate::select::{self, RunSelection};
use crate::views::last_writer;
use retold::event::{RunOutcome, RunStarted};
use retold::id::RunId;
use retold::log::Log;
use retold::model::Answerer;
use retold::run::{Mode, apply_patch, how_it_ended, latest_start};
use retold_study::config::ModelConfig;
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;
use retold_study::study::{SettingsOf, Study, StudySettings};

/// A run to continue.
pub(crate) struct Resuming {
    pub(crate) selected: RunSelection,
    pub(crate) folder: FolderArgs,
    pub(crate) model: ModelArgs,
    /// What changes in how it asks: `KEY=VALUE`.
    pub(crate) changes: Vec<String>,
    /// The person who takes part, if any.
    pub(crate) seat: Option<Answerer>,
}

/// Continues a run with the settings that it has, apart from the changes.
pub(crate) fn resume(resuming: Resuming, global: &Global) -> Result<PendingRun, CliError> {
    let RunSelection { log, run } = &resuming.selected;
    let started = latest_start(log.reader()?.as_mut(), *run)?;
    refuse_others(global.studies, &started, &resuming.changes, &run.short(8))?;
    let settings = settings_of(global.studies, &started)?;
    resuming.model.keeps_models(global.studies, &started.experiment, &settings, *run)?;
    let so_far = AskingSoFar::read(global.studies, log.reader()?.as_mut(), *run)?;
    prepare(resuming, started, settings, &so_far, SettingsOf::Run, global)
}

/// Continues the run of a log that is named, or else the last one that is unfinished, if it is a study's.
pub(crate) fn this_run(
    log: Log,
    name: Option<&str>,
    changes: Vec<String>,
    model: ModelArgs,
    folder: FolderArgs,
    global: &Global,
) -> Result<PendingRun, CliError> {
    let selected = match name {
        Some(name) => select::run_of(log, name, global)?,
        None => last_unfinished(log, global)?,
    };
    let started = select::run_start(selected.log.reader()?.as_mut(), selected.run)?;
    needs_command(&selected, &started)?;
    let settings = settings_of(global.studies, &started)?;
    let other = match original::is_one(&settings) {
        true => Some("is an import of an original run, whose files have its answers"),
        false if is_played(global.studies, &started.experiment, &settings.experiment) => {
            Some("has a human player, and this command cannot prompt for input")
        }
        false => None,
    };
    if let Some(what) = other {
        let command = continuation::command(global.studies, &started, &selected.run.short(8));
        return Err(CliError::usage(format!("run {} {what}", selected.run))
            .hint(format!("`retold {command}` continues it; nothing is lost")));
    }
    resume(Resuming { selected, folder, model, changes, seat: None }, global)
}

/// The last run of a log that has not ended.
fn last_unfinished(log: Log, global: &Global) -> Result<RunSelection, CliError> {
    let mut reader = log.reader()?;
    for head in reader.runs()?.into_iter().rev() {
        if how_it_ended(reader.as_mut(), head.run)?.is_none() {
            drop(reader);
            return Ok(RunSelection { log, run: head.run });
        }
    }
    Err(CliError::usage(format!("no run in {} is unfinished", global.log.display()))
        .hint("`retold log` lists the runs"))
}

/// The run of a study that is to be continued.
pub(crate) struct SameStudy {
    run: RunId,
    started: RunStarted,
}

/// The last unfinished run of a study, or else the last one.
pub(crate) fn find_same_study(
    config: &NamedConfig,
    study: &Study,
    log: &Log,
    global: &Global,
) -> Result<Option<SameStudy>, CliError> {
    let name = output_name(global.studies, &study.experiment, &study.settings.experiment);
    let mut reader = log.reader()?;
    let mut finished = None;
    for head in reader.runs()?.into_iter().rev() {
        // A damaged run is not this one; `retold verify` reports it.
        let Ok(started) = select::run_start(reader.as_mut(), head.run) else { continue };
        let ended = how_it_ended(reader.as_mut(), head.run)?;
        if ended.as_ref().is_some_and(|end| *end != RunOutcome::Finished) {
            continue;
        }
        let settings = &started.settings["experiment"];
        let same = match &name {
            Some(_) => {
                let settings = settings.clone().into();
                output_name(global.studies, &started.experiment, &settings) == name
            }
            None => {
                is_of(global.studies, &config.as_of(global.studies, study, &started)?, &started)?
            }
        };
        if started.experiment != study.experiment || !same {
            continue;
        }
        let found = SameStudy { run: head.run, started };
        if ended.is_none() {
            return Ok(Some(found));
        }
        finished = finished.or(Some(found));
    }
    Ok(finished)
}

/// Continues the last unfinished run of a study, or else the last one, which must have been
/// recorded with the same settings.
pub(crate) fn same_study(
    config: &NamedConfig,
    study: &Study,
    model: ModelArgs,
    folder: FolderArgs,
    global: &Global,
) -> Result<PendingRun, CliError> {
    let log = select::open(global)?;
    let Some(found) = find_same_study(config, study, &log, global)? else {
        let name = output_name(global.studies, &study.experiment, &study.settings.experiment);
        let what = name.unwrap_or_else(|| "this config".to_owned());
        let message = format!("there is no run of {what} in {} to continue", global.log.display());
        return Err(CliError::usage(message).hint("leave out --resume to start one"));
    };
    found.resume(&log, config, study, model, folder, global)
}

impl SameStudy {
    /// Continues it, if it was recorded with the same settings.
    pub(crate) fn resume(
        self,
        log: &Log,
        config: &NamedConfig,
        study: &Study,
        model: ModelArgs,
        folder: FolderArgs,
        global: &Global,
    ) -> Result<PendingRun, CliError> {
        let SameStudy { run, started } = self;
        let latest = latest_start(log.reader()?.as_mut(), run)?;
        let StudySettings { experiment, runtime, .. } = settings_of(global.studies, &latest)?;
        // Values that it drew at its start are not drawn again.
        let mut study = config.as_of(global.studies, study, &started)?;
        let name = &study.experiment;
        let other = asks_otherwise(global.studies, &study, &as_json(&experiment)?)?;
        if other.is_some() || started.seed != study.seed {
            let other = other.unwrap_or_else(|| "the seed".to_owned());
            let run_name = run.short(8);
            return Err(CliError::usage(format!(
                "run {run} was recorded with other settings: {other}"
            ))
            .hint(format!(
                "`retold run --resume {run_name}` continues it with its original settings"
            ))
            .hint("for another study, use another name (deliberation: pilot_id)"));
        }
        let of_config = &mut study.settings.runtime.model;
        let before = of_config.kind;
        *of_config = of_config.continuing(&runtime.model);
        global.studies.pace(name, &mut study.settings, before);
        let model_named = study.settings.runtime.model.clone();
        let so_far = AskingSoFar::read(global.studies, log.reader()?.as_mut(), run)?;
        let asking = so_far.or_of_config(&asking_now(global.studies, name, &study.settings)?);
        let mut settings = latest.settings.clone();
        apply_patch(&mut settings, &asking);
        let mut settings = settings_of(global.studies, &RunStarted { settings, ..latest.clone() })?;
        let ModelConfig { rates, latency_ms, .. } = settings.runtime.model;
        settings.runtime.model = ModelConfig { rates, latency_ms, ..model_named };
        let mut asking = settings.clone();
        model.apply(global.studies, &latest.experiment, &mut asking)?;
        model.keys_fit(&asking.runtime, config)?;
        let (changes, selected) = (config.settings.clone(), RunSelection { log: log.clone(), run });
        let resuming = Resuming { selected, folder, model, changes, seat: None };
        prepare(resuming, latest, settings, &so_far, SettingsOf::Config, global)
    }
}

fn output_name(
    studies: &Studies,
    experiment: &str,
    settings: &ExperimentSettings,
) -> Option<String> {
    studies.output_name(experiment, settings).ok()?
}

/// What settings say about how to ask, as it is recorded.
fn asking_now(
    studies: &Studies,
    experiment: &str,
    settings: &StudySettings,
) -> Result<Value, CliError> {
    let settings = serde_json::to_value(settings);
    let settings = settings.map_err(|e| CliError::usage(format!("settings: {e}")))?;
    Ok(studies.asking_part(experiment, &as_recorded(&settings)))
}

/// A run that is run again from its start: answered from the log, and after that by the model.
fn prepare(
    resuming: Resuming,
    started: RunStarted,
    mut settings: StudySettings,
    so_far: &AskingSoFar,
    settings_of: SettingsOf,
    global: &Global,
) -> Result<PendingRun, CliError> {
    let Resuming { selected: RunSelection { log, run }, folder, model, changes, seat } = resuming;
    let studies = global.studies;
    let of_asking =
        changes.iter().filter(|change| studies.is_of_asking(&started.experiment, change));
    change_asking(studies, &started, &mut settings, of_asking)?;
    model.apply(studies, &started.experiment, &mut settings)?;
    let is_played = seat.is_some();
    let is_finished = how_it_ended(log.reader()?.as_mut(), run)?.is_some();
    if !is_finished {
        refuse_to_ask(log.reader()?.as_mut(), run, &started)?;
    }
    // A finished run asks nothing, so no model need be named.
    let answerer = if is_finished && model.is_unnamed(&settings.runtime) {
        None
    } else {
        let (name, runtime) = (&started.experiment, &settings.runtime);
        let answerer = model.make(global.studies, name, started.seed, runtime, Mode::Resume)?;
        model.endpoints_are_used(global.studies, name, &settings, Some(&started))?;
        if !is_finished {
            ModelArgs::can_be_asked(global.studies, name, &settings, &answerer)?;
        }
        Some(with_person(global.studies, answerer, seat, name, &settings.experiment)?)
    };
    let simulated = answerer.as_ref().map_or(started.is_simulated(), |a| a.info().simulated);
    one_kind(&started, simulated, run).map_err(|e| {
        e.hint("use the kind of model that the run was recorded with, or record a new run")
    })?;
    let folder = folder.or_remembered(&started);
    let folder =
        OutputFolder::new(global.studies, &started.experiment, &settings.experiment, folder)?;
    // A finished run is only read, and is checked while it is read.
    if !is_finished {
        select::sound(&log, run, "nothing was asked")?;
        // If somebody writes it, that is said before another run of the same command begins.
        drop(log.backend().lease(run)?);
        // A process of this machine has the lease or has ended; of another, nothing is known.
        if let Some(wrote) = last_writer::elsewhere(&log, run)? {
            write_err(&format!("note: {wrote}\n"));
        }
    }
    let conclusion = RunConclusion {
        is_new: false,
        log: log.clone(),
        run,
        experiment: started.experiment.clone(),
        simulated,
        folder,
        phase_files: None,
        limits: settings.runtime.limits,
        settings_of,
        drawn_seed: drawn_seed_of(&started),
        servers: model.named_again(&settings.runtime.model),
    };
    let execution = StudyExecution {
        settings_added: so_far.changes_to(&asking_now(studies, &started.experiment, &settings)?),
        batch_wait: model.batches.batch_wait(),
        prices: model.prices()?,
        model: answerer,
        ..StudyExecution::new(log, run, Mode::Resume, started, settings)
    };
    Ok(PendingRun { execution, conclusion, is_finished, is_played, claims: Vec::new() })
}
