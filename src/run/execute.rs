//! Runs an experiment to its end or to the reason why it stopped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use super::abandon::its_end;
use super::budget::Budget;
use super::clock::{self, Stopwatch};
use super::conclude::{Conclusion, conclude};
use super::core::Core;
use super::divergence::Divergence;
use super::dry_run::{DryRun, Rehearsing};
use super::experiment::{AnyExperiment, Handle, Report};
use super::first_answers::FirstAnswers;
use super::follow::Update;
use super::history::History;
use super::mode::Mode;
use super::network::Network;
use super::outcomes::Outcomes;
use super::output::OutputFile;
use super::parent::ParentAnswers;
use super::phases::Phases;
use super::progress::Progress;
use super::record;
use super::resumptions::latest_start;
use super::setup::Setup;
use super::shared::AnswerCells;
use super::signal::Brake;
use super::states::States;
use super::stop::Stop;
use super::together::Together;
use crate::event::{Event, RunOutcome, RunResumed, RunStarted};
use crate::id::{OutcomeDigest, Seq, Time};
use crate::log::{Log, LogError};
use crate::model::{Destinations, RequestForm};
use crate::prompt::TRANSPORT;

/// How an execution ended.
#[derive(Debug)]
pub enum Finish {
    /// The experiment ran to its end.
    Finished,
    /// A replay reached the end of a run that never finished; everything in its record is
    /// identical.
    EndOfRecord,
    /// The same for a run that was ended for good before its experiment had finished.
    Closed(RunOutcome),
    /// A rehearsal ran to its end, with how much of it is as recorded.
    Rehearsed(DryRun),
    /// It stopped early; the run can be resumed.
    Stopped(Stop),
}

/// An execution that has ended.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExecutionResult {
    /// How it ended.
    pub finish: Finish,
    /// The numbers of questions and answers so far.
    pub progress: Progress,
    /// The digest of the decisions and facts so far.
    pub outcome_digest: OutcomeDigest,
    /// The experiment's report about its state.
    pub report: Report,
    /// For a finished run that was run again: whether its state was compared with a recorded one.
    pub state_compared: bool,
    /// For a run that has just finished: its output files, if they were made to record their
    /// digests.
    pub outputs: Option<Vec<OutputFile>>,
    /// The questions that are held for a batch, by their `RequestSent`, ascending: see [`Stop::Held`].
    pub held: Vec<Seq>,
    /// How long it took.
    pub took: Duration,
}

/// Runs an experiment over a log and a model.
///
/// # Errors
/// [`LogError`] if the run cannot be started. Later failures are in [`ExecutionResult::finish`].
pub async fn execute(
    experiment: &dyn AnyExperiment,
    setup: Setup,
) -> Result<ExecutionResult, LogError> {
    let watch = Stopwatch::start();
    let core = Rc::new(prepare(setup)?);
    let began = match core.setup.mode {
        Mode::Resume => Some(record::beginning(core.setup.log.reader()?.as_mut(), core.setup.run)?),
        Mode::Record | Mode::Replay | Mode::Rehearse => None,
    };
    if let Err(stop) = begin(&core, began).await {
        return end_run(&core, experiment, Err(stop), Report::default(), watch).await;
    }
    let (result, report) = experiment.run_any(Handle(core.clone())).await;
    end_run(&core, experiment, result, report, watch).await
}

