//! `retold play`: an adventure with a person who chooses.

mod terminal;

use std::path::PathBuf;
use std::sync::Arc;

use self::terminal::Terminal;
use super::error::{CliError, Status};
use super::folder::FolderArgs;
use super::fork::{self, Forking};
use super::model::ModelArgs;
use super::output::Output;
use super::resume::{self, Resuming};
use super::run::{self, Recording};
use super::select;
use super::{Global, reenact, resume::settings_of};
use crate::config::{Head, load, read_text};
use crate::event::RunStarted;
use crate::experiments::adventure::{self, Fork, HUMAN};
use crate::experiments::registry;
use crate::model::{Answerer, Seats};
use crate::run::RunRecord;

/// Play an adventure: choose yourself what happens next.
///
/// Every choice is recorded at once. Leave with q, Ctrl-C or the end of the input, and go on with
/// --resume. --fork goes back to a turn and takes the other option: up to there, all answers are
/// those of the game that was played.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("played").required(true).args(["config", "resume", "fork"]))]
pub(super) struct Args {
    /// A new game: the config file (YAML) of an adventure. A human plays, whatever it says.
    config: Option<PathBuf>,
    /// Go on with a game that was left: first digits of its run's id, or `latest`.
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// Play a game again from a turn on, in a new run. Who chooses there is who chose here.
    #[arg(long, value_name = "RUN", requires = "turn", requires = "choose")]
    fork: Option<String>,
    /// With --fork: the turn at which the other option is taken.
    #[arg(long, value_name = "N", conflicts_with_all = ["config", "resume"])]
    turn: Option<u32>,
    /// With --fork: the option to take there.
    #[arg(long, value_name = "N", conflicts_with_all = ["config", "resume"])]
    choose: Option<u32>,
    /// With --fork: the game, if the run has several [default: 1].
    #[arg(long, value_name = "N", conflicts_with_all = ["config", "resume"])]
    game: Option<u32>,
    /// Of a new game: change a setting of the config, such as turns=12. Repeatable.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "config")]
    settings: Vec<String>,
    // Last: its heading would take in what follows.
    #[command(flatten)]
    model: ModelArgs,
}

pub(super) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { config, resume, fork, turn, choose, game, settings, model } = args;
    let terminal = Arc::new(Terminal::new(output.is_json()));
    let status = match (config, resume, fork) {
        (Some(config), ..) => {
            let head: Head = load(&config, &read_text(&config)?)?;
            if let Some(other) = head.experiment.filter(|name| name != adventure::NAME) {
                let config = config.display();
                let message =
                    format!("{config} is for {other}, and what is played is an adventure");
                return Err(CliError::usage(message));
            }
            // Last, so that nothing the config or a flag says takes the person's place.
            let human = ["player=human", "games=1"].map(str::to_owned);
            let settings: Vec<String> = settings.into_iter().chain(human).collect();
            let study = registry::study(&config, Some(adventure::NAME), &settings)?;
            let seat = seat_at(&terminal, &study.settings.experiment);
            let folder = FolderArgs::default();
            let (log_limit, new) = (None, false);
            let recording =
                Recording { config, settings, study, model, log_limit, new, folder, seat };
            run::record(recording, global, output)
        }
        (_, Some(run), _) => {
            let selected = select::run(global, &run)?;
            let started = select::started(selected.log.reader()?.as_mut(), selected.run)?;
            let seat = seat_at(&terminal, &settings_of_game(&started)?);
            let folder = FolderArgs::default();
            resume::resume(Resuming { selected, folder, model, seat }, global, output)
        }
        (_, _, run) => {
            let selected = select::run(global, &run.unwrap_or_default())?;
            let mut reader = selected.log.reader()?;
            let record = RunRecord::read(reader.as_mut(), selected.run)?;
            let settings = settings_of_game(&record.started)?;
            let fork = Fork {
                game: game.unwrap_or(1),
                turn: turn.unwrap_or_default(),
                choose: choose.unwrap_or_default(),
            };
            let settings = adventure::fork(&settings, &record.facts, fork);
            let settings = settings.map_err(|e| CliError::usage(e.to_string()))?;
            drop(record);
            drop(reader);
            let seat = seat_at(&terminal, &settings);
            let forking =
                Forking { selected, before: None, settings, retry_failed: false, model, seat };
            fork::fork(forking, global, output)
        }
    }?;
    Ok(if terminal.was_interrupted() { Status::Interrupted } else { status })
}

/// The recorded settings of an adventure.
fn settings_of_game(started: &RunStarted) -> Result<serde_json::Value, CliError> {
    if started.experiment != adventure::NAME {
        let message = format!("this is a run of {}, and no adventure", started.experiment);
        return Err(CliError::usage(message));
    }
    Ok(settings_of(started)?.experiment)
}

/// Where a person sits, if the settings ask for one.
fn seat_at(terminal: &Arc<Terminal>, settings: &serde_json::Value) -> Option<Answerer> {
    adventure::is_human(settings).then(|| terminal.clone() as Answerer)
}

/// Whether a person takes part in an experiment with these settings.
pub(super) fn is_played(experiment: &str, settings: &serde_json::Value) -> bool {
    experiment == adventure::NAME && adventure::is_human(settings)
}

/// The command that goes on with a run.
pub(super) fn go_on(started: &RunStarted) -> String {
    let settings = started.settings.get("experiment");
    if settings.is_some_and(|settings| is_played(&started.experiment, settings)) {
        return "play --resume".to_owned();
    }
    match settings_of(started).is_ok_and(|settings| reenact::is_one(&settings)) {
        true => format!("import {} ORIGINAL --resume", registry::import_name(&started.experiment)),
        false => "resume".to_owned(),
    }
}

/// The model with a person beside it; refused without a person where the settings ask for one.
pub(super) fn with_person(
    model: Answerer,
    seat: Option<Answerer>,
    experiment: &str,
    settings: &serde_json::Value,
) -> Result<Answerer, CliError> {
    match seat {
        Some(person) => Ok(Arc::new(Seats { model, person, name: HUMAN })),
        None if is_played(experiment, settings) => Err(CliError::usage(
            "a human plays this game, and this command asks nobody",
        )
        .hint("`retold play CONFIG` begins a game, `retold play --resume RUN` goes on with one")),
        None => Ok(model),
    }
}
