//! `retold resume`.

use super::Global;
use super::error::{CliError, Status};
use super::model::ModelArgs;
use super::output::Output;
use super::select;
use super::session::{self, Session};
use crate::experiments::registry::StudySettings;
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
    let selected = select::run(global, &args.run)?;
    let mut reader = selected.log.reader()?;
    let started = select::started(reader.as_mut(), selected.run)?;
    let mut settings = settings_of(&started)?;
    args.model.apply(&mut settings.runtime)?;
    let answerer =
        args.model.make(&started.experiment, started.seed, &settings.runtime, Mode::Resume)?;
    let simulated = answerer.info().simulated;
    if simulated != select::is_simulated(&started) {
        let (was, now) = if simulated { ("real", "made-up") } else { ("made-up", "real") };
        return Err(CliError::usage(format!(
            "run {} holds {was} answers, and this model would add {now} ones to it",
            selected.run
        ))
        .hint("resume it with the kind of model it was recorded with, or record a new run"));
    }
    let name = select::short_name(reader.as_mut(), selected.run)?;
    let experiment = started.experiment.clone();
    let session = Session {
        log: selected.log.clone(),
        run: selected.run,
        mode: Mode::Resume,
        started,
        settings,
        model: Some(answerer),
    };
    let ended = session::go(session, global)?;
    let status = session::conclude(&ended, selected.run, &name, &experiment, simulated, output)?;
    session::store(&selected.log, selected.run, global)?;
    session::stopped(ended, &name).map_or(Ok(status), Err)
}

/// The settings a run was recorded with.
pub(super) fn settings_of(started: &crate::event::RunStarted) -> Result<StudySettings, CliError> {
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
