//! Forks: a run that shares the beginning of another.

use std::sync::Arc;

use futures::future::BoxFuture;
use retold::event::{Event, ForkedFrom};
use retold::id::{RunId, Seq};
use retold::log::LogError;
use retold::model::{Answerer, Ask, Failure, FailureKind, Model, ModelInfo, Response};
use retold::run::{ExecutionResult, Finish, Setup, Stop, execute};

use crate::support::logs::{assert_sound, facts};
use crate::support::mixed::Mixed;
use crate::support::oracle::{Oracle, dice};
use crate::support::trial::Trial;

const FORK: RunId = RunId([2; 8]);

/// One call in ten fails for good.
fn faults(ask: Ask<'_>) -> Option<Failure> {
    let fails = dice(ask, "for good").is_multiple_of(10);
    fails.then(|| Failure::new(FailureKind::Rejected, "for good"))
}

/// A fork of a trial's run, recorded with another model.
async fn fork(trial: &Trial, before: Option<Seq>, model: Answerer) -> ExecutionResult {
    let mut setup = Setup::record(&trial.log, FORK, "test", model).seed(7);
    let parent = ForkedFrom { run: trial.run, before, retry_failed: false, without: None };
    setup.started.forked_from = Some(parent);
    execute(&Mixed { people: 12 }, setup).await.unwrap()
}

/// The sources of the fork's answers.
fn reused(trial: &Trial) -> Vec<(RunId, Seq)> {
    let events = facts(&trial.log, FORK).into_iter();
    let from = events.filter_map(|event| match event {
        Event::AnswerReused(reused) => Some((reused.from_run, reused.from_seq)),
        _ => None,
    });
    from.collect()
}

/// One answer is taken back, and asked again at the same address.
#[tokio::test(start_paused = true)]
async fn a_fork_asks_an_answer_that_was_taken_back_again() {
    let mixed = Mixed { people: 12 };
    let trial = Trial::in_memory(Oracle::failing(faults));
    trial.record(&mixed).await;
    let answered = facts(&trial.log, trial.run).into_iter().find_map(|event| match event {
        Event::ResponseReceived(received) => Some(received.request),
        _ => None,
    });
    let asked = Oracle::prompt();
    let mut setup = Setup::record(&trial.log, FORK, "test", asked.clone()).seed(7);
    let parent =
        ForkedFrom { run: trial.run, before: None, retry_failed: false, without: answered };
    setup.started.forked_from = Some(parent);
    let ended = execute(&mixed, setup).await.unwrap();
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!((ended.progress.live, asked.calls()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_fork_of_the_same_experiment_asks_nobody_and_shares_failures_too() {
    let mixed = Mixed { people: 12 };
    let trial = Trial::in_memory(Oracle::failing(faults));
    let expected = trial.record(&mixed).await;
    let unused = Oracle::prompt();
    let ended = fork(&trial, None, unused.clone()).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!((ended.outcome_digest, unused.calls()), (expected, 0));
    assert_eq!((ended.progress.live, ended.progress.model_calls), (0, 0));
    assert!(ended.progress.failed > 0, "failed calls are shared as well");
    // Each reuse names the exact answer.
    let parent = facts(&trial.log, trial.run);
    let events = facts(&trial.log, FORK);
    let mut count = 0;
    for event in &events {
        let Event::AnswerReused(reused) = event else { continue };
        let source = &parent[usize::try_from(reused.from_seq.0).unwrap() - 1];
        let content = match source {
            Event::ResponseReceived(answer) => &answer.content,
            Event::AnswerReused(answer) => &answer.content,
            other => panic!("{other:?}"),
        };
        assert_eq!((&reused.content, reused.from_run), (content, trial.run));
        count += 1;
    }
    assert_eq!(count, ended.progress.exchanges);
    assert!(!events.iter().any(|event| matches!(event, Event::ResponseReceived(_))));
    // The fork does not need its parent: a replay never reads it.
    let replay = execute(&mixed, Setup::replay(&trial.log, FORK).unwrap()).await.unwrap();
    assert_eq!(replay.outcome_digest, expected);
    assert_sound(&trial.log);
}

#[tokio::test(start_paused = true)]
async fn everything_after_the_place_is_asked_again() {
    let trial = Trial::in_memory(Oracle::failing(faults));
    trial.record(&Mixed { people: 12 }).await;
    let ended = fork(&trial, Some(Seq(20)), Oracle::failing(faults)).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    let inherited: Vec<Seq> = reused(&trial)
        .into_iter()
        .filter_map(|(run, seq)| (run == trial.run).then_some(seq))
        .collect();
    assert!(!inherited.is_empty() && inherited.iter().all(|seq| *seq < Seq(20)), "{inherited:?}");
    assert!(ended.progress.live > 0, "{:?}", ended.progress);
}

/// Asks the run to stop at its second question.
struct Stopping(retold::run::Signal);

impl Model for Stopping {
    fn info(&self) -> ModelInfo {
        Oracle::prompt().info()
    }

    fn answer<'a>(&'a self, _: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        self.0.stop();
        Box::pin(async { Err(Failure::new(FailureKind::Server, "not now")) })
    }
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_fork_continues_with_its_parent() {
    let mixed = Mixed { people: 12 };
    let trial = Trial::in_memory(Oracle::prompt());
    let expected = trial.record(&mixed).await;
    let signal = retold::run::Signal::default();
    let stopping = Arc::new(Stopping(signal.clone()));
    let mut setup = Setup::record(&trial.log, FORK, "test", stopping).seed(7);
    let parent =
        ForkedFrom { run: trial.run, before: Some(Seq(30)), retry_failed: false, without: None };
    setup.started.forked_from = Some(parent);
    let ended = execute(&mixed, Setup { signal, ..setup }).await.unwrap();
    assert!(matches!(ended.finish, Finish::Stopped(Stop::Interrupted)), "{:?}", ended.finish);
    let before = reused(&trial).len();
    let resumed = Setup::resume(&trial.log, FORK, Oracle::prompt()).unwrap();
    let ended = execute(&mixed, resumed).await.unwrap();
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(ended.outcome_digest, expected);
    assert!(reused(&trial).len() >= before, "what was shared stays so");
    assert_sound(&trial.log);
}

#[tokio::test(start_paused = true)]
async fn a_missing_parent_is_reported() {
    let trial = Trial::in_memory(Oracle::prompt());
    let mut setup = Setup::record(&trial.log, FORK, "test", Oracle::prompt());
    let parent = ForkedFrom { run: trial.run, before: None, retry_failed: false, without: None };
    setup.started.forked_from = Some(parent);
    let missing = execute(&Mixed { people: 1 }, setup).await.unwrap_err();
    assert!(matches!(missing, LogError::NoSuchRun { run, .. } if run == trial.run), "{missing}");
}
