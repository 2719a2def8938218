//! `retold resume`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Global;
use super::error::{CliError, Status};
use super::folder::{Folder, FolderArgs};
use super::model::ModelArgs;
use super::output::Output;
use super::play::with_person;
use super::reenact;
use super::select::{self, Selected};
use super::session::{self, Conclusion, Session};
use retold::event::{RunOutcome, RunStarted};
use retold::id::RunId;
use retold::inert::inert;
use retold::model::Answerer;
use retold::prompt::canonical;
use retold::run::{Mode, how_it_ended};
use retold_study::studies::Studies;
use retold_study::study::{SettingsOf, Study, StudySettings};

/// Go on with a run after a crash or an interruption.
///
/// The run is executed again from its start: what is in the log is answered from the log, the rest
/// is asked. Nothing is asked twice but what was in flight. Its output folder is written when it has finished,
/// as by `retold run`.
///
/// `retold import` goes on with an original run that it was executing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    #[command(flatten)]
    folder: FolderArgs,
    /// Write the output folder, even if the run began with --no-outputs.
    #[arg(long, conflicts_with = "no_outputs")]
    outputs: bool,
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, folder, outputs, model } = args;
    let folder = folder.with_outputs(outputs);
    let selected = select::run(global, &run)?;
    let started = select::started(selected.log.reader()?.as_mut(), selected.run)?;
    if reenact::is_one(&settings_of(global.studies, &started)?) {
        let run = selected.run;
        let message =
            format!("run {run} executes an original run again, which alone has its answers");
        let hint =
            reenact::how_to_go_on(global.studies, &started.experiment, "ORIGINAL", &run.short(8));
        return Err(CliError::usage(message).hint(hint));
    }
    resume(Resuming { selected, folder, model, seat: None }, global, output)
}

/// A run to go on with.
pub(crate) struct Resuming {
    pub(crate) selected: Selected,
    pub(crate) folder: FolderArgs,
    pub(crate) model: ModelArgs,
    /// The person who takes part, if one does.
    pub(crate) seat: Option<Answerer>,
}

/// Goes on with a run, with the settings it was recorded with.
pub(crate) fn resume(
    resuming: Resuming,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Selected { log, run } = &resuming.selected;
    let started = select::started(log.reader()?.as_mut(), *run)?;
    let mut settings = settings_of(global.studies, &started)?;
    resuming.model.apply(&mut settings.runtime)?;
    go_on(resuming, started, (settings, SettingsOf::Run), global, output)
}

/// Goes on with the last run of a study, which must have been recorded with the same settings.
pub(crate) fn same_study(
    mut study: Study,
    model: ModelArgs,
    folder: FolderArgs,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let name = output_name(global.studies, &study.experiment, &study.settings.experiment);
    let log = select::open(global)?;
    let mut reader = log.reader()?;
    let mut found = None;
    for head in reader.runs()?.into_iter().rev() {
        // A damaged run is not this one; `retold verify` tells of it.
        let Ok(started) = select::started(reader.as_mut(), head.run) else { continue };
        if how_it_ended(reader.as_mut(), head.run)?.is_some_and(|end| end != RunOutcome::Finished) {
            continue;
        }
        let settings = &started.settings["experiment"];
        let same = match &name {
            Some(_) => output_name(global.studies, &started.experiment, settings) == name,
            None => is_of(global.studies, &study, &started),
        };
        if started.experiment == study.experiment && same {
            found = Some((head.run, started));
            break;
        }
    }
    drop(reader);
    let Some((run, started)) = found else {
        let what = name.map_or_else(|| "this config".to_owned(), |name| name.to_string());
        let message =
            format!("there is no run of {what} in {} to go on with", global.log.display());
        return Err(CliError::usage(message).hint("leave out --resume to begin one"));
    };
    let recorded = settings_of(global.studies, &started)?.experiment;
    // What it drew when it began is not drawn again.
    global.studies.take_over(&study.experiment, &mut study.settings.experiment, &recorded);
    let now = as_recorded(&study.settings.experiment);
    if recorded != now || started.seed != study.seed {
        return Err(CliError::usage(format!(
            "run {run} was recorded with other settings: {}",
            differing(&recorded, &now)
        ))
        .hint(format!("`retold resume {}` goes on with the settings it began with", run.short(8)))
        .hint("for another study, give another name (deliberation: pilot_id)"));
    }
    let resuming = Resuming { selected: Selected { log, run }, folder, model, seat: None };
    go_on(resuming, started, (study.settings, SettingsOf::Config), global, output)
}

fn output_name(studies: &Studies, experiment: &str, settings: &Value) -> Option<String> {
    studies.output_name(experiment, settings).ok()?
}

