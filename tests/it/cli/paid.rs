//! Paid answers that are hard to read, or that arrived while the program was stopped: they are
//! kept, used, and not paid for twice.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server};
use crate::support::waiting::ended;

const GOOD: &str = "Answer: (1 - 1) + 4 * 6 = 24";

/// A chat completion with the given message and usage.
fn raw(message: &[u8], usage: &str) -> Vec<u8> {
    let begin = br#"{"id":"1","model":"test-model-1","choices":[{"index":0,"finish_reason":"stop","message":"#;
    let end = format!("}}],\"usage\":{usage}}}");
    [begin, message, end.as_bytes()].concat()
}

const USAGE: &str = r#"{"prompt_tokens":5,"completion_tokens":2}"#;

/// Answers that are each wrong in a different way, and the warning expected for each.
fn bad() -> Vec<(Vec<u8>, Option<&'static str>)> {
    let text = |text: &str| format!(r#"{{"role":"assistant","content":"{text}"}}"#).into_bytes();
    let mut not_utf8 = text(&format!("{GOOD} @"));
    let at = not_utf8.iter().position(|byte| *byte == b'@').unwrap();
    not_utf8[at] = 0xff;
    vec![
        (raw(&text(&format!("{GOOD} \\ud83d")), USAGE), Some("half a surrogate pair")),
        (raw(&not_utf8, USAGE), Some("bytes that are not UTF-8")),
        (
            raw(&text(GOOD), r#"{"prompt_tokens":1e400,"completion_tokens":2}"#),
            Some("a number beyond what a double holds"),
        ),
        (
            raw(br#"{"role":"assistant","content":{"text":"24"}}"#, USAGE),
            Some("\"content\" is neither a text nor a list of parts"),
        ),
        (raw(br#"{"role":"assistant","content":"24",}"#, USAGE), Some("it is not JSON")),
        (raw(&text(GOOD), USAGE), None),
    ]
}

fn events(place: &Place, kind: &str) -> Vec<Value> {
    let (log, _) = place.json("log latest");
    let events = log["events"].as_array().unwrap();
    events.iter().filter(|event| event["kind"] == kind).cloned().collect()
}

#[test]
fn answers_that_cannot_be_read_are_kept_as_bytes_and_not_bought_again() {
    let place = Place::new();
    let server = Server::script(bad().into_iter().map(|(body, _)| Reply::new(200, body)));
    let args = format!("run small.yaml --base-url {}", server.base_url());
    let (ended, code) = place.json(&args);
    assert_eq!((code, &ended["outcome"]), (0, &"finished".into()), "{ended}");
    assert_eq!((&ended["model_calls"], &ended["failed_calls"]), (&6.into(), &0.into()));
    assert_eq!(ended["unreadable_answers"], 2, "of which no text could be had");
    let digest = &ended["outcome_digest"];
    for (event, (bytes, reason)) in events(&place, "ResponseReceived").iter().zip(bad()) {
        let unreadable = &event["body"]["extra"]["unreadable"];
        let Some(reason) = reason else {
            assert_eq!(*unreadable, Value::Null, "{event}");
            continue;
        };
        let body = BASE64.encode(&bytes);
        assert_eq!(*unreadable, json!({"body": body, "length": bytes.len(), "reason": reason}));
    }
    let decisions = events(&place, "DecisionMade");
    let warnings: Vec<&Value> = decisions.iter().map(|event| &event["body"]["warnings"]).collect();
    let not_text =
        "the answer could not be read: \"content\" is neither a text nor a list of parts";
    assert_eq!(warnings[3], &json!([not_text]));
    assert_eq!(warnings[4], &json!(["the answer could not be read: it is not JSON"]));
    let of_text = [0, 1, 2, 5].map(|n| &decisions[n]["body"]["value"]);
    assert!(of_text.iter().all(|value| **value == *of_text[3]), "what could be read is used");
    // No model is asked again, and everything made from the run says the same.
    let (resumed, _) = place.json(&format!("run --resume latest --base-url {}", server.base_url()));
    assert_eq!((&resumed["model_calls"], &resumed["outcome_digest"]), (&0.into(), digest));
    let replayed = place.run("run --resume latest");
    let said = "warning: 2 of 6 answers could not be read and were parsed as empty text; their bytes are kept\n  \
                hint: `retold log ";
    assert!(replayed.err.contains(said), "{}", replayed.err);
    place.ok("replay latest");
    place.ok("verify");
    place.ok("export latest run.jsonl");
    place.ok("replay run.jsonl");
    place.ok("--log other.db import run.jsonl");
    place.ok("--log other.db replay latest");
    place.ok("export latest answers.jsonl --as exchanges");
    let (again, _) = place.json("run small.yaml --answers answers.jsonl");
    assert_eq!(&again["outcome_digest"], digest, "the exchanges say so, too");
    place.ok("replay latest");
    let others = Server::handler(|_| Reply::chat(GOOD));
    let fork = format!("fork latest --set samples=4 --base-url {}", others.base_url());
    let (forked, code) = place.json(&fork);
    assert_eq!((code, &forked["model_calls"]), (0, &2.into()), "{forked}");
    let reused = events(&place, "AnswerReused");
    let reasons = reused.iter().filter_map(|event| event["body"]["unreadable"].as_str());
    assert_eq!(reasons.filter(|reason| *reason == "it is not JSON").count(), 1);
    place.ok("replay latest");
    assert_eq!(server.received().len(), 6);
}

#[test]
fn the_bytes_are_not_kept_if_they_hold_the_key() {
    let place = Place::new();
    let key = "sk-live-0123456789abcdefSECRET";
    let forms = [key.to_owned(), key.replace('k', "\\u006b")];
    let mut n = 0;
    let server = Server::handler(move |_| {
        n += 1;
        let content = format!(r#"{{"content":"\ud800 {}"}}"#, forms[n % 2]);
        Reply::new(200, raw(content.as_bytes(), USAGE))
    });
    let mut command = place.command();
    command.args(["run", "small.yaml", "--base-url", &server.base_url()]);
    let said = Said::ended(command.env("OPENAI_API_KEY", key));
    assert_eq!(said.code, 0, "{}", said.err);
    for event in events(&place, "ResponseReceived") {
        let unreadable = &event["body"]["extra"]["unreadable"];
        assert_eq!(unreadable["body"], Value::Null, "{event}");
        assert_eq!(unreadable["reason"], "half a surrogate pair");
    }
    assert!(!place.ok("log latest --json").contains("SECRET"));
}

#[test]
fn a_reply_that_is_not_an_answer_is_asked_again() {
    let place = Place::new();
    let replies = [Reply::new(200, "{\"note\": nothing}"), Reply::new(200, "{\"choices\":[{}],}")];
    let good = std::iter::repeat_n(Reply::chat(GOOD), 6);
    let server = Server::script(replies.into_iter().chain(good));
    place.ok(&format!("run small.yaml --base-url {}", server.base_url()));
    assert_eq!(server.received().len(), 8);
}

#[test]
fn an_answer_is_one_under_another_content_type() {
    let place = Place::new();
    let reply = || Reply::chat(GOOD).header("content-type", "text/plain; charset=utf-8");
    let server = Server::handler(move |_| reply());
    place.ok(&format!("run small.yaml --base-url {}", server.base_url()));
    assert_eq!(server.received().len(), 6);
}

#[test]
fn integers_beyond_a_double_are_kept_digit_for_digit() {
    let place = Place::new();
    let digits = ["9007199254740993", "-18446744073709551617", "123456789012345678901234567890"];
    let message = format!(
        r#"{{"role":"assistant","content":"{GOOD}","tool_calls":[{{"id":"c","function":{{"name":"f","arguments":{{"id":{},"far":[1,{}],"farther":{},"near":9007199254740992}}}}}}]}}"#,
        digits[0], digits[1], digits[2]
    );
    let server = Server::handler(move |_| Reply::new(200, raw(message.as_bytes(), USAGE)));
    place.ok(&format!("run small.yaml --base-url {}", server.base_url()));
    let check = |place: &Place| {
        for event in events(place, "ResponseReceived") {
            let extra = &event["body"]["extra"];
            let arguments = &extra["tool_calls"][0]["function"]["arguments"];
            let kept = json!({"id": digits[0], "far": [1, digits[1]], "farther": digits[2],
                "near": 9007199254740992_u64});
            assert_eq!(*arguments, kept);
            let places = ["far/1", "farther", "id"];
            let places = places.map(|place| format!("/tool_calls/0/function/arguments/{place}"));
            assert_eq!(extra["exact_integers"], json!(places));
            assert_eq!(extra["unreadable"], Value::Null, "nothing is wrong with it");
        }
    };
    check(&place);
    place.ok("verify");
    place.ok("replay latest");
    place.ok("export latest run.jsonl");
    place.ok("export latest answers.jsonl --as exchanges");
    let other = Place::new();
    std::fs::copy(place.path("run.jsonl"), other.path("run.jsonl")).unwrap();
    other.ok("import run.jsonl");
    check(&other);
    other.ok("export latest again.jsonl");
    assert_eq!(other.read("again.jsonl"), place.read("run.jsonl"));
    std::fs::copy(place.path("answers.jsonl"), other.path("answers.jsonl")).unwrap();
    other.ok("run small.yaml --answers answers.jsonl");
    check(&other);
    // A file from another program, with numbers as they are.
    let line = place.read("answers.jsonl").lines().next().unwrap().to_owned();
    let mut line: Value = serde_json::from_str(&line).unwrap();
    line["response"]["tool_calls"] = json!([{"arguments": {"id": 9007199254740993_u64}}]);
    line["response"]["exact_integers"].take();
    other.write("foreign.jsonl", format!("{line}\n"));
    other.ok("run small.yaml --set puzzles.rows=0..1 --set samples=1 --answers foreign.jsonl");
    let extra = &events(&other, "ResponseReceived")[0]["body"]["extra"];
    assert_eq!(extra["tool_calls"][0]["arguments"]["id"], digits[0]);
    assert_eq!(extra["exact_integers"], json!(["/tool_calls/0/arguments/id"]));
}

fn start(place: &Place, args: &str) -> Child {
    let mut command = place.command();
    command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

fn wait_for_requests(server: &Server, n: usize) {
    for _ in 0..6000 {
        if server.received().len() >= n {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the server is not asked {n} times");
}

#[test]
fn an_answer_that_came_while_the_program_was_stopped_is_used() {
    let place = Place::new();
    let server = Server::handler(|_| Reply::chat(GOOD).slow_start(Duration::from_millis(300)));
    let args = format!(
        "run small.yaml --json --set limits.timeout_seconds=1.5 --base-url {}",
        server.base_url()
    );
    let child = start(&place, &args);
    for n in [1, 3] {
        wait_for_requests(&server, n);
        signal(&child, "STOP");
        // The answer arrives, and its timeout passes.
        std::thread::sleep(Duration::from_secs(3));
        signal(&child, "CONT");
    }
    let said = Said::new(ended(child));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert_eq!(server.received().len(), 6, "no answer is bought twice");
    assert_eq!(events(&place, "AttemptFailed").len(), 0);
}

#[test]
fn an_answer_in_flight_when_the_program_is_asked_to_end_is_used() {
    for name in ["TERM", "INT"] {
        let place = Place::new();
        let server = Server::handler(|_| Reply::chat(GOOD).slow_start(Duration::from_millis(200)));
        let child = start(&place, &format!("run small.yaml --base-url {}", server.base_url()));
        wait_for_requests(&server, 2);
        signal(&child, name);
        let said = Said::new(ended(child));
        assert_eq!(said.code, 130, "{}{}", said.out, said.err);
        let asked = server.received().len();
        assert_eq!(events(&place, "ResponseReceived").len(), asked, "each is recorded");
        place.ok(&format!("run --resume latest --base-url {}", server.base_url()));
        assert_eq!(server.received().len(), 6);
    }
}