/// All that a run needs, before it writes anything.
fn prepare(mut setup: Setup) -> Result<Core, LogError> {
    let (log, run) = (setup.log.clone(), setup.run);
    let mut writer = match setup.mode {
        Mode::Record => Some(log.begin(run)?),
        Mode::Resume => Some(log.go_on(run)?),
        Mode::Replay | Mode::Rehearse => None,
    };
    let last = match log.reader()?.runs()?.iter().find(|r| r.run == run) {
        Some(run) => run.head.seq,
        None => Seq(0),
    };
    let history = match setup.mode {
        Mode::Record => None,
        Mode::Replay | Mode::Resume => Some(History::read(log.reader()?, run, last)?),
        Mode::Rehearse => {
            let history = History::read(log.reader()?, run, last)?.only_answers();
            Some(if setup.rehearsal.stand_ins { history.with_stand_ins() } else { history })
        }
    };
    let end = match setup.mode {
        Mode::Record | Mode::Rehearse => None,
        Mode::Replay | Mode::Resume => its_end(log.reader()?.as_mut(), run)?,
    };
    // A finished run has nothing to add: resuming it is a replay, and nothing can be written.
    if setup.mode == Mode::Resume && end.is_some() {
        setup.mode = Mode::Replay;
        writer = None;
    }
    let mode = setup.mode;
    let states = if mode.writes() {
        States::to_record()
    } else {
        States::to_compare(end.and_then(|end| end.state))
    };
    let budget = budget_of(&setup)?;
    // A replay has everything it needs in its own log.
    let parent = if mode.writes() { ParentAnswers::new(&log, run, &setup.started)? } else { None };
    // Forks and merged runs share the answers of their parents by the hashes of their prompts.
    let recorded = match mode {
        Mode::Record => parent.as_ref().map(|parents| parents.first),
        Mode::Replay | Mode::Resume | Mode::Rehearse => Some(run),
    };
    let version = match recorded {
        Some(run) => record::canonical_version(log.reader()?.as_mut(), run)?,
        None => None,
    };
    let most_failures = setup.throttle.limits().max_connection_failures;
    Ok(Core {
        form: form_of(&setup)?,
        first_answers: FirstAnswers::default(),
        version: version.unwrap_or(TRANSPORT.version),
        network: Network::new(most_failures, setup.retry.first_wait()),
        budget,
        together: Together::default(),
        brake: Brake::new(&setup.signal),
        writer: RefCell::new(writer),
        history: RefCell::new(history),
        parent: RefCell::new(parent),
        outcomes: Outcomes::default(),
        states,
        progress: Cell::default(),
        asked: RefCell::default(),
        phases: Phases::new(setup.until.clone(), setup.shards_end.clone()),
        shared: AnswerCells::default(),
        held: RefCell::default(),
        rehearsing: RefCell::new(Rehearsing::default()),
        setup,
    })
}

/// What a run may cost, with what it has cost so far.
fn budget_of(setup: &Setup) -> Result<Budget, LogError> {
    let Setup { log, run, started, .. } = setup;
    let mut destinations = Destinations::of_run(false, &started.settings, &started.model);
    if let Some(model) = &setup.model {
        destinations.go_on(&setup.settings_added, &json!(model.info()));
    }
    let budget = Budget::new(setup.throttle.limits(), setup.prices.clone())
        .asking(destinations)
        .within(setup.shared_budget.clone());
    if setup.mode == Mode::Resume {
        budget.count_recorded(log.reader()?.as_mut(), *run)?;
    }
    Ok(budget)
}

/// How a run writes its requests.
fn form_of(setup: &Setup) -> Result<RequestForm, LogError> {
    let mut form = RequestForm::of_settings(&setup.started.settings);
    // What cannot be read of a damaged run is found where it is read in order.
    if setup.mode != Mode::Record
        && let Ok(latest) = latest_start(setup.log.reader()?.as_mut(), setup.run)
    {
        form.extend(RequestForm::of_settings(&latest.settings));
    }
    form.extend(RequestForm::of_settings(&setup.settings_added));
    Ok(form)
}

async fn begin(core: &Core, began: Option<(Time, RunStarted)>) -> Result<(), Stop> {
    let Setup { run, ref started, .. } = core.setup;
    let (time, event) = match core.setup.mode {
        Mode::Replay | Mode::Rehearse => return Ok(()),
        Mode::Record => {
            let time = clock::now();
            core.tell(Update::Began { run, started, time });
            (time, Event::RunStarted(started.clone()))
        }
        Mode::Resume => {
            if let Some((time, started)) = &began {
                core.tell(Update::Began { run, started, time: *time });
            }
            let info = core.setup.model.as_ref().map(|m| m.info());
            let (program, settings) = (started.program.clone(), core.setup.settings_added.clone());
            let resumed = RunResumed { model: json!(info), program, retry_failed: false, settings };
            (clock::now(), Event::RunResumed(resumed))
        }
    };
    Ok(core.submit_durable_at(&event, time)?.1.wait().await?)
}

