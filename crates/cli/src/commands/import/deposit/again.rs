//! A run of a deposit, replayed and parsed again.

use crate::error::CliError;
use crate::global::Global;
use crate::runs::session::{self, StudyExecution};
use crate::runs::settings::settings_of;
use crate::select;
use retold::check::{CheckError, check};
use retold::decide::{Again, AgainError, Choices, ParserParams, Selection};
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::Log;
use retold::run::{Finish, Mode, Stop};
use retold_deposit::{DepositedRun, RunPlace};
use retold_wire::PROGRAM;
use serde::Serialize;

/// How a run of a deposit was replayed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "replay", content = "because", rename_all = "snake_case")]
pub(super) enum Replayed {
    /// Every prompt, decision, fact and state is the same.
    Identical,
    /// Something is not.
    Differs(String),
    /// There is nothing to replay here.
    Not(String),
}

/// What came out of a run of a deposit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct RunAgain {
    pub(super) run: RunId,
    pub(super) experiment: String,
    pub(super) place: RunPlace,
    /// How many events were added to the log.
    pub(super) added: u64,
    #[serde(flatten)]
    pub(super) replayed: Replayed,
    /// How many decisions were made again by their own parsers.
    pub(super) parsed: u64,
    /// How many of them are not as they were recorded.
    pub(super) changed: u64,
    /// Why decisions were not made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_parsed: Option<String>,
}

impl RunAgain {
    pub(super) fn is_same(&self) -> bool {
        !matches!(self.replayed, Replayed::Differs(_)) && self.changed == 0
    }
}

/// Replays a run, if it is one of a study that this program has, and makes its decisions again.
pub(super) fn run_again(
    log: &Log,
    of: &DepositedRun,
    added: u64,
    global: &Global,
) -> Result<RunAgain, CliError> {
    let DepositedRun { run, experiment, place, .. } = of.clone();
    let replayed = match place {
        RunPlace::Plan => Replayed::Not("it is a plan".to_owned()),
        RunPlace::Decisions => Replayed::Not("its decisions are made again".to_owned()),
        RunPlace::Figures | RunPlace::Judge => replay(log, run, global)?,
    };
    let mut again = RunAgain {
        run,
        experiment,
        place,
        added,
        replayed,
        parsed: 0,
        changed: 0,
        not_parsed: None,
    };
    if place == RunPlace::Plan {
        return Ok(again);
    }
    let selection = Selection {
        by: Again::Latest,
        params: &ParserParams::Recorded,
        only: None,
        choices: Choices::First,
        name: None,
        parsers: global.studies.parsers(),
    };
    let checked = check(log.reader()?.as_mut(), run, selection, |_, _| Ok::<_, CheckError>(()));
    match checked {
        Ok(checked) => {
            (again.parsed, again.changed) = (checked.decisions, checked.unfaithful.len() as u64);
        }
        Err(CheckError::Again(AgainError::Log(error))) => return Err(error.into()),
        // A parser of somebody's own is not run because a file names it.
        Err(error) => again.not_parsed = Some(printable(&error.to_string(), 300)),
    }
    Ok(again)
}

fn replay(log: &Log, run: RunId, global: &Global) -> Result<Replayed, CliError> {
    let started = select::run_start(log.reader()?.as_mut(), run)?;
    if started.experiment == PROGRAM {
        let name = run.short(8);
        return Ok(Replayed::Not(format!(
            "with the program, `retold replay {name} -- COMMAND` replays it"
        )));
    }
    if global.studies.find(&started.experiment).is_none() {
        return Ok(Replayed::Not("this program does not have its study".to_owned()));
    }
    let settings = settings_of(global.studies, &started)?;
    let execution = StudyExecution::new(log.clone(), run, Mode::Replay, started, settings);
    match session::go(execution, global)?.finish {
        Finish::Stopped(Stop::Diverged(divergence)) => {
            Ok(Replayed::Differs(printable(&divergence.headline().to_string(), 300)))
        }
        Finish::Stopped(stop) => Err(stop.into()),
        _ => Ok(Replayed::Identical),
    }
}
