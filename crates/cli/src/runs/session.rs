//! One execution of a run from the command line: runtime, Ctrl-C, progress.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::Output;
use crate::progress::ProgressDisplay;
use crate::runs::person::is_played;
use crate::runs::trace::{CostSoFar, Trace, TraceTo};
use crate::signal::{insisted, interrupted};
use retold::escaping::printable;
use retold::event::{RunOutcome, RunStarted};
use retold::id::RunId;
use retold::log::{Log, LogError};
use retold::model::{Answerer, Prices, Throttle};
use retold::run::{
    DryRunSettings, ExecutionResult, Finish, Mode, Setup, Signal, Stop, execute, how_it_ended,
};
use retold_study::study::StudySettings;

/// An execution to be done.
pub(crate) struct StudyExecution {
    pub(crate) log: Log,
    pub(crate) run: RunId,
    pub(crate) mode: Mode,
    pub(crate) started: RunStarted,
    pub(crate) settings: StudySettings,
    pub(crate) prices: Prices,
    pub(crate) model: Option<Answerer>,
    /// Where its phases are reported; `None` if nowhere.
    pub(crate) trace: Option<TraceTo>,
}

/// Refuses runs that were ended for good.
fn refuse_closed(log: &Log, run: RunId) -> Result<(), CliError> {
    let ended = how_it_ended(log.reader()?.as_mut(), run)?;
    let Some(outcome) = ended.filter(|outcome| *outcome != RunOutcome::Finished) else {
        return Ok(());
    };
    let name = run.short(8);
    let message = format!("run {run} was {}: it cannot be resumed", outcome.as_str());
    Err(CliError::usage(message)
        .hint(format!("`retold replay {name}` replays what it has"))
        .hint(format!("`retold fork {name} --at PLACE` shares its answers with a new run")))
}

/// Executes a run.
pub(crate) fn go(session: StudyExecution, global: &Global) -> Result<ExecutionResult, CliError> {
    go_with(session, DryRunSettings::default(), global)
}

/// Runs a recorded run again with other settings, with a simulated model or none; `rehearsal` says
/// what else differs.
pub(crate) fn rehearse(
    session: StudyExecution,
    rehearsal: DryRunSettings,
    global: &Global,
) -> Result<ExecutionResult, CliError> {
    go_with(StudyExecution { mode: Mode::Rehearse, ..session }, rehearsal, global)
}

fn go_with(
    session: StudyExecution,
    rehearsal: DryRunSettings,
    global: &Global,
) -> Result<ExecutionResult, CliError> {
    let StudyExecution { log, run, mode, started, settings, prices, model, trace } = session;
    if mode == Mode::Resume {
        refuse_closed(&log, run)?;
    }
    let experiment = global
        .studies
        .build(&started.experiment, &settings.experiment)
        .map_err(|e| CliError::usage(e.to_string()))?;
    let runtime = &settings.runtime;
    let mut limits = runtime.limits;
    if is_played(global.studies, &started.experiment, &settings.experiment) {
        // A person may take all day. Models keep the limit that they were created with.
        limits.timeout_seconds = 86_400.0;
    }
    let throttle = Throttle::new(&limits);
    let throttle = throttle.map_err(|e| CliError::usage(format!("limits: {e}")))?;
    let signal = Signal::default();
    let at_once = InterruptNotice {
        output: Output::new(global),
        run,
        experiment: started.experiment.clone(),
    };
    let asked = model.clone();
    let display = ProgressDisplay::new(global.quiet, 1);
    let trace = trace.map(|to| {
        let cost = CostSoFar::new(log.clone(), run, prices.clone());
        Rc::new(RefCell::new(Trace::new(to, display.clone(), cost)))
    });
    let follow = trace.clone();
    let setup = Setup {
        log,
        run,
        mode,
        started,
        model,
        retry: runtime.retry,
        throttle,
        prices,
        rehearsal,
        signal: signal.clone(),
        on_progress: display.of_run(0),
        follow: match follow {
            Some(trace) => Box::new(move |told| trace.borrow_mut().take(told)),
            None => Box::new(|_| {}),
        },
    };
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let tokio = tokio.map_err(|e| CliError::new(Status::Io, format!("no runtime: {e}")))?;
    let ended = tokio.block_on(async {
        let watch = tokio::spawn(watch_interrupts(signal, limits.timeout(), at_once));
        let ended = execute(experiment.as_ref(), setup).await;
        watch.abort();
        ended
    })?;
    if let Some(trace) = trace {
        trace.borrow_mut().ended(&ended);
    }
    warn_of_idle_endpoints(asked.as_ref(), &ended);
    // A log that is gone cannot be read for the report.
    match ended.finish {
        Finish::Stopped(stop @ Stop::Log(LogError::Gone { .. })) => Err(CliError::from(stop)),
        _ => Ok(ended),
    }
}

/// Warns about endpoints that a run, finished after asking something, has never used: their names
/// may be misspelt.
fn warn_of_idle_endpoints(model: Option<&Answerer>, ended: &ExecutionResult) {
    if !matches!(ended.finish, Finish::Finished) || ended.progress.model_calls == 0 {
        return;
    }
    for name in model.into_iter().flat_map(|model| model.never_asked()) {
        write_err(&format!(
            "warning: the endpoint for the model {:?} was never asked: no request named that model\n",
            printable(&name, 100)
        ));
    }
}

/// The first Ctrl-C, SIGTERM or SIGHUP stops the run in an orderly way; a second Ctrl-C or SIGTERM
/// stops it at once. `longest` is the time limit of a call.
async fn watch_interrupts(signal: Signal, longest: Duration, at_once: InterruptNotice) {
    if !interrupted().await {
        return;
    }
    signal.stop();
    let message = format!(
        "interrupted: waiting for the answers to the calls in flight, at most {} s",
        longest.as_secs_f64()
    );
    CliError::new(Status::Interrupted, message)
        .hint("Ctrl-C or SIGTERM again stops at once: nothing recorded is lost, and calls in flight are asked again")
        .print();
    if insisted().await {
        at_once.say();
        #[expect(clippy::disallowed_methods, reason = "the user asked twice")]
        std::process::exit(Status::Interrupted.code().into());
    }
}

/// What is printed if the user does not wait for the calls in flight.
struct InterruptNotice {
    output: Output,
    run: RunId,
    experiment: String,
}

impl InterruptNotice {
    /// With `--json`, prints the single object that a program expects.
    fn say(&self) {
        let InterruptNotice { output, run, experiment } = self;
        if output.is_json() {
            // If this fails, the exit code still says what happened.
            let _ = output.object(&json!({
                "run": run,
                "experiment": experiment,
                "outcome": "interrupted",
                "error": "stopped at once: the answers to the calls in flight were not waited for",
            }));
        }
    }
}
