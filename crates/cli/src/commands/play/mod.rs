//! `retold play`: a study in which a person chooses.

mod terminal;

use std::path::PathBuf;
use std::sync::Arc;

use self::terminal::Terminal;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::folder::FolderArgs;
use crate::runs::fork::{self, Forking};
use crate::runs::person::played;
use crate::runs::record::{self, Recording};
use crate::runs::resume::{self, Resuming};
use crate::runs::settings::settings_of;
use crate::select;
use retold::event::RunStarted;
use retold::model::Answerer;
use retold::run::RunRecord;
use retold_study::Registration;
use retold_study::config::{Head, load, read_text};
use retold_study::registration::{Choice, Play};
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;

/// Play an adventure: choose yourself what happens next.
///
/// Every choice is recorded at once. Leave with q, Ctrl-C or the end of the input, and go on with
/// --resume. --fork goes back to a turn and takes the other option: up to there, all answers are
/// those of the game that was played.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("played").required(true).args(["config", "resume", "fork"]))]
pub(crate) struct Args {
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

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { config, resume, fork, turn, choose, game, settings, model } = args;
    let terminal = Arc::new(Terminal::new(output.is_json()));
    let status = match (config, resume, fork) {
        (Some(config), ..) => {
            let head: Head = load(&config, &read_text(&config)?)?;
            let (registered, play) = playable(global.studies)?;
            let (registered, play) = match head.experiment {
                None => (registered, play),
                Some(name) => played(global.studies, &name).ok_or_else(|| {
                    let (config, noun) = (config.display(), with_article(play.noun()));
                    CliError::usage(format!("{config} is for {name}, and what is played is {noun}"))
                })?,
            };
            // Last, so that nothing the config or a flag says takes the person's place.
            let person = play.settings().iter().map(|setting| (*setting).to_owned());
            let settings: Vec<String> = settings.into_iter().chain(person).collect();
            let study = global.studies.study(&config, Some(registered.name()), &settings)?;
            let seat = seat_at(&terminal, play, &study.settings.experiment);
            let folder = FolderArgs::default();
            // A game that was left does not keep anybody from beginning another.
            let (log_limit, new) = (None, true);
            let recording =
                Recording { config, settings, study, model, log_limit, new, folder, seat };
            record::record(recording, global, output)
        }
        (_, Some(run), _) => {
            let selected = select::run(global, &run)?;
            let started = select::started(selected.log.reader()?.as_mut(), selected.run)?;
            let (play, settings) = settings_of_game(global.studies, &started)?;
            let seat = seat_at(&terminal, play, &settings);
            let folder = FolderArgs::default();
            resume::resume(Resuming { selected, folder, model, seat }, global, output)
        }
        (_, _, run) => {
            let selected = select::run(global, &run.unwrap_or_default())?;
            let mut reader = selected.log.reader()?;
            let record = RunRecord::read(reader.as_mut(), selected.run)?;
            let (play, settings) = settings_of_game(global.studies, &record.started)?;
            let choice = Choice {
                game: game.unwrap_or(1),
                turn: turn.unwrap_or_default(),
                choose: choose.unwrap_or_default(),
            };
            let settings = play.fork(&settings, &record.facts, choice);
            let settings = settings.map_err(|e| CliError::usage(e.to_string()))?;
            drop(record);
            drop(reader);
            let seat = seat_at(&terminal, play, &settings);
            let forking =
                Forking { selected, before: None, settings, retry_failed: false, model, seat };
            fork::fork(forking, global, output)
        }
    }?;
    Ok(if terminal.was_interrupted() { Status::Interrupted } else { status })
}

/// The first study that a person can play.
fn playable(studies: &Studies) -> Result<(&'static dyn Registration, &'static dyn Play), CliError> {
    let mut playable = studies.iter().filter_map(|study| Some((study, study.play()?)));
    playable
        .next()
        .ok_or_else(|| CliError::usage("this program has no study that a person can play"))
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

/// The recorded settings of a study that a person can play.
fn settings_of_game(
    studies: &Studies,
    started: &RunStarted,
) -> Result<(&'static dyn Play, ExperimentSettings), CliError> {
    let Some((_, play)) = played(studies, &started.experiment) else {
        let noun = playable(studies)?.1.noun();
        let message = format!("this is a run of {}, and no {noun}", started.experiment);
        return Err(CliError::usage(message));
    };
    Ok((play, settings_of(studies, started)?.experiment))
}

/// Where a person sits, if the settings ask for one.
fn seat_at(
    terminal: &Arc<Terminal>,
    play: &dyn Play,
    settings: &ExperimentSettings,
) -> Option<Answerer> {
    play.is_played(settings).then(|| terminal.clone() as Answerer)
}
