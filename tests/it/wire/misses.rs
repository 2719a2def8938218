//! Requests that are not recorded: the report names the nearest one and the first field that differs.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRng, TestRunner};
use serde_json::{Value, json};

use super::upstream::{Failing, server};
use super::{record_with, replay_with};
use crate::support::cli::Place;

/// How many mutations are tried.
const MUTATIONS: usize = 100;

/// Sends each file of a folder, in order, and prints the errors.
const SEND: &str = "for body in \"$BODIES\"/*; do curl -sS --max-time 20 -d \"@$body\" $OPENAI_BASE_URL/chat/completions; echo; done";

fn bodies() -> Vec<Value> {
    let turn = |n: usize| {
        json!({"model": format!("model-{}", n % 3), "temperature": n, "max_tokens": 100 + n,
            "messages": [
                {"role": "system", "content": format!("You are participant {n} of a study about number {}.", n * n)},
                {"role": "user", "content": format!("What is the sum of {n} and {}? Think about it.", n + 7)},
            ],
            "tools": [{"type": "function", "function": {"name": format!("tool_{n}"), "parameters": {"n": n}}}]})
    };
    (1..13).map(turn).collect()
}

/// All places of a body that hold a text or a number.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                places(value, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (at, value) in items.iter().enumerate() {
                places(value, &format!("{path}/{at}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

fn mutate(body: &mut Value, path: &str) {
    match body.pointer_mut(path).unwrap() {
        Value::String(text) => {
            let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            text.insert_str(middle, " something else ");
        }
        other => *other = json!(other.as_f64().unwrap() + 1000.5),
    }
}

#[test]
fn the_field_that_was_changed_is_named() {
    let place = Place::new();
    let write = |folder: &str, bodies: &[Value]| {
        let folder = place.path(folder);
        std::fs::create_dir(&folder).unwrap();
        for (n, body) in bodies.iter().enumerate() {
            std::fs::write(folder.join(format!("{n:03}.json")), body.to_string()).unwrap();
        }
        folder.to_str().unwrap().to_owned()
    };
    let bodies = bodies();
    let program = ["sh", "-c", SEND];
    let recorded_from = write("recorded", &bodies);
    let upstream = server(Failing { one_in: 0 });
    let recorded =
        record_with(&place, "", &upstream.base_url(), &program, &[("BODIES", &recorded_from)]);
    assert_eq!(recorded.code, 0, "{}", recorded.err);
    drop(upstream);

    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let mut random = |below: usize| (0..below).new_tree(&mut runner).unwrap().current();
    let mut mutants = Vec::new();
    let mut due = Vec::new();
    for _ in 0..MUTATIONS {
        let original = random(bodies.len());
        let mut body = bodies[original].clone();
        let mut all = Vec::new();
        places(&body, "", &mut all);
        let path = all.swap_remove(random(all.len()));
        mutate(&mut body, &path);
        mutants.push(body);
        // Each body has one event for its question and one for its answer, after the first event.
        let seq = 2 + 2 * original;
        due.push((path[1..].replace('/', "."), seq));
    }
    let asked_from = write("asked", &mutants);
    let replayed = replay_with(&place, "latest", &program, &[("BODIES", &asked_from)]);
    assert_eq!(replayed.code, 1);
    let errors: Vec<&str> = replayed.out.lines().filter(|line| !line.is_empty()).collect();
    assert_eq!(errors.len(), MUTATIONS, "{}", replayed.err);
    for (error, (field, seq)) in errors.iter().zip(&due) {
        let error: Value = serde_json::from_str(error).unwrap();
        let said = error["error"]["message"].as_str().unwrap();
        assert!(said.contains(&format!("first difference at {field}\n")), "{field}: {said}");
        assert!(said.contains(&format!("nearest recorded request is seq {seq} ")), "{seq}: {said}");
    }
    assert!(replayed.err.contains("100 requests were not recorded"), "{}", replayed.err);
}

/// A message that was put into a dialogue moves all others, so that it differs in more fields than from a short question that has
/// nothing to do with it.
#[test]
fn the_nearest_request_has_the_most_equal_text() {
    let place = Place::new();
    let said = |texts: &[&str]| {
        let message = |text: &&str| json!({"role": "user", "content": text});
        json!({"model": "m", "messages": texts.iter().map(message).collect::<Vec<_>>()})
    };
    let write = |folder: &str, bodies: &[Value]| {
        std::fs::create_dir(place.path(folder)).unwrap();
        for (n, body) in bodies.iter().enumerate() {
            place.write(&format!("{folder}/{n}.json"), body.to_string());
        }
        place.path(folder).to_str().unwrap().to_owned()
    };
    let lines = [
        "You are Ada.",
        "There are four of you.",
        "What do you give?",
        "Why that much?",
        "And now?",
    ];
    let recorded =
        write("recorded", &[said(&["Is it raining?"]), said(&lines), said(&["Is it cold?"])]);
    let program = ["sh", "-c", SEND];
    let upstream = server(Failing { one_in: 0 });
    let done = record_with(&place, "", &upstream.base_url(), &program, &[("BODIES", &recorded)]);
    assert_eq!(done.code, 0, "{}", done.err);
    let mut longer = lines.to_vec();
    longer.insert(1, "You are in a hurry.");
    let asked = write("asked", &[said(&longer)]);
    let replayed = replay_with(&place, "latest", &program, &[("BODIES", &asked)]);
    let nearest = "the nearest recorded request is seq 4";
    assert!(replayed.err.contains(nearest), "{}", replayed.err);
    assert!(replayed.err.contains("first difference at messages.1.content"), "{}", replayed.err);
}
