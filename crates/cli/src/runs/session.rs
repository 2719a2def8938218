//! Executions of runs from the command line: runtime, Ctrl-C, progress.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use serde_json::{Value, json};

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::model::BatchWait;
use crate::output::Output;
use crate::progress::ProgressDisplay;
use crate::runs::batches::settle_batches;
use crate::runs::groups_so_far::GroupsSoFar;
use crate::runs::person::is_played;
use crate::runs::settings::experiment_with;
use crate::runs::so_far::Looks;
use crate::runs::trace::{CostSoFar, Trace, TraceTo};
use crate::runtime;
use crate::signal::{wait_for_interrupt, wait_for_termination};
use retold::batch::{BatchesOf, RunBatches, Settled};
use retold::escaping::printable;
use retold::event::{RunOutcome, RunStarted};
use retold::id::RunId;
use retold::log::{Log, LogError};
use retold::model::{
    Answerer, LIMIT, Limits, Prices, RequestForm, ServiceTier, SettingError, Throttle,
};
use retold::run::{
    AnyExperiment, Budget, DryRunSettings, ExecutionResult, Finish, Follower, Mode, Setup, Signal,
    Stop, execute, how_it_ended,
};
use retold_study::config::ModelConfig;
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
    /// How long it waits for batches.
    pub(crate) batch_wait: BatchWait,
    /// The phase after which it stops; `None` if it goes on to its end.
    pub(crate) until: Option<String>,
    /// For a run that continues: the additions to its settings.
    pub(crate) settings_added: Value,
    /// For a rehearsal: what differs besides the experiment's settings.
    pub(crate) rehearsal: DryRunSettings,
    /// Whether what has come out is shown at each of its marks.
    pub(crate) so_far: bool,
    /// Where its phases are reported; `None` if nowhere.
    pub(crate) trace: Option<TraceTo>,
}

impl StudyExecution {
    /// One that is answered from the log alone, to the end of the run. Others change that.
    pub(crate) fn new(
        log: Log,
        run: RunId,
        mode: Mode,
        started: RunStarted,
        settings: StudySettings,
    ) -> Self {
        let prices = Prices::default();
        StudyExecution {
            log,
            run,
            mode,
            started,
            settings,
            prices,
            model: None,
            batch_wait: BatchWait::default(),
            until: None,
            settings_added: Value::Null,
            rehearsal: DryRunSettings::default(),
            so_far: false,
            trace: None,
        }
    }
}

impl StudyExecution {
    /// What the run needs, but for what the runs of a command share.
    fn setup(&mut self, throttle: Throttle, global: &Global) -> Setup {
        let shards_end = match self.started.merged_from.as_slice() {
            [] => None,
            _ => global.studies.shards_end(&self.started.experiment, &self.settings.experiment),
        };
        Setup {
            log: self.log.clone(),
            run: self.run,
            mode: self.mode,
            started: self.started.clone(),
            model: self.model.clone(),
            retry: self.settings.runtime.retry,
            throttle,
            prices: self.prices.clone(),
            shared_budget: None,
            holds: false,
            until: self.until.clone(),
            shards_end,
            settings_added: self.settings_added.clone(),
            // Only runs with a simulated model, or with none, are rehearsed, and these are never refused.
            rehearsal: std::mem::take(&mut self.rehearsal),
            signal: Signal::default(),
            on_progress: Box::new(|_| {}),
            look: Box::new(|| None),
            follow: Box::new(|_| {}),
        }
    }
}

impl StudyExecution {
    /// Whether it is asked by batch.
    pub(crate) fn is_by_batch(&self) -> bool {
        self.settings.runtime.model.tier == Some(ServiceTier::Batch)
    }

    /// Asks these models with another name for the limit of an answer from now on.
    fn take_limit_names(&mut self, models: BTreeSet<String>) {
        for model in &models {
            write_err(&format!(
                "{} takes the limit of an answer as {LIMIT}: it is asked so from now on, which is recorded\n",
                printable(model, 100)
            ));
        }
        if !models.is_empty() {
            self.settings.requests.max_completion_tokens.extend(models);
            self.settings_added = json!({RequestForm::KEY: self.settings.requests});
        }
    }
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
    go_expecting(session, None, global)
}

/// The same, of which it is known how many answers it will have, and what is said about that; 0 if it is not known.
pub(crate) fn go_expecting(
    session: StudyExecution,
    expected: Option<(u64, String)>,
    global: &Global,
) -> Result<ExecutionResult, CliError> {
    let limits = limits_of(&session, global);
    let throttle = Throttle::new(&limits).map_err(wrong_limits)?;
    let (signal, display) = (Signal::default(), ProgressDisplay::new(global.quiet, 1));
    if let Some((answers, text)) = expected {
        display.expect(answers);
        display.lines(&format!("{text}\n"));
    }
    let together =
        Together { signal: &signal, display: &display, shared_budget: None, is_alone: true };
    let notice = InterruptNotice::of([&session], global);
    let experiment = experiment_of(&session, global)?;
    let ended = carry_out(session, experiment, throttle, 0, &together, global);
    block_on(signal.clone(), limits.timeout(), notice, ended)?
}

