//! The settings that runs were recorded with, and what may be done with them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::error::CliError;
use retold::escaping::printable;
use retold::event::{PLAN, RunStarted};
use retold::exchange::decides_about;
use retold::id::RunId;
use retold::prompt::canonical;
use retold::run::{AnyExperiment, RunRecord};
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;
use retold_study::study::StudySettings;
use retold_wire::PROGRAM;

/// Simulated and real answers are never mixed in one run.
pub(crate) fn one_kind(started: &RunStarted, simulated: bool, run: RunId) -> Result<(), CliError> {
    if simulated == started.is_simulated() {
        return Ok(());
    }
    let (was, now) = if simulated { ("real", "made-up") } else { ("made-up", "real") };
    Err(CliError::usage(format!(
        "run {run} has {was} answers, and this model would add {now} ones"
    )))
}

/// The settings a run was recorded with.
pub(crate) fn settings_of(
    studies: &Studies,
    started: &RunStarted,
) -> Result<StudySettings, CliError> {
    if started.experiment == retold::exchange::EXCHANGES {
        return Err(CliError::usage(
            "this run was imported as bare exchanges: there is no experiment to run",
        )
        .hint("`retold run CONFIG --answers FILE` runs an experiment on an exchanges file"));
    }
    if started.experiment == retold::exchange::DECISIONS {
        let of = decides_about(started).map_or_else(|| "RUN".to_owned(), |of| of.to_string());
        return Err(CliError::usage(format!(
            "this run has decisions about the answers of {of}: there is no experiment to run"
        ))
        .hint(format!(
            "`retold check {of}` decides about those answers again, with --parser NAME@VERSION or with --parsers FILE; \
             the DecisionMade events of this run name their parser"
        )));
    }
    if started.experiment == PLAN {
        return Err(CliError::usage("this run is a plan: there is no experiment to run")
            .hint("`retold run CONFIG --plan RUN` records by it"));
    }
    if started.experiment == PROGRAM {
        return Err(CliError::usage(
            "this run was recorded from a program: it is run again together with that program",
        )
        .hint("put the program after --: `retold replay RUN -- CMD` replays it, `retold record --resume RUN -- CMD` continues it, `retold fork RUN -- CMD` records a new run that shares its answers"));
    }
    if studies.find(&started.experiment).is_none() {
        return Err(CliError::usage(format!(
            "this run was recorded by another program, as {:?}: only that program can run it",
            printable(&started.experiment, 100)
        ))
        .hint("`retold check RUN --parser NAME@VERSION` parses its answers, and `retold audit` and `retold export` work as usual"));
    }
    serde_json::from_value(started.settings.clone()).map_err(|e| {
        CliError::usage(format!("the recorded settings do not work with this release: {e}"))
            .hint(format!("it was recorded by {}", started.program))
    })
}

/// The experiment that a run was recorded with.
pub(crate) fn experiment_of(
    studies: &Studies,
    record: &RunRecord<'_>,
) -> Result<Box<dyn AnyExperiment>, CliError> {
    let settings = settings_of(studies, &record.started)?;
    experiment_with(studies, &record.started, &settings.experiment)
}

/// The experiment of a recorded run, with these settings. Where they cannot be used, as those with a parser that this program
/// does not have, the error names the program that recorded the run.
pub(crate) fn experiment_with(
    studies: &Studies,
    started: &RunStarted,
    settings: &ExperimentSettings,
) -> Result<Box<dyn AnyExperiment>, CliError> {
    studies.build(&started.experiment, settings).map_err(|e| {
        CliError::usage(e.to_string()).hint(format!("it was recorded by {}", started.program))
    })
}

/// Settings as a log returns them: numbers have only one spelling there.
pub(crate) fn as_recorded(settings: &Value) -> Value {
    let text = canonical(settings).ok();
    let read = text.and_then(|text| serde_json::from_str(&text).ok());
    // What has no canonical form was never recorded, and is compared as it is.
    read.unwrap_or_else(|| settings.clone())
}

/// The settings of an experiment as they are recorded.
pub(crate) fn as_json(settings: &ExperimentSettings) -> Result<Value, CliError> {
    settings.to_json().map_err(|e| CliError::usage(format!("settings: {e}")))
}

/// The keys in which two settings differ.
pub(crate) fn differing(one: &Value, other: &Value) -> String {
    let mut keys = Vec::new();
    differences("", one, other, &mut keys);
    keys.join(", ")
}

fn differences(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (one, other) if one == other => {}
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let of = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
                differences(&path, &of(one), &of(other), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}
