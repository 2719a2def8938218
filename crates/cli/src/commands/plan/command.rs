//! The requests that a program would make, from its last recorded run.

use std::ffi::OsString;

use serde_json::{Value, json};

use super::Args;
use super::planned::PlannedRun;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::Output;
use crate::runs::program::without_keys;
use crate::select::{self, RunSelection};
use retold::event::RunStarted;
use retold::members::Members;
use retold::model::Prices;
use retold_wire::{PROGRAM, ProgramSettings};

/// The last run of a command, which is recorded without keys.
pub(super) fn last_run(command: &[OsString], global: &Global) -> Result<RunSelection, CliError> {
    let log = select::open_to_read(global)?;
    let words = without_keys(command);
    let mut reader = log.reader()?;
    let mut last = None;
    for head in reader.runs()? {
        let started = select::run_start(reader.as_mut(), head.run)?;
        if is_of(&started, &words) {
            last = Some(head.run);
        }
    }
    match last {
        Some(run) => Ok(RunSelection { log, run }),
        None => Err(CliError::usage("no run of this command is in the log")
            .hint("`retold record -- CMD` records one: a few calls are enough to plan with")
            .hint("`retold log` lists the runs; a command has to be the same word for word")),
    }
}

fn is_of(started: &RunStarted, words: &[String]) -> bool {
    let settings = || serde_json::from_value::<ProgramSettings>(started.settings.clone());
    started.experiment == PROGRAM && settings().is_ok_and(|settings| settings.command == words)
}

/// Shows the requests that the next run of the command would make, if it is like the last one.
pub(super) fn show(
    selected: &RunSelection,
    args: &Args,
    prices: &Prices,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let started = select::run_start(&mut selected.checked_reader()?, selected.run)?;
    let tables = args.figures.tables(std::slice::from_ref(selected), global)?;
    let planned = PlannedRun::read(selected, args, &tables, prices, global)?;
    let simulated = started.is_simulated();
    if output.is_json() {
        let mut object = planned.json();
        object.set("run", json!(selected.run));
        object.set("simulated", Value::Bool(simulated));
        output.object(&object)?;
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        output.text(&format!(
            "the same as in run {}, the last of this command\n{said}{}nothing was asked and nothing was written\n",
            selected.run,
            planned.text("recorded")
        ))?;
    }
    Ok(Status::Fine)
}
