//! Many dialogues at once.

use std::sync::Arc;

use futures::future::BoxFuture;
use retold::event::Event;
use retold::id::{CallPath, RunId, Seq};
use retold::model::{Answerer, Ask, Failure, FailureKind, Model, ModelInfo, Response};
use retold::run::{Finish, Setup, Signal, Stop, execute};

use crate::support::logs::{assert_sound, facts};
use crate::support::mixed::Mixed;
use crate::support::oracle::Oracle;
use crate::support::trial::Trial;

/// Answers like another model until a given call, where it stops the run.
struct UpTo(&'static str, Signal, Answerer);

impl Model for UpTo {
    fn info(&self) -> ModelInfo {
        self.2.info()
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        if ask.call.as_str() == self.0 {
            self.1.stop();
            return Box::pin(async { Err(Failure::new(FailureKind::Server, "not now")) });
        }
        self.2.answer(ask)
    }
}

/// The calls of dialogues with a decision, in the order of the log.
fn decided(trial: &Trial, run: RunId) -> Vec<String> {
    let events = facts(&trial.log, run);
    let at = |seq: Seq| &events[seq.0 as usize - 1];
    let asked = |request: &Seq| match at(*request) {
        Event::RequestSent(sent) => sent.call.clone(),
        other => panic!("{other:?}"),
    };
    let call = |event: &Event| -> Option<CallPath> {
        let Event::DecisionMade(made) = event else { return None };
        match at(made.response) {
            Event::ResponseReceived(answer) => Some(asked(&answer.request)),
            Event::AnswerReused(answer) => Some(asked(&answer.request)),
            other => panic!("{other:?}"),
        }
    };
    let calls = events.iter().filter_map(call).map(|call| call.to_string());
    calls.filter(|call| call.starts_with("talk/")).collect()
}

#[tokio::test(start_paused = true)]
async fn decisions_are_logged_before_their_dialogue_has_ended_if_it_is_their_turn() {
    let mixed = Mixed { people: 3 };
    let undisturbed = Trial::in_memory(Oracle::prompt());
    let expected = undisturbed.record(&mixed).await;
    let due = ["talk/0/0", "talk/0/1", "talk/1/0", "talk/1/1", "talk/1/2"];
    assert_eq!(decided(&undisturbed, undisturbed.run)[..5], due, "in the order of the dialogues");
    for (stopped_at, due) in [("talk/0/1", &due[..1]), ("talk/1/2", &due[..4])] {
        let trial = Trial::in_memory(Oracle::prompt());
        let (run, signal) = (RunId([5; 8]), Signal::default());
        let model = Arc::new(UpTo(stopped_at, signal.clone(), Oracle::prompt()));
        let setup = Setup::record(&trial.log, run, "test", model).seed(7);
        let ended = execute(&mixed, Setup { signal, ..setup }).await.unwrap();
        assert!(matches!(ended.finish, Finish::Stopped(Stop::Interrupted)), "{:?}", ended.finish);
        assert_eq!(decided(&trial, run), due, "stopped at {stopped_at}");
        let resumed = Setup::resume(&trial.log, run, Oracle::prompt()).unwrap();
        let ended = execute(&mixed, resumed).await.unwrap();
        assert_eq!(ended.outcome_digest, expected, "stopped at {stopped_at}");
        assert_sound(&trial.log);
    }
}
