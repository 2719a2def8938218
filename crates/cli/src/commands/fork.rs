//! `retold fork`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::changes::{changed_settings, place_of, question_of};
use crate::runs::fork::{Forking, fork};
use crate::runs::program::{
    self, Destinations, InterceptArgs, Layers, MatchingArgs, ProcessArgs, ProgramCommand,
    ProgramFork,
};
use crate::select;
use retold::audit::Target;
use retold::event::{Event, RunStarted};
use retold::exchange::lost_events;
use retold::id::RunId;
use retold::log::{Reader, RunEvents};
use retold::run::{latest_start, new_run_name};
use retold_wire::PROGRAM;

/// Record a new run that shares the beginning of another.
///
/// A request that was asked before (same prompt, call and sample) gets the recorded answer, and the
/// log names its source; everything else is asked again. The other run is not changed.
///
/// With a command after --, the command runs; what `retold record` recorded of it is shared, and
/// all other requests are asked and recorded, of the model that the command asks now. A recorded failure is shared if an answer follows it, or if
/// the server refused the request itself (400, 404, 422); otherwise the request is asked again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run: first digits of its id, its name, or `latest`.
    run: String,
    /// For a program's run: a name for the fork, as for `record`.
    #[arg(long, requires = "command", value_parser = new_run_name)]
    name: Option<String>,
    /// Share only the answers before this place: a call, CALL#SAMPLE, or a seq.
    #[arg(long, value_name = "PLACE")]
    at: Option<Target>,
    /// Take one answer back: a call, CALL#SAMPLE, or the seq of an answer. It alone is asked again, with what follows from it; of
    /// equal requests of a program that names no calls, the last one is asked.
    #[arg(long, value_name = "PLACE")]
    without: Option<Target>,
    /// Change a setting, as a config has it: of the experiment, such as samples=10 or turns=12, or one that says how to ask,
    /// such as limits.timeout_seconds=1200. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Take templates from this folder, named as in config/prompts/EXPERIMENT; for a missing file,
    /// the recorded template is used.
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,
    /// Ask failed calls again; all answers are shared. With a command, no recorded failure is sent again.
    #[arg(long)]
    retry_failed: bool,
    /// For a program's run: use this server for the requests of one upstream, as for `record`.
    #[arg(long = "upstream", value_name = "NAME=URL", requires = "command")]
    upstreams: Vec<String>,
    #[command(flatten)]
    intercept: InterceptArgs,
    #[command(flatten)]
    matching: MatchingArgs,
    /// For a program's run: of CMD, record the name of its program alone, as for `record`.
    #[arg(long, requires = "command")]
    hide_command: bool,
    #[command(flatten)]
    process: ProcessArgs,
    /// For a program's run: the command to run.
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["settings", "prompts"])]
    command: Vec<OsString>,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args {
        run,
        name,
        at,
        without,
        settings: overrides,
        prompts,
        retry_failed,
        upstreams,
        intercept,
        matching,
        hide_command: is_hidden,
        process,
        command,
        model,
    } = args;
    if !command.is_empty() {
        let destinations = Destinations { upstreams, intercept };
        let command = ProgramCommand { is_hidden, ..process.program(command) };
        let budget = model.budget();
        let (at, without) = (at.as_ref(), without.as_ref());
        let layers = Layers::of(&model.batches);
        let matching = &matching;
        let fork = ProgramFork { of: &run, name, matching, retry_failed, at, without, layers };
        return program::fork(fork, &destinations, budget, command, global);
    }
    let selected = select::run(global, &run)?;
    let mut reader = selected.log.reader()?;
    let started = latest_start(reader.as_mut(), selected.run)?;
    if started.experiment == PROGRAM {
        return Err(without_program(selected.run, &started, retry_failed));
    }
    let is_of_asking = |change: &String| global.studies.is_of_asking(&started.experiment, change);
    let is_same = overrides.iter().all(is_of_asking) && prompts.is_none() && !model.names_model();
    // What is lost is asked again.
    let is_whole = lost_events(reader.as_mut(), selected.run)?.is_none();
    if at.is_none() && without.is_none() && is_same && !retry_failed && is_whole {
        let error = CliError::usage("this fork would be identical to its parent");
        let error = match overrides.is_empty() {
            true => error,
            false => error.hint(format!(
                "--set changes how it asks, and nothing would be asked: `retold run --resume {run}` takes it, too, if the run is unfinished"
            )),
        };
        return Err(error.hint(
            "give the place to fork at (--at PLACE), an answer to take back (--without PLACE), a changed setting (--set KEY=VALUE), another model (--model NAME) or other \
             templates (--prompts DIR), or ask failed calls again (--retry-failed)",
        ));
    }
    let settings = changed_settings(global.studies, &started, &overrides, prompts.as_deref())?;
    let before = place_of(at.as_ref(), reader.as_mut(), selected.run, global.studies)?;
    let without = question_of(without.as_ref(), reader.as_mut(), selected.run, global.studies)?;
    if retry_failed && !any_failed(reader.as_mut(), selected.run)? {
        let message =
            format!("run {} has no failed calls: there is nothing to retry", selected.run);
        let hint = format!(
            "`retold run --resume {run}` asks the calls that were never answered, if the run is unfinished"
        );
        return Err(CliError::usage(message).hint(hint));
    }
    drop(reader);
    let forking = Forking { selected, before, without, settings, retry_failed, model, seat: None };
    fork(forking, global, output)
}

/// Why a program's run cannot be forked without the program.
fn without_program(run: RunId, started: &RunStarted, retry_failed: bool) -> CliError {
    let flags: Vec<String> =
        retry_failed.then(|| "--retry-failed".to_owned()).into_iter().collect();
    let fork = program::next_command("fork", run, &flags, started);
    CliError::usage("this run was recorded from a program: a fork runs that program again")
        .hint(format!(
            "`retold {fork}` does: what was recorded is shared, and all other requests are asked and recorded"
        ))
}

/// Whether any call of a run has failed after all retries.
fn any_failed(reader: &mut dyn Reader, run: RunId) -> Result<bool, CliError> {
    let mut events = RunEvents::new(run);
    while let Some(event) = events.next(reader)? {
        if event.kind != "AttemptFailed" {
            continue;
        }
        if matches!(event.event(), Ok(Event::AttemptFailed(failed)) if failed.details.gave_up) {
            return Ok(true);
        }
    }
    Ok(false)
}
