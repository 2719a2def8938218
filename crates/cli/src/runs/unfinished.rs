//! Several runs of one study: an unfinished run was paid for, so another one is only started on
//! request.

use std::path::Path;

use serde_json::{Value, json};

use crate::error::CliError;
use crate::output::count_of;
use crate::runs::config::{NamedConfig, is_of};
use crate::runs::settings::{as_json, settings_of};
use crate::runs::{folder, original};
use crate::select;
use retold::event::{Event, RunStarted, StoredEvent};
use retold::id::{RunId, Seq};
use retold::log::{Lease, Log, LogError, Reader, RunHead};
use retold::prompt::canonical;
use retold::run::RunRecord;
use retold_study::run_name::folder_number;
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;
use retold_study::study::Study;

/// The right to be the only process that runs a study with a given name, or with given settings, in
/// a log; released when dropped.
#[derive(Debug)]
pub(crate) struct StudyLease(#[expect(dead_code, reason = "held for its drop")] Lease);

/// Checks that there is no unfinished run of a study, and claims the study for this process: none
/// with its name or, if it has no name, none with the same settings and the same model that another
/// process is executing or that has sent a request.
///
/// # Errors
/// If there is such a run, or another process has just started one.
pub(crate) fn none_of(
    studies: &Studies,
    config: &NamedConfig,
    study: &Study,
    model: &Value,
    log: &Log,
) -> Result<StudyLease, CliError> {
    let name = studies.output_name(&study.experiment, &study.settings.experiment);
    let name = name.map_err(|e| CliError::usage(e.to_string()))?;
    let what = name.as_deref().unwrap_or("this config");
    // The claim comes first: otherwise a run that is started between the check and the claim would
    // be missed.
    let claimed = match &name {
        Some(name) => name.clone(),
        None => nameless(study, model)?,
    };
    let claim = claim(&place(study, &claimed), what, log)?;
    // Nothing is written to a log that has lost events; that error is reported instead.
    if !log.backend().losses().is_empty() {
        return Ok(claim);
    }
    let mut reader = log.reader()?;
    for head in reader.runs()?.into_iter().rev() {
        if has_ended(reader.as_mut(), &head)? {
            continue;
        }
        // A damaged run is not this one; `retold verify` reports it.
        let Ok(started) = select::run_start(reader.as_mut(), head.run) else { continue };
        let settings = started.settings["experiment"].clone().into();
        if !is_by_config(studies, study, &started) {
            continue;
        }
        let as_of_run = config.as_of(studies, study, &started)?;
        let has_same_settings = is_of(studies, &as_of_run, &started)?;
        let is_same = match &name {
            Some(_) => studies.output_name(&started.experiment, &settings).ok().flatten() == name,
            None => has_same_settings && started.model == *model,
        };
        if !is_same {
            continue;
        }
        // A run that was started with --new, or is being resumed, has no claim of its own.
        if let Some(holder) = executed_by(log, head.run)? {
            return Err(is_being_run(what, &holder, log));
        }
        let record = RunRecord::read(reader.as_mut(), head.run)?;
        let (requests, answers) = (record.requests, record.answers);
        // A run without a name that has asked nothing may be started again.
        if name.is_none() && requests == 0 && answers == 0 {
            continue;
        }
        let run = retold_archive::short_name(reader.as_mut(), head.run)?;
        let holds = if requests > 0 && answers == 0 {
            format!(": it sent {} and has no answer yet", count_of(requests, "request"))
        } else {
            format!(" and has {}", count_of(answers, "answer"))
        };
        let go_on = if has_same_settings {
            "the same command with --resume continues it".to_owned()
        } else {
            format!("`retold run --resume {run}` continues it with its original settings")
        };
        return Err(CliError::usage(format!("run {run} of {what} is unfinished{holds}"))
            .hint(go_on)
            .hint(format!(
                "`retold run --abandon {run}` ends it for good; --new starts another run in addition"
            )));
    }
    Ok(claim)
}

/// The folders with a study's name that its unfinished runs will write.
pub(crate) fn folders(studies: &Studies, study: &Study, log: &Log) -> Result<Vec<u32>, CliError> {
    let name_of = |settings: &ExperimentSettings| {
        studies.output_name(&study.experiment, settings).ok().flatten()
    };
    let name = name_of(&study.settings.experiment);
    let (mut reader, mut found) = (log.reader()?, Vec::new());
    for head in reader.runs()? {
        if has_ended(reader.as_mut(), &head)? {
            continue;
        }
        let Ok(started) = select::run_start(reader.as_mut(), head.run) else { continue };
        let settings = &started.settings;
        let is_named_fork = started.forked_from.is_some() && started.name().is_some();
        if (is_by_config(studies, study, &started) || is_named_fork)
            && started.experiment == study.experiment
            && name_of(&settings["experiment"].clone().into()) == name
            && folder::is_wanted(settings)
        {
            found.push(folder_number(settings).unwrap_or(1));
        }
    }
    Ok(found)
}

/// Claims one of the folders with a name; `None` if another process has it.
pub(crate) fn claim_folder(
    study: &Study,
    folder: &str,
    log: &Log,
) -> Result<Option<StudyLease>, CliError> {
    match log.claim(&place(study, folder)) {
        Ok(lease) => Ok(Some(StudyLease(lease))),
        Err(LogError::InUse { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Whether a run belongs to a study and is continued with its config: a fork is continued by its
/// own id, an import of an original run by `import`.
fn is_by_config(studies: &Studies, study: &Study, started: &RunStarted) -> bool {
    started.experiment == study.experiment
        && started.forked_from.is_none()
        && !settings_of(studies, started).is_ok_and(|settings| original::is_one(&settings))
}

/// The place that is claimed for a study: its name, which includes its first folder, or another folder.
fn place(study: &Study, folder: &str) -> String {
    format!("{}/{folder}", study.experiment)
}

/// The place that is claimed for a study without a name: the settings that make two runs of it the same. No folder
/// has such a name.
fn nameless(study: &Study, model: &Value) -> Result<String, CliError> {
    let experiment = as_json(&study.settings.experiment)?;
    // Runs of a config without a seed are the same whatever seed was drawn.
    let seed = (!study.seed_is_drawn).then_some(study.seed);
    let same = json!({"experiment": experiment, "seed": seed, "model": model});
    let same = canonical(&same).map_err(|e| CliError::usage(format!("settings: {e}")))?;
    Ok(format!("settings/{same}"))
}

/// Claims a place of a study, which is called `what` in messages.
fn claim(place: &str, what: &str, log: &Log) -> Result<StudyLease, CliError> {
    match log.claim(place) {
        Ok(lease) => Ok(StudyLease(lease)),
        Err(LogError::InUse { holder, .. }) => Err(is_being_run(what, &holder, log)),
        Err(e) => Err(e.into()),
    }
}

fn is_being_run(what: &str, holder: &str, log: &Log) -> CliError {
    if holder == format!(" (process {})", std::process::id()) {
        return CliError::usage(format!("{what} is named twice in this command"))
            .hint("nothing was recorded: name it once, or use --new to record it twice");
    }
    let log = log.backend().name();
    let log = Path::new(&log).display();
    CliError::usage(format!("{what} is being run{holder} in {log}"))
        .hint("wait for it, or use --new to start another run in addition")
}

/// Whether a run has ended: finished or abandoned.
fn has_ended(reader: &mut dyn Reader, head: &RunHead) -> Result<bool, CliError> {
    let last = reader.events(head.run, Seq(head.head.seq.0.saturating_sub(1)), 1)?;
    Ok(matches!(last.first().map(StoredEvent::event), Some(Ok(Event::RunFinished(_)))))
}

/// The process that is executing a run, as messages name it; `None` if there is none.
fn executed_by(log: &Log, run: RunId) -> Result<Option<String>, CliError> {
    match log.backend().lease(run) {
        Ok(_) => Ok(None),
        Err(LogError::InUse { holder, .. }) => Ok(Some(holder)),
        Err(e) => Err(e.into()),
    }
}