/// Settings as a log gives them back: a number has one spelling there.
fn as_recorded(settings: &Value) -> Value {
    let text = canonical(settings).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Whether a run was begun by a study.
pub(crate) fn is_of(studies: &Studies, study: &Study, started: &RunStarted) -> bool {
    let recorded = &started.settings["experiment"];
    let mut now = study.settings.experiment.clone();
    studies.take_over(&study.experiment, &mut now, recorded);
    *recorded == as_recorded(&now) && started.seed == study.seed
}

/// The keys in which two settings differ.
fn differing(one: &Value, other: &Value) -> String {
    let mut keys = Vec::new();
    differences("", one, other, &mut keys);
    match keys.is_empty() {
        true => "the seed".to_owned(),
        false => keys.join(", "),
    }
}

fn differences(path: &str, one: &Value, other: &Value, found: &mut Vec<String>) {
    match (one, other) {
        (one, other) if one == other => {}
        (Value::Object(one), Value::Object(other)) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let of = |map: &Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                differences(&path, &of(one), &of(other), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// Executes a run again from its start: answered from the log, and from there on by the model.
fn go_on(
    resuming: Resuming,
    started: RunStarted,
    (settings, settings_of): (StudySettings, SettingsOf),
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Resuming { selected, folder, model, seat } = resuming;
    let ended = how_it_ended(selected.log.reader()?.as_mut(), selected.run)?;
    // A run that has ended asks nobody, so nobody need be named.
    let answerer = match ended.is_some() && model.is_unnamed(&settings.runtime) {
        true => None,
        false => {
            let (name, runtime) = (&started.experiment, &settings.runtime);
            let answerer = model.make(global.studies, name, started.seed, runtime, Mode::Resume)?;
            Some(with_person(global.studies, answerer, seat, name, &settings.experiment)?)
        }
    };
    let simulated = answerer.as_ref().map_or(started.is_simulated(), |a| a.info().simulated);
    one_kind(&started, simulated, selected.run).map_err(|e| {
        e.hint("resume it with the kind of model it was recorded with, or record a new run")
    })?;
    let folder = folder.or_remembered(&started.settings);
    let folder = Folder::of(global.studies, &started.experiment, &settings.experiment, folder)?;
    let experiment = started.experiment.clone();
    // A run that has ended says nothing new.
    let live = match (&folder, &ended) {
        (Some(folder), None) => folder.live(global.studies, &experiment)?,
        (Some(_), Some(_)) | (None, _) => None,
    };
    let prices = model.prices()?;
    let max_failed = settings.runtime.limits.max_failed;
    // One that has ended is only read, and checked while it is.
    if ended.is_none() {
        select::sound(selected.log.reader()?.as_mut(), selected.run, "nothing was asked")?;
    }
    let session = Session {
        log: selected.log.clone(),
        run: selected.run,
        mode: Mode::Resume,
        started,
        settings,
        prices,
        model: answerer,
        live,
    };
    let ended = session::go(session, global)?;
    let Selected { log, run } = selected;
    let conclusion = Conclusion {
        ended,
        log: &log,
        run,
        experiment: &experiment,
        simulated,
        folder,
        max_failed,
        settings_of,
    };
    session::conclude(conclusion, global, output)
}

/// Made-up and real answers are never in one run.
pub(crate) fn one_kind(started: &RunStarted, simulated: bool, run: RunId) -> Result<(), CliError> {
    if simulated == started.is_simulated() {
        return Ok(());
    }
    let (was, now) = if simulated { ("real", "made-up") } else { ("made-up", "real") };
    Err(CliError::usage(format!(
        "run {run} holds {was} answers, and this model would add {now} ones to it"
    )))
}

/// The settings a run was recorded with.
pub(crate) fn settings_of(
    studies: &Studies,
    started: &RunStarted,
) -> Result<StudySettings, CliError> {
    if started.experiment == retold::exchange::EXCHANGES {
        return Err(CliError::usage(
            "this run was imported as bare exchanges: there is no experiment to execute",
        )
        .hint("`retold run CONFIG --answers FILE` runs an experiment on an exchanges file"));
    }
    if started.experiment == retold::exchange::DECISIONS {
        let of = started.settings["of"]["run"].as_str().unwrap_or("another run");
        return Err(CliError::usage(format!(
            "this run has decisions about the answers of {}: there is no experiment to execute",
            inert(of, 40)
        ))
        .hint("`retold check RUN` makes the decisions again"));
    }
    if studies.find(&started.experiment).is_none() {
        return Err(CliError::usage(format!(
            "this run was recorded by another program, as {:?}: only that program can execute it",
            inert(&started.experiment, 100)
        ))
        .hint("`retold check RUN --parser NAME@VERSION` decides about its answers, and `retold audit` and `retold export` work on it"));
    }
    serde_json::from_value(started.settings.clone()).map_err(|e| {
        CliError::usage(format!("the recorded settings do not fit this release: {e}"))
            .hint(format!("it was recorded by {}", started.program))
    })
}
