//! Resuming: answers come from the log first, then from the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::event::{AttemptDetails, Event};
use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response, RetryPolicy};
use retold::run::{Finish, Mode, Signal, Stop};
use tokio::time::Instant;

use crate::support::logs::{Folder, assert_sound, facts};
use crate::support::mixed::Mixed;
use crate::support::oracle::{Fault, Oracle, answer};
use crate::support::trial::{Trial, memory, stop_of};

/// Stops the run, or refuses the key, at its n-th call.
struct Ends {
    at: u64,
    calls: AtomicU64,
    signal: Option<Signal>,
}

impl Model for Ends {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "ends".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        async move {
            let number = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
            tokio::time::sleep(Duration::from_secs(number % 7)).await;
            match &self.signal {
                Some(signal) if number == self.at => signal.stop(),
                None if number >= self.at => {
                    return Err(Failure::new(FailureKind::Unauthorized, "the key is wrong"));
                }
                _ => {}
            }
            Ok(Response { content: answer(ask), ..Response::text("") })
        }
        .boxed()
    }
}

const MIXED: Mixed = Mixed { people: 20 };

async fn expected() -> (retold::id::OutcomeDigest, u64) {
    let model = Oracle::prompt();
    let digest = Trial::in_memory(model.clone()).record(&MIXED).await;
    (digest, model.calls())
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_records_what_is_in_flight_and_can_continue() {
    let (digest, calls) = expected().await;
    for at in [1, 2, 7, 15, 22, 30, 50] {
        let folder = Folder::new();
        let log = folder.log();
        let signal = Signal::default();
        let ends = Arc::new(Ends { at, calls: AtomicU64::new(0), signal: Some(signal.clone()) });
        let mut trial = Trial::new(&log, 1, ends.clone());
        trial.signal = signal;
        trial.limits.concurrency = 4;
        let ended = trial.go(Mode::Record, &MIXED).await;
        assert!(matches!(ended.finish, Finish::Stopped(Stop::Interrupted)), "{:?}", ended.finish);
        let asked = ends.calls.load(Ordering::SeqCst);
        assert!(asked < at + 4, "nothing new was asked: {asked}");
        let answered = answered(&trial);
        assert_eq!(answered, asked, "what was in flight is recorded");

        let model = Oracle::prompt();
        let again = trial.with_model(model.clone());
        let ended = again.go(Mode::Replay, &MIXED).await;
        assert!(matches!(ended.finish, Finish::EndOfRecord), "{:?}", ended.finish);
        let ended = again.go(Mode::Resume, &MIXED).await;
        assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
        assert_eq!((ended.outcome_digest, model.calls()), (digest, calls - answered));
        assert_eq!(again.replay(&MIXED).await, digest);
        assert_sound(&log);
    }
}

fn answered(trial: &Trial) -> u64 {
    let events = facts(&trial.log, trial.run);
    events.iter().filter(|e| matches!(e, Event::ResponseReceived(_))).count() as u64
}

#[tokio::test(start_paused = true)]
async fn a_wrong_key_stops_the_run_which_can_continue() {
    let (digest, calls) = expected().await;
    for at in [1, 5, 40] {
        let ends = Arc::new(Ends { at, calls: AtomicU64::new(0), signal: None });
        let trial = Trial::in_memory(ends.clone());
        let stop = stop_of(trial.go(Mode::Record, &MIXED).await);
        let Stop::Model { failure, .. } = stop else { panic!("{stop:?}") };
        assert_eq!(failure.kind, FailureKind::Unauthorized);
        let asked = ends.calls.load(Ordering::SeqCst);
        assert!(asked <= at + 16, "nothing more was asked: {asked}");
        let failed = facts(&trial.log, trial.run).into_iter().filter_map(|event| match event {
            Event::AttemptFailed(failed) => Some(failed.details.gave_up),
            _ => None,
        });
        assert!(failed.into_iter().all(|gave_up| !gave_up), "the calls are asked again");
        let (model, left) = (Oracle::prompt(), calls - answered(&trial));
        let again = trial.with_model(model.clone());
        let ended = again.go(Mode::Resume, &MIXED).await;
        assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
        assert_eq!((ended.outcome_digest, model.calls()), (digest, left));
    }
}

#[tokio::test(start_paused = true)]
async fn a_finished_run_resumed_changes_nothing() {
    let trial = Trial::in_memory(Oracle::prompt());
    let digest = trial.record(&MIXED).await;
    let before = facts(&trial.log, trial.run);
    let model = Oracle::prompt();
    let ended = trial.with_model(model.clone()).go(Mode::Resume, &MIXED).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!((ended.outcome_digest, model.calls()), (digest, 0));
    assert_eq!(facts(&trial.log, trial.run), before);
}

fn some_fail(ask: Ask<'_>) -> Option<Failure> {
    let fails = ask.call.as_str().ends_with("/3");
    fails.then(|| Failure {
        status: Some(400),
        ..Failure::new(FailureKind::Rejected, "no \"such\"")
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_failed_for_good_stays_failed() {
    let signal = Signal::default();
    let trial = Trial { signal, ..Trial::in_memory(Oracle::failing(some_fail)) };
    let whole = trial.record(&MIXED).await;
    let cut = Trial::new(&memory(), 1, Oracle::prompt());
    // The same recording, cut off before its last facts.
    let events = facts(&trial.log, trial.run);
    crate::support::logs::copy(&trial.log, &cut.log, trial.run, events.len() - 4);
    let model = Oracle::prompt();
    let again = cut.with_model(model.clone());
    let ended = again.go(Mode::Resume, &MIXED).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!((ended.outcome_digest, model.calls()), (whole, 0), "answers now, but failed then");
    assert_eq!(again.replay(&MIXED).await, whole);
    assert!(ended.progress.failed >= 3, "{:?}", ended.progress);
}

/// Notes when it is asked.
struct Clocked {
    fault: Fault,
    times: std::sync::Mutex<Vec<(String, u32, Instant)>>,
}

impl Model for Clocked {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "clocked".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let asked = (ask.call.to_string(), ask.attempt, Instant::now());
        self.times.lock().unwrap().push(asked);
        let result = match (self.fault)(ask) {
            Some(failure) => Err(failure),
            None => Ok(Response { content: answer(ask), ..Response::text("") }),
        };
        async move { result }.boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_recorded_and_waits_are_honoured_without_a_permit() {
    let fault: Fault = |ask| {
        let wait = Some(Duration::from_secs(30));
        let failure =
            Failure { retry_after: wait, ..Failure::new(FailureKind::RateLimited, "slow down") };
        (ask.call.as_str() == "poll/0" && ask.attempt < 2 || ask.call.as_str() == "poll/1")
            .then_some(failure)
    };
    let model = Arc::new(Clocked { fault, times: std::sync::Mutex::default() });
    let mut trial = Trial::in_memory(model.clone());
    trial.limits.concurrency = 1;
    trial.retry = RetryPolicy { max_retries: 3, base_seconds: 1.0, ..RetryPolicy::default() };
    trial.record(&MIXED).await;
    let attempts: Vec<AttemptDetails> = facts(&trial.log, trial.run)
        .into_iter()
        .filter_map(|event| match event {
            Event::AttemptFailed(failed) => Some(failed.details),
            _ => None,
        })
        .collect();
    let flags: Vec<_> = attempts.iter().map(|a| (a.attempt, a.gave_up)).collect();
    assert_eq!(flags.iter().filter(|(_, gave_up)| *gave_up).count(), 1, "{flags:?}");
    assert!(flags.contains(&(3, true)) && flags.len() == 6, "{flags:?}");
    assert!(
        attempts.iter().all(|a| a.retry_after_ms == Some(30_000) && a.failure == "rate_limited")
    );
    let times = model.times.lock().unwrap();
    let of = |call: &str| times.iter().filter(|t| t.0 == call).map(|t| t.2).collect::<Vec<_>>();
    for call in ["poll/0", "poll/1"] {
        for pair in of(call).windows(2) {
            let waited = pair[1] - pair[0];
            assert!((30..40).contains(&waited.as_secs()), "{call}: {waited:?}");
        }
    }
    // With a single permit, the others are asked while the first two wait.
    assert!(of("poll/2")[0] < of("poll/0")[1]);
}
