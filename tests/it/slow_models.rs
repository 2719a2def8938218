//! Models that take minutes: what is waited for, and what is said of an attempt that is dropped. The clock is simulated.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::event::Event;
use retold::model::{Ask, Failure, Limits, Model, ModelInfo, Response};
use retold::run::{Finish, Mode, Update};

use crate::support::logs::facts;
use crate::support::mixed::Mixed;
use crate::support::oracle::answer;
use crate::support::trial::Trial;

/// Thinks for as many seconds about every third answer, and is quick about the others.
struct Thinks {
    seconds: u64,
    calls: AtomicU64,
}

impl Thinks {
    fn of(seconds: u64) -> Arc<Self> {
        Arc::new(Thinks { seconds, calls: AtomicU64::new(0) })
    }
}

impl Model for Thinks {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "thinks".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        async move {
            let number = self.calls.fetch_add(1, Ordering::SeqCst);
            let wait = if number.is_multiple_of(3) { self.seconds } else { 1 };
            tokio::time::sleep(Duration::from_secs(wait)).await;
            Ok(Response { content: answer(ask), ..Response::text("") })
        }
        .boxed()
    }
}

const MIXED: Mixed = Mixed { people: 4 };

fn failed(trial: &Trial) -> Vec<String> {
    let failed = facts(&trial.log, trial.run).into_iter().filter_map(|event| match event {
        Event::AttemptFailed(failed) => Some(failed.details.error),
        _ => None,
    });
    failed.collect()
}

#[tokio::test(start_paused = true)]
async fn minutes_of_thought_are_waited_for() {
    for seconds in [130, 599] {
        let model = Thinks::of(seconds);
        let mut trial = Trial::in_memory(model.clone());
        trial.limits = Limits::default();
        let ended = trial.go(Mode::Record, &MIXED).await;
        assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
        let asked = model.calls.load(Ordering::SeqCst);
        assert_eq!((failed(&trial).len(), ended.progress.model_calls), (0, asked), "each once");
    }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_attempt_is_told_when_it_happens_and_recorded() {
    let model = Thinks::of(130);
    let mut trial = Trial::in_memory(model);
    trial.limits = Limits { timeout_seconds: 120.0, ..Limits::default() };
    let told: Rc<RefCell<Vec<String>>> = Rc::default();
    let telling = told.clone();
    let mut setup = trial.setup(Mode::Record);
    setup.follow = Box::new(move |update| {
        if let Update::TimedOut { call, sample, attempt, failure, again } = update {
            let again = again.is_some();
            telling.borrow_mut().push(format!("{call}#{sample} {attempt} {again} {failure}"));
        }
    });
    let ended = retold::run::execute(&MIXED, setup).await.unwrap();
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    let (told, failed) = (told.borrow(), failed(&trial));
    assert!(!told.is_empty());
    assert_eq!(told.len(), failed.len(), "each is an event: {told:?}");
    assert!(told.iter().all(|line| line.contains("no answer within 120 s")), "{told:?}");
    assert_eq!(ended.progress.timed_out, ended.progress.failed);
}
