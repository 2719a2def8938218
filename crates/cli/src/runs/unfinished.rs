//! Several runs of one study: an unfinished run was paid for, so another one is only started on
//! request.

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

/// The right to be the only process that runs a study with a given name in a log; released when
/// dropped.
#[derive(Debug)]
pub(crate) struct Claim(#[expect(dead_code, reason = "held for its drop")] Lease);

/// Checks that there is no unfinished run of a study: none with its name, which is claimed for this
/// process, or, if it has no name, none with the same settings and the same model that has an
/// answer. Studies without a name may be run several times at once.
///
/// # Errors
/// If there is such a run, or another process has just started one with the name.
pub(crate) fn none_of(
    studies: &Studies,
    study: &Study,
    model: &Value,
    log: &Log,
) -> Result<Option<Claim>, CliError> {
    let name = studies.output_name(&study.experiment, &study.settings.experiment);
    let name = name.map_err(|e| CliError::usage(e.to_string()))?;
    // The claim comes first: otherwise a run that is started between the check and the claim would
    // be missed.
    let claim = name.as_ref().map(|name| claim(study, name, log)).transpose()?;
    // Nothing is written to a log that has lost events; that error is reported instead.
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
        // A run without a name that has cost nothing may be started again.
        if name.is_none() && answers == 0 {
            continue;
        }
        let run = select::short_name(reader.as_mut(), head.run)?;
        let answers = counted(answers, "answer");
        let go_on = if has_same_settings {
            "the same command with --resume continues it".to_owned()
        } else {
            format!("`retold resume {run}` continues it with its original settings")
        };
        let what = name.as_deref().unwrap_or("this config");
        return Err(CliError::usage(format!(
            "run {run} of {what} is unfinished and has {answers}"
        ))
        .hint(go_on)
        .hint(format!(
            "`retold abandon {run}` ends it for good; --new starts another run in addition"
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

/// Claims one of the folders with a name; `None` if another process has it.
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

/// Whether a run belongs to a study and is continued with its config: a fork is continued by its
/// own id, an import of an original run by `import`.
fn is_by_config(studies: &Studies, study: &Study, started: &RunStarted) -> bool {
    started.experiment == study.experiment
        && matches!(Parent::of(started), Ok(None))
        && !settings_of(studies, started).is_ok_and(|settings| original::is_one(&settings))
}

/// What is claimed for a study: its name, which includes its first folder, or another folder.
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
                .hint("wait for it, or use --new to start another run in addition"))
        }
        Err(e) => Err(e.into()),
    }
}

/// Whether a run has ended: finished or abandoned.
fn has_ended(reader: &mut dyn Reader, head: &RunHead) -> Result<bool, CliError> {
    let last = reader.events(head.run, Seq(head.head.seq.0.saturating_sub(1)), 1)?;
    Ok(matches!(last.first().map(StoredEvent::event), Some(Ok(Event::RunFinished(_)))))
}

/// Whether a process is executing a run.
fn is_being_run(log: &Log, run: RunId) -> Result<bool, CliError> {
    match log.backend().lease(run) {
        Ok(_) => Ok(false),
        Err(LogError::InUse { .. }) => Ok(true),
        Err(e) => Err(e.into()),
    }
}
