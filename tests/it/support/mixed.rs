//! An experiment that asks in every possible way.

use std::sync::Arc;

use rand_chacha::rand_core::Rng;
use retold::id::CallPath;
use retold::parse::{FoundValue, Strategy, StrategyParser};
use retold::prompt::{ChatRequest, EmbeddingRequest, Message, Request, Role};
use retold::run::{DecisionRef, Experiment, Question, Report, Reuse, Run, Stop, Talk};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A parser of numbers.
pub(crate) type Numbers = StrategyParser<serde_json::Value, i64>;

const STRATEGIES: &[Strategy<serde_json::Value, i64>] = &[Strategy {
    method: "first_number",
    find: |text, _| first_number(text).map(FoundValue::plain),
}];

fn first_number(text: &str) -> Option<i64> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?;
    digits.parse().ok()
}

/// A parser of numbers in the given version.
pub(crate) fn numbers(version: u32) -> Arc<Numbers> {
    let last = ("default", (|_, _| FoundValue::plain(-1)) as fn(&str, &serde_json::Value) -> _);
    let params = json!({"least": 0});
    Arc::new(StrategyParser::new("numbers", version, params, STRATEGIES, last, None).unwrap())
}

/// A chat request of one message.
pub(crate) fn chat(text: impl Into<String>) -> Request {
    let messages = vec![Message::new(Role::User, text)];
    let request = ChatRequest { model: "m".to_owned(), messages, ..ChatRequest::default() };
    request.into_request().unwrap()
}

/// A question for a number.
pub(crate) fn number(call: &str, request: Request) -> Question<Numbers> {
    Question::new(CallPath::new(call).unwrap(), request, numbers(1))
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fact {
    pub(crate) what: String,
    pub(crate) n: i64,
}

/// A fact that is not stored with anything else.
pub(crate) fn fact(what: &str, n: i64) -> Fact {
    Fact { what: what.to_owned(), n }
}

/// Asks in every possible way, for each of its people.
pub(crate) struct Mixed {
    pub(crate) people: u32,
}

const RULES: &str =
    "You take part in a study. The rules are long, so that the log keeps them once.";

impl Experiment for Mixed {
    type Event = Fact;
    type State = Vec<Fact>;

    fn apply(state: &mut Vec<Fact>, event: &Fact) {
        state.push(event.clone());
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let first = run.ask(number("open", chat("Say a number."))).await?;
        let (value, causes) = match &first {
            Ok(answer) => (answer.value, vec![answer.decision.clone()]),
            Err(_) => (-2, Vec::new()),
        };
        run.record(fact("opened", value), &causes)?;

        let ask = |i| number(&format!("poll/{i}"), chat(format!("{RULES} Person {i}: a number.")));
        let answers = run.ask_all((0..self.people).map(ask)).await?;
        let sum = answers.iter().flatten().map(|a| a.value).sum();
        let causes: Vec<DecisionRef> =
            answers.iter().flatten().map(|a| a.decision.clone()).collect();
        run.record(fact("polled", sum), &causes)?;

        let mut rng = run.rng("vectors");
        let draws: Vec<u64> = (0..self.people).map(|_| rng.next_u64() % 3).collect();
        let vectors = draws.iter().enumerate().map(|(i, draw)| {
            let (model, input) = ("e".to_owned(), format!("text {draw}"));
            let request = EmbeddingRequest { model, input, dimensions: None };
            let question = number(&format!("vector/{i}"), request.into_request().unwrap());
            question.reuse(Reuse::Shared)
        });
        run.ask_each(vectors, |run, answer| match answer {
            Ok(answer) => run.record(fact("embedded", answer.value), &[answer.decision]),
            Err(_) => run.record(fact("not embedded", 0), &[]),
        })
        .await?;

        let people: Vec<u32> = (0..self.people).collect();
        let sums = run.converse_all(people, talk).await?;
        run.record(fact("talked", sums.into_iter().sum()), &[])
    }

    fn report(&self, state: &Vec<Fact>) -> Report {
        Report { json: json!(state), text: format!("{} facts\n", state.len()), ..Report::default() }
    }
}

/// A dialogue of some turns; how many depends on the answers.
async fn talk(talk: &mut Talk<Mixed>, person: u32) -> Result<i64, Stop> {
    let mut messages =
        vec![Message { role: Role::System, parts: vec![RULES.into(), "Go.".into()] }];
    let mut sum = 0;
    for turn in 0..2 + person % 3 {
        messages.push(Message::new(Role::User, format!("Person {person}, turn {turn}?")));
        let request = ChatRequest { messages: messages.clone(), ..ChatRequest::default() };
        let question = number(&format!("talk/{person}/{turn}"), request.into_request()?);
        match talk.ask(question.sample(1)).await? {
            Ok(answer) => {
                messages.push(Message::new(Role::Assistant, answer.content.text()));
                sum += answer.value;
                talk.record(fact("said", answer.value), &[answer.decision]);
            }
            Err(_) => {
                talk.record(fact("was silent", 0), &[]);
                break;
            }
        }
    }
    Ok(sum)
}
