//! Two runs of one study: what an unfinished one holds is paid for, so a second is begun only if it is asked for.

use std::path::Path;

use serde_json::Value;

use crate::error::CliError;
use crate::output::counted;
use crate::runs::folder;
use crate::runs::original;
use crate::runs::settings::{is_of, settings_of};
use crate::select;
use retold::event::{Event, RunStarted, StoredEvent};
use retold::id::{RunId, Seq};
use retold::log::{Lease, Log, LogError, Reader, RunHead};
use retold::run::{Parent, RunRecord};
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;
use retold_study::study::Study;

/// The right to be the only process that runs studies of a name in a log; given back when dropped.
#[derive(Debug)]
pub(crate) struct Claim(#[expect(dead_code, reason = "held for its drop")] Lease);

/// Makes sure that no run of a study is unfinished: none of its name, which is claimed for this process, or, if it has
/// no name, none with the same settings and the same model that holds an answer. Studies without a name may be run several
/// times at once.
///
/// # Errors
/// There is such a run, or another process has just begun one of the name.
pub(crate) fn none_of(
    studies: &Studies,
    study: &Study,
    model: &Value,
    log: &Log,
) -> Result<Option<Claim>, CliError> {
    let name = studies.output_name(&study.experiment, &study.settings.experiment);
    let name = name.map_err(|e| CliError::usage(e.to_string()))?;
    // First: a run that is begun between a look at the log and the claim would not be seen.
    let claim = name.as_ref().map(|name| claim(study, name, log)).transpose()?;
    // Nothing is written to a log that has lost something: that is said instead.
    if !log.backend().lost().is_empty() {
        return Ok(claim);
    }
    let mut reader = log.reader()?;
    for head in reader.runs()?.into_iter().rev() {
        if has_ended(reader.as_mut(), &head)? {
            continue;
        }
        // A damaged run is not this one; `retold verify` reports it.
        let Ok(started) = select::started(reader.as_mut(), head.run) else { continue };
        let settings = started.settings["experiment"].clone().into();
        if !is_by_config(studies, study, &started) {
            continue;
        }
        let has_same_settings = is_of(studies, study, &started)?;
        let is_same = match &name {
            Some(_) => studies.output_name(&started.experiment, &settings).ok().flatten() == name,
            None => has_same_settings && started.model == *model && !is_being_run(log, head.run)?,
        };
        if !is_same {
            continue;
        }
        let answers = RunRecord::read(reader.as_mut(), head.run)?.answers;
        // What has no name and cost nothing may be begun again.
        if name.is_none() && answers == 0 {
            continue;
        }
        let run = select::short_name(reader.as_mut(), head.run)?;
        let answers = counted(answers, "answer");
        let go_on = match has_same_settings {
            true => "the same command with --resume goes on with it".to_owned(),
            false => {
                format!("`retold resume {run}` goes on with it, with the settings it began with")
            }
        };
        let what = name.as_deref().unwrap_or("this config");
        return Err(CliError::usage(format!(
            "run {run} of {what} is unfinished, and holds {answers}"
        ))
        .hint(go_on)
        .hint(format!(
            "`retold abandon {run}` ends it for good; --new begins another run beside it"
        )));
    }
    Ok(claim)
}

/// Which folders of a study's name its unfinished runs are going to write.
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
        let Ok(started) = select::started(reader.as_mut(), head.run) else { continue };
        let settings = &started.settings;
        if is_by_config(studies, study, &started)
            && name_of(&settings["experiment"].clone().into()) == name
            && folder::is_wanted(settings)
        {
            found.push(folder::number_of(settings).unwrap_or(1));
        }
    }
    Ok(found)
}

/// Claims one of the folders of a name; `None` if another process has it.
pub(crate) fn claim_folder(
    study: &Study,
    folder: &str,
    log: &Log,
) -> Result<Option<Claim>, CliError> {
    match log.claim(&place(study, folder)) {
        Ok(lease) => Ok(Some(Claim(lease))),
        Err(LogError::InUse { .. }) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Whether a run is of a study, and continued by its config: a fork is continued by its own id, an original run by
/// `import`.
fn is_by_config(studies: &Studies, study: &Study, started: &RunStarted) -> bool {
    started.experiment == study.experiment
        && matches!(Parent::of(started), Ok(None))
        && !settings_of(studies, started).is_ok_and(|settings| original::is_one(&settings))
}

/// What is claimed of a study: its name, which is that of its first folder, too, or another folder.
fn place(study: &Study, folder: &str) -> String {
    format!("{}/{folder}", study.experiment)
}

/// Claims the name of a study.
fn claim(study: &Study, name: &str, log: &Log) -> Result<Claim, CliError> {
    match log.claim(&place(study, name)) {
        Ok(lease) => Ok(Claim(lease)),
        Err(LogError::InUse { holder, .. }) => {
            let log = log.backend().name();
            let log = Path::new(&log).display();
            Err(CliError::usage(format!("{name} is being run{holder} in {log}"))
                .hint("wait for it, or give --new to begin another run beside it"))
        }
        Err(e) => Err(e.into()),
    }
}

/// Whether a run has ended: finished or abandoned.
fn has_ended(reader: &mut dyn Reader, head: &RunHead) -> Result<bool, CliError> {
    let last = reader.events(head.run, Seq(head.head.seq.0.saturating_sub(1)), 1)?;
    Ok(matches!(last.first().map(StoredEvent::event), Some(Ok(Event::RunFinished(_)))))
}

/// Whether a process is at work on a run.
fn is_being_run(log: &Log, run: RunId) -> Result<bool, CliError> {
    match log.backend().lease(run) {
        Ok(_) => Ok(false),
        Err(LogError::InUse { .. }) => Ok(true),
        Err(e) => Err(e.into()),
    }
}