/// Executes a run that shows nothing, if it ends within a time.
pub(crate) fn go_within(
    session: StudyExecution,
    longest: Duration,
    global: &Global,
) -> Result<Option<ExecutionResult>, CliError> {
    let limits = limits_of(&session, global);
    let throttle = Throttle::new(&limits).map_err(wrong_limits)?;
    let (signal, display) = (Signal::default(), ProgressDisplay::new(true, 1));
    let together =
        Together { signal: &signal, display: &display, shared_budget: None, is_alone: false };
    let notice = InterruptNotice::of([&session], global);
    let experiment = experiment_of(&session, global)?;
    let ended = async {
        let ended = carry_out(session, experiment, throttle, 0, &together, global);
        tokio::time::timeout(longest, ended).await.ok()
    };
    block_on(signal.clone(), limits.timeout(), notice, ended)?.transpose()
}

/// The most runs that are executed at the same time: each has readers of the log, which are open files.
const AT_ONCE: usize = 32;

/// Executes runs at the same time. Each ends by itself, and `on_end` is told. Runs that ask the same provider keep within its
/// limits together, and all within `shared_budget`.
pub(crate) fn go_all<T>(
    sessions: Vec<StudyExecution>,
    shared_budget: Option<Arc<Budget>>,
    global: &Global,
    on_end: impl Fn(usize, Result<ExecutionResult, CliError>) -> T,
) -> Result<Vec<T>, CliError> {
    let throttles = throttles(&sessions, global)?;
    let longest = sessions.iter().map(|session| limits_of(session, global).timeout()).max();
    let (signal, display) = (Signal::default(), ProgressDisplay::new(global.quiet, sessions.len()));
    let together = Together { signal: &signal, display: &display, shared_budget, is_alone: false };
    let notice = InterruptNotice::of(&sessions, global);
    let mut all = Vec::new();
    for (number, (session, throttle)) in sessions.into_iter().zip(throttles).enumerate() {
        let experiment = experiment_of(&session, global)?;
        all.push(carry_out(session, experiment, throttle, number, &together, global));
    }
    let on_end = &on_end;
    let all = all.into_iter().enumerate().map(|(number, execution)| async move {
        let ended = execution.await;
        (number, on_end(number, ended))
    });
    let all = stream::iter(all).buffer_unordered(AT_ONCE).collect::<Vec<_>>();
    let mut ended = block_on(signal.clone(), longest.unwrap_or_default(), notice, all)?;
    ended.sort_by_key(|(number, _)| *number);
    Ok(ended.into_iter().map(|(_, ended)| ended).collect())
}

/// The throttles of runs: one for those that ask the same server.
fn throttles(sessions: &[StudyExecution], global: &Global) -> Result<Vec<Throttle>, CliError> {
    let server = |session: &StudyExecution| {
        let ModelConfig { kind, base_url, .. } = &session.settings.runtime.model;
        kind.api().map(|_| (*kind, base_url.clone()))
    };
    let mut throttles: Vec<Throttle> = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        let limits = limits_of(session, global);
        let earlier = sessions
            .iter()
            .take(number)
            .position(|earlier| server(session).is_some() && server(earlier) == server(session));
        let throttle = match earlier.and_then(|first| throttles.get(first)) {
            Some(first) => first.shared_with(&limits),
            None => Throttle::new(&limits),
        };
        throttles.push(throttle.map_err(wrong_limits)?);
    }
    Ok(throttles)
}

fn wrong_limits(e: SettingError) -> CliError {
    CliError::usage(format!("limits: {e}"))
}

/// How fast a run asks.
pub(crate) fn limits_of(session: &StudyExecution, global: &Global) -> Limits {
    let StudyExecution { started, settings, .. } = session;
    let mut limits = settings.runtime.limits_in_tier();
    if is_played(global.studies, &started.experiment, &settings.experiment) {
        // A person may take all day. Models keep the limit that they were created with.
        limits.timeout_seconds = 86_400.0;
    }
    limits
}

/// The state that the runs of one command share.
struct Together<'a> {
    signal: &'a Signal,
    display: &'a ProgressDisplay,
    shared_budget: Option<Arc<Budget>>,
    /// Whether it is the only run.
    is_alone: bool,
}

/// The experiment of an execution, unless its run was ended for good.
fn experiment_of(
    session: &StudyExecution,
    global: &Global,
) -> Result<Box<dyn AnyExperiment>, CliError> {
    if session.mode == Mode::Resume {
        refuse_closed(&session.log, session.run)?;
    }
    experiment_with(global.studies, &session.started, &session.settings.experiment)
}

