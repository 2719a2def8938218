//! A long answer is parsed while everything else continues, and the record does not show it.

use std::sync::{Arc, Mutex};
use std::thread::{ThreadId, current};

use futures::FutureExt;
use futures::future::BoxFuture;
use retold::event::Event;
use retold::id::CallPath;
use retold::model::{Ask, Failure, Model, ModelInfo, Response};
use retold::parse::{FoundValue, Strategy, StrategyParser};
use retold::run::{Experiment, Question, Report, Run, Stop, Talk};
use serde_json::{Value, json};

use crate::support::logs::facts;
use crate::support::mixed::{Fact, chat, fact};
use crate::support::trial::{Trial, memory};

/// Answers with the path of its call and, if the path says so, a long text after it.
struct Talkative;

impl Model for Talkative {
    fn info(&self) -> ModelInfo {
        ModelInfo { kind: "talkative".to_owned(), source: None, simulated: true }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let mut text = ask.call.to_string();
        if text.contains("long") {
            text.push_str(&" and on".repeat(20_000));
        }
        async move { Ok(Response::text(text)) }.boxed()
    }
}

type Lengths = StrategyParser<Value, usize>;

/// The thread on which each answer was parsed.
static PARSED: Mutex<Vec<(String, ThreadId)>> = Mutex::new(Vec::new());

const STRATEGIES: &[Strategy<Value, usize>] = &[Strategy {
    method: "length",
    find: |text, _| {
        let path = text.split(' ').next().unwrap_or_default().to_owned();
        PARSED.lock().unwrap().push((path, current().id()));
        Some(FoundValue::plain(text.len()))
    },
}];

fn question(path: &str) -> Question<Lengths> {
    let last = ("none", (|_, _| FoundValue::plain(0)) as fn(&str, &Value) -> _);
    let parser = StrategyParser::new("lengths", 1, json!({}), STRATEGIES, last, None).unwrap();
    Question::new(CallPath::new(path).unwrap(), chat(path), Arc::new(parser))
}

/// Asks short and long questions in every way.
struct Asks;

impl Experiment for Asks {
    type Event = Fact;
    type State = Vec<Fact>;

    fn apply(state: &mut Vec<Fact>, event: &Fact) {
        state.push(event.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        run.ask(question("one/long")).await?.unwrap();
        run.ask(question("one/short")).await?.unwrap();
        let all = ["all/long", "all/short", "all/second/long", "all/last"];
        run.ask_each(all.map(question), |run, answer| {
            let answer = answer.unwrap();
            run.record(fact("told", answer.value as i64), &[answer.decision])
        })
        .await?;
        let talk = async |talk: &mut Talk<Self>, path: &str| {
            let answer = talk.ask(question(path)).await?.unwrap();
            talk.record(fact("said", answer.value as i64), &[answer.decision]);
            Ok(())
        };
        run.converse_all(["talk/long", "talk/short"], talk).await.map(drop)
    }

    fn report(&self, state: &Vec<Fact>) -> Report {
        Report { json: json!(state), ..Report::default() }
    }
}

#[tokio::test]
async fn long_answers_are_parsed_by_other_threads_in_the_order_of_the_questions() {
    let trial = Trial::new(&memory(), 1, Arc::new(Talkative));
    let recorded = trial.record(&Asks).await;
    let parsed = std::mem::take(&mut *PARSED.lock().unwrap());
    assert_eq!(parsed.len(), 8);
    for (path, thread) in parsed {
        assert_eq!(path.contains("long"), thread != current().id(), "{path}");
    }
    let long = |path: &str| (path.len() + 140_000) as i64;
    let lengths = [long("all/long"), 9, long("all/second/long"), 8, long("talk/long"), 10];
    let logged: Vec<i64> = facts(&trial.log, trial.run)
        .into_iter()
        .filter_map(|event| match event {
            Event::Occurred(occurred) => occurred.fact["n"].as_i64(),
            _ => None,
        })
        .collect();
    assert_eq!(logged, lengths);
    assert_eq!(trial.replay(&Asks).await, recorded);
}
