//! A re-execution that differs from its log reports where, and how.

use std::sync::Arc;

use retold::id::CallPath;
use retold::prompt::{ChatRequest, Message, Role};
use retold::run::{Experiment, Finish, Mode, Question, Report, Run, Stop};
use serde_json::json;

use crate::support::logs::copy;
use crate::support::mixed::{Fact, fact, numbers};
use crate::support::oracle::Oracle;
use crate::support::trial::{Trial, memory, stop_of};

/// A small experiment that can be changed in one place at a time.
#[derive(Clone)]
struct Small {
    prompt: &'static str,
    temperature: f64,
    call: &'static str,
    sample: u32,
    parser: u32,
    facts: Vec<(&'static str, i64)>,
    parts: bool,
}

fn small() -> Small {
    Small {
        prompt: "You are a careful juror.\nThe case is simple.\nWhat is your number?",
        temperature: 0.5,
        call: "vote",
        sample: 0,
        parser: 1,
        facts: vec![("counted", 3), ("closed", 0)],
        parts: false,
    }
}

impl Experiment for Small {
    type Event = Fact;
    type State = ();

    fn apply(_: &mut (), _: &Fact) {}

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        for person in 0..3 {
            let whole = vec![self.prompt.to_owned()];
            let lines = || self.prompt.lines().map(str::to_owned).collect();
            let parts = if self.parts { lines() } else { whole };
            let question = Question::new(
                CallPath::new(format!("{}/{person}", self.call)).unwrap(),
                ChatRequest {
                    model: "m".to_owned(),
                    messages: vec![
                        Message::new(Role::System, format!("You are person {person}.")),
                        Message { role: Role::User, parts },
                    ],
                    temperature: Some(self.temperature),
                    ..ChatRequest::default()
                }
                .into_request()?,
                numbers(self.parser),
            )
            .sample(self.sample);
            if let Ok(answer) = run.ask(question).await? {
                run.record(fact("voted", answer.value), &[answer.decision])?;
            }
        }
        for (what, n) in &self.facts {
            run.record(fact(what, *n), &[])?;
        }
        Ok(())
    }

    fn report(&self, (): &()) -> Report {
        Report { json: json!(null), ..Report::default() }
    }
}

/// The report of re-executing the small experiment with a change.
async fn report(mode: Mode, changed: Small) -> String {
    let trial = Trial::in_memory(Oracle::prompt());
    trial.record(&small()).await;
    let again = trial.with_model(Oracle::prompt());
    match stop_of(again.go(mode, &changed).await) {
        Stop::Diverged(divergence) => divergence.to_string(),
        other => panic!("{other:?}"),
    }
}

macro_rules! diverges {
    ($name:ident, $change:expr) => {
        #[tokio::test]
        async fn $name() {
            let mut changed = small();
            let change: fn(&mut Small) = $change;
            change(&mut changed);
            let replayed = report(Mode::Replay, changed.clone()).await;
            let resumed = report(Mode::Resume, changed).await;
            insta::assert_snapshot!(concat!("divergence_", stringify!($name)), replayed);
            assert_eq!(replayed, resumed);
        }
    };
}

diverges!(a_changed_prompt, |s| {
    s.prompt = "You are a careful juror.\nThe case is hard.\nWhat is your number?";
});
diverges!(a_changed_parameter, |s| s.temperature = 0.7);
diverges!(a_changed_parser, |s| s.parser = 2);
diverges!(a_changed_fact, |s| s.facts[0].1 = 4);
diverges!(fewer_facts, |s| s.facts.truncate(1));

// Resuming a finished run replays it: nothing is asked and nothing is added.
diverges!(a_call_that_was_never_recorded, |s| s.call = "ballot");
diverges!(a_sample_that_was_never_recorded, |s| s.sample = 1);
diverges!(one_fact_more, |s| s.facts.push(("reopened", 1)));
diverges!(a_prompt_in_other_parts, |s| s.parts = true);

#[tokio::test]
async fn a_run_that_was_cut_off_is_identical_as_far_as_it_goes_and_no_further() {
    let whole = Trial::in_memory(Oracle::prompt());
    whole.record(&small()).await;
    let length = whole.log.reader().unwrap().runs().unwrap()[0].head.seq.0;
    for most in 1..length {
        let cut = Trial { log: memory(), ..whole.with_model(Oracle::prompt()) };
        copy(&whole.log, &cut.log, cut.run, usize::try_from(most).unwrap());
        let ended = cut.go(Mode::Replay, &small()).await;
        assert!(matches!(ended.finish, Finish::EndOfRecord), "{most}: {:?}", ended.finish);
        // A program that takes another path has not merely reached its end early.
        let other = Small { call: "ballot", ..small() };
        let ended = cut.go(Mode::Replay, &other).await;
        let diverged = matches!(ended.finish, Finish::Stopped(Stop::Diverged(_)));
        assert_eq!(diverged, most >= 4, "{most}: {:?}", ended.finish);
        let ended = cut.go(Mode::Resume, &other).await;
        let diverged = matches!(ended.finish, Finish::Stopped(Stop::Diverged(_)));
        assert_eq!(diverged, most >= 4, "resumed, {most}: {:?}", ended.finish);
    }
}

#[tokio::test]
async fn an_address_is_asked_once() {
    struct Twice;
    impl Experiment for Twice {
        type Event = Fact;
        type State = ();
        fn apply(_: &mut (), _: &Fact) {}
        async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
            let request = crate::support::mixed::chat("What?");
            let call = CallPath::new("same").unwrap();
            let question = || Question::new(call.clone(), request.clone(), Arc::clone(&numbers(1)));
            run.ask(question()).await?.unwrap();
            run.ask(question().sample(1)).await?.unwrap();
            run.ask(question()).await?.unwrap();
            Ok(())
        }
        fn report(&self, (): &()) -> Report {
            Report::default()
        }
    }
    let model = Oracle::prompt();
    let stop = stop_of(Trial::in_memory(model.clone()).go(Mode::Record, &Twice).await);
    assert!(matches!(&stop, Stop::AskedTwice { sample: 0, .. }), "{stop:?}");
    assert_eq!(model.calls(), 2);
}
