//! `retold play`: a study in which a person makes the choices.

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
use retold_study::config::{ConfigHead, load, read_text};
use retold_study::registration::{Choice, Play};
use retold_study::settings::ExperimentSettings;
use retold_study::studies::Studies;

/// Play an adventure: you choose what happens next.
///
/// Every choice is recorded immediately. Leave with q, Ctrl-C or the end of the input, and continue
/// with --resume. --fork goes back to a turn and takes another option: up to that turn, all
/// answers are those of the recorded game.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("played").required(true).args(["config", "resume", "fork"]))]
pub(crate) struct Args {
    /// A new game: the config file (YAML) of an adventure. A person plays it, whatever the config
    /// says.
    config: Option<PathBuf>,
    /// Continue a game: first digits of its run's id, or `latest`.
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    /// Play a recorded game again from some turn on, as a new run. If a person chose in it, you
    /// choose; otherwise the model does.
    #[arg(long, value_name = "RUN", requires = "turn", requires = "choose")]
    fork: Option<String>,
    /// With --fork: the turn at which another option is taken.
    #[arg(long, value_name = "N", conflicts_with_all = ["config", "resume"])]
    turn: Option<u32>,
    /// With --fork: the option to take there.
    #[arg(long, value_name = "N", conflicts_with_all = ["config", "resume"])]
    choose: Option<u32>,
    /// With --fork: which game, if the run has several [default: 1].
    #[arg(long, value_name = "N", conflicts_with_all = ["config", "resume"])]
    game: Option<u32>,
    /// For a new game: change a setting of the config, such as turns=12. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE", requires = "config")]
    settings: Vec<String>,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { config, resume, fork, turn, choose, game, settings, model } = args;
    let terminal = Arc::new(Terminal::new(output.is_json()));
    let status = match (config, resume, fork) {
        (Some(config), ..) => {
            let head: ConfigHead = load(&config, &read_text(&config)?)?;
            let (registered, play) = playable(global.studies)?;
            let (registered, play) = match head.experiment {
                None => (registered, play),
                Some(name) => played(global.studies, &name).ok_or_else(|| {
                    let (config, noun) = (config.display(), with_article(play.noun()));
                    CliError::usage(format!(
                        "{config} is for {name}, but only {noun} can be played"
                    ))
                })?,
            };
            // Last, so that neither the config nor a flag can take the person's place.
            let person = play.settings().iter().map(|setting| (*setting).to_owned());
            let settings: Vec<String> = settings.into_iter().chain(person).collect();
            let study = global.studies.study(&config, Some(registered.name()), &settings)?;
            let seat = seat_at(&terminal, play, &study.settings.experiment);
            let folder = FolderArgs::default();
            // An unfinished game does not prevent a new one.
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
                turn: turn.unwrap_or(0),
                choose: choose.unwrap_or(0),
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

/// The first study that can be played.
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

/// The recorded settings of a study that can be played.
fn settings_of_game(
    studies: &Studies,
    started: &RunStarted,
) -> Result<(&'static dyn Play, ExperimentSettings), CliError> {
    let Some((_, play)) = played(studies, &started.experiment) else {
        let noun = with_article(playable(studies)?.1.noun());
        let message = format!("this is a run of {}, not of {noun}", started.experiment);
        return Err(CliError::usage(message));
    };
    Ok((play, settings_of(studies, started)?.experiment))
}

/// The person at the terminal, if the settings ask for one.
fn seat_at(
    terminal: &Arc<Terminal>,
    play: &dyn Play,
    settings: &ExperimentSettings,
) -> Option<Answerer> {
    play.is_played(settings).then(|| terminal.clone() as Answerer)
}