/// Executes a run, with its number among the runs of the command. A model that has another name for `max_tokens` says so
/// before it has answered: the run continues with that name, from its start, before anything was asked of that model.
async fn carry_out(
    mut session: StudyExecution,
    experiment: Box<dyn AnyExperiment>,
    throttle: Throttle,
    number: usize,
    together: &Together<'_>,
    global: &Global<'_>,
) -> Result<ExecutionResult, CliError> {
    let cost = CostSoFar::new(session.log.clone(), session.run, &session.prices);
    let trace = session.trace.take();
    let trace =
        trace.map(|to| Rc::new(RefCell::new(Trace::new(to, together.display.clone(), cost))));
    let looks = session.so_far.then(|| {
        let simulated = session.model.as_ref().is_some_and(|model| model.info().simulated);
        let (log, console) = (session.log.clone(), together.display.clone());
        Looks::new(log, session.run, simulated, console, global.studies)
    });
    let ended = loop {
        // What a batch may have is not asked a second time, whatever tier is asked in now.
        let holds = session.is_by_batch()
            || session.mode == Mode::Resume
                && session.model.is_some()
                && RunBatches::are_open(session.log.reader()?.as_mut(), session.run)?;
        let throttle = throttle.shared_with(throttle.limits()).map_err(wrong_limits)?;
        let groups = (together.is_alone && session.model.is_some()).then(|| {
            GroupsSoFar::new(&session.log, session.run, &session.started.experiment, global.studies)
        });
        let groups = groups.flatten();
        let setup = Setup {
            shared_budget: together.shared_budget.clone(),
            signal: together.signal.clone(),
            holds,
            on_progress: together.display.of_run(number, groups),
            look: match looks.clone() {
                Some(looks) => Box::new(move || looks.read()),
                None => Box::new(|| None),
            },
            follow: follower(trace.clone(), looks.clone()),
            ..session.setup(throttle, global)
        };
        let ended = execute(experiment.as_ref(), setup).await?;
        let renamed = match &ended.finish {
            Finish::Stopped(Stop::LimitName { model }) => BTreeSet::from([model.clone()]),
            Finish::Stopped(Stop::Held) => {
                let Some(model) = session.model.as_deref() else { break ended };
                let of = BatchesOf {
                    log: &session.log,
                    run: session.run,
                    model,
                    poll: session.batch_wait.poll,
                    waits: session.batch_wait.stays,
                    plans: session.is_by_batch(),
                    signal: together.signal,
                };
                match settle_batches(of, &ended.held, together.display).await? {
                    Settled::Collected(renamed) => renamed,
                    Settled::Waiting(_) => break ended,
                }
            }
            _ => break ended,
        };
        session.mode = Mode::Resume;
        session.settings_added = Value::Null;
        session.take_limit_names(renamed);
    };
    if let Some(trace) = trace {
        trace.borrow_mut().report_end(&ended);
    }
    warn_of_idle_endpoints(session.model.as_ref(), &ended);
    // A log that is gone cannot be read for the report.
    match ended.finish {
        Finish::Stopped(stop @ Stop::Log(LogError::Gone { .. })) => Err(CliError::from(stop)),
        _ => Ok(ended),
    }
}

/// What is reported about a run while it is executed.
fn follower(trace: Option<Rc<RefCell<Trace>>>, looks: Option<Looks>) -> Follower {
    Box::new(move |told| {
        if let Some(trace) = &trace {
            trace.borrow_mut().take(told);
        }
        if let Some(looks) = &looks {
            looks.take(told);
        }
    })
}

/// Waits for executions, which Ctrl-C stops. `longest` is the time limit of a call.
fn block_on<T>(
    signal: Signal,
    longest: Duration,
    notice: InterruptNotice,
    executions: impl Future<Output = T>,
) -> Result<T, CliError> {
    let tokio = runtime::of_this_thread()?;
    Ok(tokio.block_on(async {
        let watch = tokio::spawn(watch_interrupts(signal, longest, notice));
        let ended = executions.await;
        watch.abort();
        ended
    }))
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
    if !wait_for_interrupt().await {
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
    if wait_for_termination().await {
        at_once.say();
        retold::leftovers::remove_all();
        #[expect(clippy::disallowed_methods, reason = "the user asked twice")]
        std::process::exit(Status::Interrupted.code().into());
    }
}

/// The notice that is printed if the user does not wait for the calls in flight.
struct InterruptNotice {
    output: Output,
    /// The runs and their experiments.
    runs: Vec<(RunId, String)>,
}

impl InterruptNotice {
    fn of<'a>(sessions: impl IntoIterator<Item = &'a StudyExecution>, global: &Global) -> Self {
        let runs = sessions.into_iter().map(|of| (of.run, of.started.experiment.clone()));
        InterruptNotice { output: Output::new(global.json, global.quiet), runs: runs.collect() }
    }

    /// With `--json`, prints the single object that a program expects.
    fn say(&self) {
        if !self.output.is_json() {
            return;
        }
        let stopped = self.runs.iter().map(|(run, experiment)| {
            json!({
                "run": run,
                "experiment": experiment,
                "outcome": "interrupted",
                "error": "stopped at once: the answers to the calls in flight were not waited for",
            })
        });
        let stopped: Vec<Value> = stopped.collect();
        // If this fails, the exit code still says what happened.
        let _ = match stopped.as_slice() {
            [only] => self.output.object(only),
            all => self.output.object(&json!({"runs": all})),
        };
    }
}
