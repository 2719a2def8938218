//! A replay is identical: the same outcome digest and no model calls, whatever the order of
//! completion.

use std::sync::Arc;
use std::time::Duration;

use retold::event::Event;
use retold::id::Seq;
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::model::{Ask, Failure, FailureKind};
use retold_game24::{Game24, SimulatedSolver};
use serde_json::json;

use crate::support::logs::{Folder, assert_sound, facts};
use crate::support::mixed::Mixed;
use crate::support::oracle::{Oracle, dice};
use crate::support::trial::Trial;

/// One attempt in seven fails, and one call in thirty for good.
fn faults(ask: Ask<'_>) -> Option<Failure> {
    if dice(ask, "for good").is_multiple_of(30) {
        return Some(Failure::new(FailureKind::Rejected, "for good"));
    }
    let fails = dice(ask, &format!("attempt {}", ask.attempt)).is_multiple_of(7);
    fails.then(|| Failure::new(FailureKind::Server, "not now"))
}

#[tokio::test(start_paused = true)]
async fn any_order_of_completion_gives_the_same_outcome() {
    let mixed = Mixed { people: 24 };
    let expected = Trial::in_memory(Oracle::failing(faults)).record(&mixed).await;
    let mut orders = std::collections::BTreeSet::new();
    for order in 1..=12 {
        let model = Oracle::shuffled(order, Duration::from_secs(20), faults);
        let trial = Trial::in_memory(model);
        assert_eq!(trial.record(&mixed).await, expected, "order {order}");
        assert_eq!(trial.replay(&mixed).await, expected, "replay of order {order}");
        assert_sound(&trial.log);
        let answered = facts(&trial.log, trial.run).into_iter().filter_map(|event| match event {
            Event::ResponseReceived(answer) => Some(answer.request.0),
            _ => None,
        });
        orders.insert(answered.collect::<Vec<u64>>());
    }
    assert!(orders.len() > 6, "the orders did differ: {}", orders.len());
}

fn game() -> Game24 {
    let puzzles: Vec<_> = ["4 5 6 10", "1 1 4 6", "1 2 4 7", "3 3 8 8", "1 5 5 5"]
        .iter()
        .enumerate()
        .map(|(row, text)| {
            let numbers: Vec<i64> = text.split(' ').map(|n| n.parse().unwrap()).collect();
            json!({"row": row, "numbers": numbers})
        })
        .collect();
    let template = json!({"name": "t", "text": "Use the numbers to make 24.\nInput: {input}\n"});
    let settings = json!({
        "puzzles": puzzles, "samples": 20, "template": template, "parser": "game24@2",
        "request": {"model": "m", "temperature": 0.7},
    });
    Game24::new(serde_json::from_value(settings).unwrap()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_game_of_24_replays_identically_under_shuffled_orders() {
    let bad = Misbehaviour {
        malformed: 0.1,
        truncated: 0.1,
        rate_limited: 0.1,
        server_error: 0.1,
        failure: 0.02,
        ..Misbehaviour::default()
    };
    let model = |latency| {
        let bad = Misbehaviour { latency, ..bad.clone() };
        Arc::new(SimulatedModel::new(3, bad, Box::new(SimulatedSolver)))
    };
    let expected = Trial::in_memory(model(Duration::ZERO)).record(&game()).await;
    for seconds in 1..=4 {
        let mut trial = Trial::in_memory(model(Duration::from_secs(seconds)));
        trial.limits.concurrency = usize::try_from(seconds * 7).unwrap();
        assert_eq!(trial.record(&game()).await, expected);
        assert_eq!(trial.replay(&game()).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_replays_like_memory() {
    let (folder, mixed) = (Folder::new(), Mixed { people: 24 });
    let expected = Trial::in_memory(Oracle::failing(faults)).record(&mixed).await;
    let model = Oracle::shuffled(5, Duration::from_secs(3), faults);
    let trial = Trial::new(&folder.log(), 1, model);
    assert_eq!(trial.record(&mixed).await, expected);
    drop(trial);
    let again = Trial::new(&folder.log(), 1, Oracle::prompt());
    assert_eq!(again.replay(&mixed).await, expected);
    assert_sound(&again.log);
}

#[tokio::test(start_paused = true)]
async fn shared_answers_are_asked_for_once_and_replay() {
    let trial = Trial::in_memory(Oracle::shuffled(2, Duration::from_secs(3), |_| None));
    let mixed = Mixed { people: 30 };
    let digest = trial.record(&mixed).await;
    let events = facts(&trial.log, trial.run);
    let reused = events.iter().filter(|e| matches!(e, Event::AnswerReused(_))).count();
    assert_eq!(reused, 27, "30 questions, 3 texts");
    for event in &events {
        let Event::AnswerReused(reused) = event else { continue };
        let source = &events[usize::try_from(reused.from_seq.0).unwrap() - 1];
        let Event::ResponseReceived(answer) = source else { panic!("{source:?}") };
        assert_eq!(answer.content, reused.content);
        assert_eq!(reused.from_run, trial.run);
    }
    assert_eq!(trial.replay(&mixed).await, digest);
}

#[tokio::test(start_paused = true)]
async fn if_the_first_shared_question_fails_the_next_one_is_asked() {
    let first_fails = |ask: Ask<'_>| {
        let is_first = ask.call.as_str() == "vector/0";
        is_first.then(|| Failure::new(FailureKind::Rejected, "for good"))
    };
    let trial = Trial::in_memory(Oracle::shuffled(2, Duration::from_secs(3), first_fails));
    let mixed = Mixed { people: 30 };
    let digest = trial.record(&mixed).await;
    let events = facts(&trial.log, trial.run);
    let asked: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::RequestSent(sent) if sent.call.as_str().starts_with("vector/") => Some(sent),
            _ => None,
        })
        .collect();
    let prompt = asked.iter().find(|sent| sent.call.as_str() == "vector/0").unwrap().prompt;
    let number = |call: &str| call["vector/".len()..].parse::<u32>().unwrap();
    let of_prompt = asked.iter().filter(|sent| sent.prompt == prompt);
    let second = of_prompt.map(|sent| number(sent.call.as_str())).filter(|n| *n > 0).min().unwrap();
    let mut reused = 0;
    for event in &events {
        let Event::AnswerReused(answer) = event else { continue };
        reused += 1;
        let request = |seq: Seq| match &events[usize::try_from(seq.0).unwrap() - 1] {
            Event::RequestSent(sent) => sent,
            other => panic!("{other:?}"),
        };
        let source = match &events[usize::try_from(answer.from_seq.0).unwrap() - 1] {
            Event::ResponseReceived(source) => request(source.request),
            other => panic!("{other:?}"),
        };
        if request(answer.request).prompt == prompt {
            assert_eq!(number(source.call.as_str()), second, "the next in the program's order");
        }
    }
    assert_eq!(reused, 26, "30 questions, 3 texts, 1 failure");
    assert_eq!(trial.replay(&mixed).await, digest);
}
