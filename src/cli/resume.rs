//! `retold resume`.

use super::Global;
use super::error::{CliError, Status};
use super::model::ModelArgs;
use super::output::Output;
use super::play::with_person;
use super::select::{self, Selected};
use super::session::{self, Session};
use crate::event::RunStarted;
use crate::experiments::registry::StudySettings;
use crate::id::RunId;
use crate::model::Answerer;
use crate::run::Mode;

/// Go on with a run after a crash or an interruption.
///
/// The run is executed again from its start: what is in the log is answered from the log, the rest
/// is asked. Nothing is asked twice but what was in flight.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The run: first digits of its id, or `latest`.
    run: String,
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    resume(select::run(global, &args.run)?, &args.model, None, global, output)
}

/// Goes on with a run, with a person if one takes part, and says how it ended.
pub(super) fn resume(
    selected: Selected,
    model: &ModelArgs,
    seat: Option<Answerer>,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let mut reader = selected.log.reader()?;
    let started = select::started(reader.as_mut(), selected.run)?;
    let mut settings = settings_of(&started)?;
    model.apply(&mut settings.runtime)?;
    let answerer =
        model.make(&started.experiment, started.seed, &settings.runtime, Mode::Resume)?;
    let answerer = with_person(answerer, seat, &started.experiment, &settings.experiment)?;
    let simulated = answerer.info().simulated;
    one_kind(&started, simulated, selected.run).map_err(|e| {
        e.hint("resume it with the kind of model it was recorded with, or record a new run")
    })?;
    let name = select::short_name(reader.as_mut(), selected.run)?;
    let experiment = started.experiment.clone();
    let session = Session {
        log: selected.log,
        run: selected.run,
        mode: Mode::Resume,
        started,
        settings,
        model: Some(answerer),
    };
    let ended = session::go(session, global)?;
    let status = session::conclude(&ended, selected.run, &name, &experiment, simulated, output)?;
    session::stopped(ended, &name).map_or(Ok(status), Err)
}

/// Made-up and real answers are never in one run.
pub(super) fn one_kind(started: &RunStarted, simulated: bool, run: RunId) -> Result<(), CliError> {
    if simulated == select::is_simulated(started) {
        return Ok(());
    }
    let (was, now) = if simulated { ("real", "made-up") } else { ("made-up", "real") };
    Err(CliError::usage(format!(
        "run {run} holds {was} answers, and this model would add {now} ones to it"
    )))
}

/// The settings a run was recorded with.
pub(super) fn settings_of(started: &RunStarted) -> Result<StudySettings, CliError> {
    if started.experiment == crate::exchange::EXCHANGES {
        return Err(CliError::usage(
            "this run was imported as bare exchanges: there is no experiment to execute",
        )
        .hint("`retold run CONFIG --answers FILE` runs an experiment on an exchanges file"));
    }
    serde_json::from_value(started.settings.clone()).map_err(|e| {
        CliError::usage(format!("the recorded settings do not fit this release: {e}"))
            .hint(format!("it was recorded by {}", started.program))
    })
}
