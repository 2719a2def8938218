//! Makes one run of the shards of a study: the whole study is run, and every answer is taken from a shard.

use crate::error::CliError;
use crate::global::Global;
use crate::run_id::new_run_id;
use crate::runs::conclusion::RunConclusion;
use crate::runs::folder::{FolderArgs, OutputFolder};
use crate::runs::pending::PendingRun;
use crate::runs::record::choose_folder;
use crate::runs::session::StudyExecution;
use crate::runs::settings::settings_of;
use crate::runs::shards::{ShardRun, complete};
use crate::select;
use retold::event::RunStarted;
use retold::id::RunId;
use retold::log::Log;
use retold::model::RequestForm;
use retold::run::{Mode, how_it_ended, latest_start};
use retold_plan::NamedPlan;
use retold_study::study::{SettingsOf, Study, StudySettings};

/// A merge of the runs with these names. If the same runs were merged before, that run continues.
pub(crate) fn merge(
    names: &[String],
    folder: FolderArgs,
    global: &Global,
) -> Result<PendingRun, CliError> {
    let log = &select::open(global)?;
    let runs = names.iter().map(|name| Ok(select::find(log, name, global)?.run));
    let runs = select::each_once(runs.collect::<Result<Vec<RunId>, CliError>>()?, |run| *run);
    let mut reader = log.reader()?;
    let shards = runs.iter().map(|run| ShardRun::new(reader.as_mut(), *run));
    let shards = complete(shards.collect::<Result<Vec<_>, _>>()?)?;
    for shard in &shards {
        select::sound(log, shard.run, "nothing was merged")?;
    }
    let merged_from: Vec<RunId> = shards.iter().map(|shard| shard.run).collect();
    let [first, ..] = shards.as_slice() else {
        return Err(CliError::usage("there is nothing to merge"));
    };
    let settings = settings_of(global.studies, &first.started)?;
    let mut requests = settings.requests;
    for shard in &shards {
        let latest = latest_start(reader.as_mut(), shard.run)?;
        requests.extend(RequestForm::of_settings(&latest.settings));
    }
    let settings = StudySettings { experiment: first.whole(), runtime: settings.runtime, requests };
    drop(reader);
    match merged_before(log, &merged_from)? {
        Some((run, started)) => resume(log, run, started, settings, folder, global),
        None => begin(log, first, merged_from, settings, folder, global),
    }
}

/// The last run that was merged from these shards, and its beginning.
fn merged_before(log: &Log, shards: &[RunId]) -> Result<Option<(RunId, RunStarted)>, CliError> {
    let mut reader = log.reader()?;
    for head in reader.runs()?.into_iter().rev() {
        // A damaged run is not this one; `retold verify` reports it.
        let Ok(started) = select::run_start(reader.as_mut(), head.run) else { continue };
        if started.merged_from == shards {
            return Ok(Some((head.run, started)));
        }
    }
    Ok(None)
}

/// A merge that begins.
fn begin(
    log: &Log,
    first: &ShardRun,
    merged_from: Vec<RunId>,
    settings: StudySettings,
    flags: FolderArgs,
    global: &Global,
) -> Result<PendingRun, CliError> {
    let RunStarted { experiment, seed, model, .. } = &first.started;
    let study = Study {
        experiment: experiment.clone(),
        seed: *seed,
        seed_is_drawn: false,
        settings: settings.clone(),
    };
    let folder = OutputFolder::new(global.studies, experiment, &settings.experiment, flags)?;
    let (folder, claim, flags) = match folder {
        Some(folder) => {
            flags.accepts(&folder)?;
            folder.can_be_made()?;
            choose_folder(folder, &study, log, true, flags, global)?
        }
        None => (None, None, flags),
    };
    let recorded = serde_json::to_value(&settings);
    let mut recorded = recorded.map_err(|e| CliError::usage(format!("settings: {e}")))?;
    flags.remember(&mut recorded);
    let mut started = RunStarted {
        merged_from,
        ..RunStarted::new(experiment.clone(), *seed, recorded, model.clone())
    };
    global.studies.record_name(&mut started);
    if let Some(plan) = NamedPlan::of(&first.started) {
        plan.record(&mut started);
    }
    let run = new_run_id()?;
    let mut pending = pending(log, run, started, settings, folder);
    pending.claims.extend(claim);
    Ok(pending)
}

/// A merge that was begun before, and perhaps finished.
fn resume(
    log: &Log,
    run: RunId,
    started: RunStarted,
    settings: StudySettings,
    flags: FolderArgs,
    global: &Global,
) -> Result<PendingRun, CliError> {
    let flags = flags.or_remembered(&started);
    let folder =
        OutputFolder::new(global.studies, &started.experiment, &settings.experiment, flags)?;
    let is_finished = how_it_ended(log.reader()?.as_mut(), run)?.is_some();
    let mut pending = pending(log, run, started, settings, folder);
    pending.execution.mode = Mode::Resume;
    pending.is_finished = is_finished;
    Ok(pending)
}

fn pending(
    log: &Log,
    run: RunId,
    started: RunStarted,
    settings: StudySettings,
    folder: Option<OutputFolder>,
) -> PendingRun {
    let conclusion = RunConclusion {
        is_new: false,
        log: log.clone(),
        run,
        experiment: started.experiment.clone(),
        simulated: started.is_simulated(),
        folder,
        phase_files: None,
        limits: settings.runtime.limits,
        settings_of: SettingsOf::Run,
        drawn_seed: None,
        // Nothing is asked, so no server is named.
        servers: String::new(),
    };
    let execution = StudyExecution::new(log.clone(), run, Mode::Record, started, settings);
    PendingRun { execution, conclusion, is_finished: false, is_played: false, claims: Vec::new() }
}
