//! `retold replay`.

mod prompts;
mod sealed;

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::runs::continuation;
use crate::runs::program::{self, InterceptArgs, PlayingArgs, ProcessArgs};
use crate::runs::session::{self, StudyExecution};
use crate::runs::settings::{experiment_of, settings_of};
use crate::select::{self, RunSelection};
use retold::id::RunId;
use retold::log::Log;
use retold::run::{
    ExecutionResult, Finish, Mode, OutputDifference, RunRecord, Stop, compare_outputs,
};
use retold_study::studies::Studies;

/// Replay a run offline, and prove that its outcome is identical.
///
/// No model is asked and nothing is written. Exit code 1 and a report if anything differs: a
/// prompt, a decision, a fact, or the state that the facts fold into, whose digests are recorded at
/// marks and at the end. Runs that did not come to their end have no such digests, and the replay says so.
///
/// With --prompts, the run uses other templates, and the replay reports which recorded calls still
/// match, which would be new, and the first change in each lane (a participant, a dialogue). A
/// changed call gets its recorded answer, so that the rest of its lane is compared as well.
///
/// With a command after --, the command runs, and its requests to models are answered from a run
/// that `retold record` recorded. A request that is not recorded is refused, and the report names
/// the nearest recorded one and the first field that differs. retold asks nothing then; it does not
/// see what the command asks past it, which --watch counts. The exit code is that of the command, or
/// 1 if a request was not recorded.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run (first digits of its id, its name, or `latest`), or the file of a recording or a cassette.
    #[arg(default_value = "latest")]
    run: String,
    /// Take templates from this folder, named as in config/prompts/EXPERIMENT; for a missing file,
    /// the recorded template is used.
    #[arg(long, value_name = "DIR")]
    prompts: Option<PathBuf>,
    /// Also make the report and the output files again, and compare them with their recorded
    /// digests.
    #[arg(long, conflicts_with = "prompts")]
    outputs: bool,
    #[command(flatten)]
    playing: PlayingArgs,
    #[command(flatten)]
    intercept: InterceptArgs,
    #[command(flatten)]
    process: ProcessArgs,
    /// Run the command where there is no network but loopback, so that it cannot ask anything past retold. Linux only; it needs
    /// `unshare` and `ip` (util-linux, iproute2).
    #[arg(long, requires = "command")]
    sealed: bool,
    /// For a program's run: the command to run.
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["prompts", "outputs"])]
    command: Vec<OsString>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    if args.sealed {
        return sealed::run();
    }
    if !args.command.is_empty() {
        let command = args.process.program(args.command);
        return program::replay(&args.run, args.playing, &args.intercept, command, global);
    }
    let selected = select::to_read(global, &args.run)?;
    gate::show_runs([selected], output, |[selected]| replay(selected, args, global, output))
}

