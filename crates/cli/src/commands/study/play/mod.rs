//! `play`: a person makes the choices in a study.

mod terminal;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{ArgMatches, Args as _, FromArgMatches};

use self::terminal::Terminal;
use crate::catalogue::OwnCommand;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::changes::{changed_settings, refuse_others};
use crate::runs::config::NamedConfig;
use crate::runs::folder::FolderArgs;
use crate::runs::fork::{self, Forking};
use crate::runs::record::{self, StudyRecording};
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

/// Play a game of this study: you choose what happens next.
///
/// Every choice is recorded immediately. Leave with q, Ctrl-C or the end of the input, and continue
/// with --resume. --fork goes back to a turn and takes another option: up to that turn, all
/// answers are those of the recorded game.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("played").required(true).args(["config", "resume", "fork"]))]
struct Args {
    /// A new game: the config file (YAML). A person plays it, whatever the config says.
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
    /// Change a setting of the config, such as turns=12; with --resume or --fork, one that says how to ask, such as
    /// limits.timeout_seconds=1200. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    model: ModelArgs,
}

/// The command for a study, which must have a player's seat.
pub(super) fn command(study: &'static dyn Registration) -> OwnCommand {
    let run = move |given: &ArgMatches, global: &Global<'_>, output: &Output| {
        let args = Args::from_arg_matches(given).map_err(|e| CliError::usage(e.to_string()))?;
        match study.play() {
            Some(play) => run(args, study.name(), play, global, output),
            None => Err(CliError::usage(format!("nobody can play {}", study.name()))),
        }
    };
    OwnCommand {
        study: Some(study.name()),
        command: Args::augment_args(clap::Command::new("play")),
        run: Box::new(run),
    }
}

fn run(
    args: Args,
    study: &'static str,
    play: &'static dyn Play,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Args { config, resume, fork, turn, choose, game, settings, model } = args;
    let terminal = Arc::new(Terminal::new(output.is_json()));
    let status = match (config, resume, fork) {
        (Some(config), ..) => {
            let head: ConfigHead = load(&config, &read_text(&config)?)?;
            if let Some(name) = head.experiment.filter(|name| name != study) {
                let config = config.display();
                return Err(CliError::usage(format!("{config} is for {name}, not for {study}")));
            }
            // Last, so that neither the config nor a flag can take the person's place.
            let person = play.settings().iter().map(|setting| (*setting).to_owned());
            let settings: Vec<String> = settings.into_iter().chain(person).collect();
            let experiment = Some(study.to_owned());
            let config = NamedConfig {
                path: config,
                experiment,
                settings,
                shard: None,
                model: model.clone(),
            };
            let study = config.study(global.studies)?;
            let seat = seat_at(&terminal, play, &study.settings.experiment);
            let config = Some(config);
            // An unfinished game does not prevent a new one.
            let new = true;
            let recording =
                StudyRecording { config, new, seat, ..StudyRecording::new(study, model) };
            record::recording_to_begin(recording, global)?.go(global, output)
        }
        (_, Some(run), _) => {
            let selected = select::run(global, &run)?;
            let started = select::run_start(selected.log.reader()?.as_mut(), selected.run)?;
            let of_game = settings_of_game(study, global.studies, &started)?;
            let seat = seat_at(&terminal, play, &of_game);
            let folder = FolderArgs::default();
            let changes = settings;
            resume::resume(Resuming { selected, folder, model, changes, seat }, global)?
                .go(global, output)
        }
        (_, _, run) => {
            let selected = select::run(global, &run.unwrap_or_default())?;
            let mut reader = selected.log.reader()?;
            let record = RunRecord::read(reader.as_mut(), selected.run)?;
            let of_game = settings_of_game(study, global.studies, &record.started)?;
            let name = selected.run.short(8);
            refuse_others(global.studies, &record.started, &settings, &name)?;
            let mut changed = changed_settings(global.studies, &record.started, &settings, None)?;
            let choice = Choice {
                game: game.unwrap_or(1),
                turn: turn.unwrap_or(0),
                choose: choose.unwrap_or(0),
            };
            let forked = play.fork(&of_game, &record.facts, choice);
            changed.experiment = forked.map_err(|e| CliError::usage(e.to_string()))?;
            drop(record);
            drop(reader);
            let seat = seat_at(&terminal, play, &changed.experiment);
            let (before, retry_failed, settings) = (None, false, changed);
            let forking =
                Forking { selected, before, without: None, settings, retry_failed, model, seat };
            fork::fork(forking, global, output)
        }
    }?;
    Ok(if terminal.was_interrupted() { Status::Interrupted } else { status })
}

/// The recorded settings of a run of this study.
fn settings_of_game(
    study: &str,
    studies: &Studies,
    started: &RunStarted,
) -> Result<ExperimentSettings, CliError> {
    if started.experiment != study {
        let message = format!("this is a run of {}, not of {study}", started.experiment);
        return Err(CliError::usage(message));
    }
    Ok(settings_of(studies, started)?.experiment)
}

/// The person at the terminal, if the settings ask for one.
fn seat_at(
    terminal: &Arc<Terminal>,
    play: &dyn Play,
    settings: &ExperimentSettings,
) -> Option<Answerer> {
    play.is_played(settings).then(|| terminal.clone() as Answerer)
}