async fn end_run(
    core: &Core,
    experiment: &dyn AnyExperiment,
    result: Result<(), Stop>,
    report: Report,
    watch: Stopwatch,
) -> Result<ExecutionResult, LogError> {
    let (log, run) = (&core.setup.log, core.setup.run);
    let outcome_digest = core.outcomes.digest();
    let mut conclusion = Conclusion::default();
    let result = match result {
        Ok(()) if core.setup.mode != Mode::Rehearse => {
            let concluded = conclude(core, experiment, outcome_digest).await;
            concluded.map(|made| conclusion = made)
        }
        result => result,
    };
    let finish = match result {
        Ok(()) | Err(Stop::Reached { .. }) if core.setup.mode == Mode::Rehearse => {
            Finish::Rehearsed(rehearsal(core, log)?)
        }
        Ok(()) => Finish::Finished,
        Err(Stop::EndOfRecord) => Finish::EndOfRecord,
        // Where a recorded run stopped by itself, its record ends.
        Err(Stop::Reached { .. }) if core.setup.mode == Mode::Replay && is_at_its_end(core)? => {
            Finish::EndOfRecord
        }
        Err(Stop::NotInShards { .. }) if let Some(phase) = merged_up_to(core)? => {
            Finish::Stopped(Stop::Reached { phase })
        }
        Err(Stop::Ended { outcome }) => Finish::Closed(outcome),
        Err(Stop::Diverged(mut divergence)) => {
            if replayed_to_the_end(core, &divergence)? {
                match final_outcome(core)? {
                    Some((outcome, digest)) if digest == outcome_digest => Finish::Closed(outcome),
                    Some((_, digest)) => {
                        Finish::Stopped(Divergence::digest(digest, outcome_digest).into())
                    }
                    None => Finish::EndOfRecord,
                }
            } else {
                divergence.look_up(log.reader()?.as_mut(), run)?;
                Finish::Stopped(Stop::Diverged(divergence))
            }
        }
        Err(stop) => Finish::Stopped(stop),
    };
    let progress = core.progress.get();
    let Conclusion { state_compared, outputs } = conclusion;
    let (held, took) = (core.held.borrow_mut().take(), watch.elapsed());
    Ok(ExecutionResult {
        finish,
        progress,
        outcome_digest,
        report,
        state_compared,
        outputs,
        held,
        took,
    })
}

/// The result of a rehearsal.
fn rehearsal(core: &Core, log: &Log) -> Result<DryRun, LogError> {
    let (left, complete) = match core.history.borrow_mut().as_mut() {
        Some(history) => {
            let finished = history.run_end()?.is_some_and(|f| f.outcome == RunOutcome::Finished);
            (history.count_rest()?, finished)
        }
        None => (0, false),
    };
    core.rehearsing.borrow_mut().end(left, complete, log.reader()?.as_mut())
}

/// Whether a replay merely reached the end of the record, because the run was cut off. Decisions
/// and facts are logged in program order, so if one is left over, the program took another path.
fn replayed_to_the_end(core: &Core, divergence: &Divergence) -> Result<bool, LogError> {
    if core.setup.mode != Mode::Replay || !divergence.is_end() {
        return Ok(false);
    }
    match core.history.borrow_mut().as_mut() {
        Some(history) => {
            let finished = history.run_end()?.is_some_and(|f| f.outcome == RunOutcome::Finished);
            Ok(!finished && history.next_outcome()?.is_none())
        }
        None => Ok(false),
    }
}

/// Whether the record has no further decisions or facts, and no end.
fn is_at_its_end(core: &Core) -> Result<bool, LogError> {
    match core.history.borrow_mut().as_mut() {
        Some(history) => Ok(history.next_outcome()?.is_none() && history.run_end()?.is_none()),
        None => Ok(false),
    }
}

/// The phase up to which a run is merged whose shards all stopped there: none has an answer that was not used, and nothing
/// of the next phase was answered. `None` if there is a model, which is there for what comes after the shards.
fn merged_up_to(core: &Core) -> Result<Option<String>, LogError> {
    if core.setup.model.is_some() {
        return Ok(None);
    }
    let left = match core.parent.borrow_mut().as_mut() {
        Some(parents) => parents.count_rest()?,
        None => 0,
    };
    Ok(core.phases.last(core.progress.get()).filter(|_| left == 0))
}

/// How the recorded run was ended for good, if it was, and its digest at that point.
fn final_outcome(core: &Core) -> Result<Option<(RunOutcome, OutcomeDigest)>, LogError> {
    match core.history.borrow_mut().as_mut() {
        Some(history) => Ok(history.run_end()?.map(|f| (f.outcome.clone(), f.outcome_digest))),
        None => Ok(None),
    }
}