fn replay(
    selected: RunSelection,
    args: Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    if let Some(folder) = &args.prompts {
        return prompts::run(selected, folder, global, output);
    }
    let started = select::run_start(selected.log.reader()?.as_mut(), selected.run)?;
    program::needs_command(&selected, &started)?;
    let settings = settings_of(global.studies, &started)?;
    let simulated = started.is_simulated();
    let go_on = continuation::sentence(global.studies, &started, selected.run);
    let log = selected.log.clone();
    let session = StudyExecution::new(selected.log, selected.run, Mode::Replay, started, settings);
    let ended = session::go(session, global)?;
    let ExecutionResult { finish, progress, outcome_digest, report, state_compared, took, .. } =
        ended;
    let mut closed = None;
    let (identical, complete, divergence) = match finish {
        Finish::Finished => (true, true, None),
        Finish::Closed(outcome) => {
            closed = Some(outcome);
            (true, false, None)
        }
        Finish::EndOfRecord | Finish::Rehearsed(_) => (true, false, None),
        Finish::Stopped(Stop::Diverged(divergence)) => (false, true, Some(divergence)),
        Finish::Stopped(stop) => return Err(stop.into()),
    };
    let state_differs = divergence.iter().flat_map(|d| d.state_differences()).collect::<Vec<_>>();
    let outputs =
        if args.outputs { Some(outputs(global.studies, &log, selected.run)?) } else { None };
    if output.is_json() {
        let divergence = divergence
            .as_ref()
            .map(|d| json!({"what": d.headline(), "seq": d.seq(), "report": d.to_string()}));
        output.object(&json!({
            "run": selected.run,
            "identical": identical,
            "complete": complete,
            "outcome": match (&closed, complete) {
                (Some(outcome), _) => outcome.as_str(),
                (None, true) => "finished",
                (None, false) => "unfinished",
            },
            "exchanges": progress.exchanges,
            "model_calls": progress.model_calls,
            "decisions": progress.decisions,
            "outcome_digest": outcome_digest,
            "divergence": divergence,
            "state": match (state_differs.is_empty(), state_compared) {
                (false, _) => "differs",
                (true, true) => "identical",
                (true, false) if identical => "not recorded",
                // Nothing after a divergence is compared.
                (true, false) => "not compared",
            },
            "state_differences": state_differs,
            "outputs": outputs.as_ref().map(OutputComparison::object),
            "seconds": took.as_secs_f64(),
            "simulated": simulated,
            "report": report.json,
        }))?;
    } else {
        let mut text = match (&divergence, complete) {
            (Some(divergence), _) => format!("run {} diverges: {divergence}", selected.run),
            (None, true)
                if outputs.as_ref().is_some_and(|outputs| !outputs.different.is_empty()) =>
            {
                format!("run {} replays identically, but its outputs differ", selected.run)
            }
            (None, true) if state_compared => format!("run {} replays identically", selected.run),
            (None, true) => format!(
                "run {} replays with identical decisions and facts; state not recorded",
                selected.run
            ),
            (None, false) if let Some(outcome) = &closed => format!(
                "run {} replays with identical decisions and facts as far as it goes, and was {}; state not recorded",
                selected.run,
                outcome.as_str()
            ),
            (None, false) => format!(
                "run {} replays with identical decisions and facts as far as it goes; state not recorded because it \
                 has no end: {go_on}",
                selected.run
            ),
        };
        let rate = progress.exchanges as f64 / took.as_secs_f64().max(1e-9);
        text.push_str(&format!(
            "\n{}, {} asked of a model, in {:.2} s ({rate:.0}/s)\noutcome digest {outcome_digest}\n",
            count_of(progress.exchanges, "answer"),
            progress.model_calls,
            took.as_secs_f64()
        ));
        if let Some(outputs) = &outputs {
            text.push_str(&outputs.text());
        }
        if simulated {
            text.push_str(select::SIMULATED);
        }
        if divergence.is_none() {
            text.push_str(&format!("\n{}", report.text));
        }
        output.text(&text)?;
    }
    let outputs_differ = outputs.is_some_and(|outputs| !outputs.different.is_empty());
    Ok(if identical && !outputs_differ { Status::Fine } else { Status::Difference })
}

/// The result of comparing output files.
struct OutputComparison {
    /// The number of files; `None` if their digests were not recorded.
    files: Option<usize>,
    different: Vec<OutputDifference>,
}

/// Makes the output files of a run again and compares them with the recorded digests.
fn outputs(studies: &Studies, log: &Log, run: RunId) -> Result<OutputComparison, CliError> {
    let mut reader = log.reader()?;
    let mut record = RunRecord::read(reader.as_mut(), run)?;
    let experiment = experiment_of(studies, &record)?;
    Ok(match compare_outputs(experiment.as_ref(), &mut record)? {
        Some((files, different)) => OutputComparison { files: Some(files), different },
        None => OutputComparison { files: None, different: Vec::new() },
    })
}

impl OutputComparison {
    fn object(&self) -> Value {
        let OutputComparison { files, different } = self;
        json!({"recorded": files.is_some(), "files": files, "different": different})
    }

    fn text(&self) -> String {
        let OutputComparison { files, different } = self;
        match files {
            None => "outputs not recorded\n".to_owned(),
            Some(files) if different.is_empty() => {
                format!("outputs identical: the report and {}\n", count_of(*files as u64, "file"))
            }
            Some(_) => different.iter().map(|difference| format!("{difference}\n")).collect(),
        }
    }
}
