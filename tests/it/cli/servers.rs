//! The real program and a server that misbehaves: retries, events, exit codes, and no key anywhere.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::cli::{Place, Said, assert_said};
use crate::support::server::{Received, Reply, Server};

const KEY: &str = "sk-live-0123456789abcdefSECRET";

/// Asks a server one question, with a key from the environment.
fn ask(place: &Place, server: &Server, more: &str) -> Said {
    let args = format!(
        "run small.yaml --json -vvv --set puzzles.rows=0..1 --set samples=1 \
         --set limits.timeout_seconds=1 --base-url {} {more}",
        server.base_url()
    );
    let mut command = place.command();
    command.args(args.split_whitespace()).env("OPENAI_API_KEY", KEY);
    Said::ended(&mut command)
}

/// Status and failure of each failed attempt, and whether it was the last.
fn attempts(place: &Place) -> Vec<Value> {
    let (log, _) = place.json("log latest");
    let events = log["events"].as_array().unwrap();
    let failed = events.iter().filter(|e| e["kind"] == "AttemptFailed").map(|e| &e["body"]);
    failed.map(|b| json!([b["status"], b["failure"], b["final"] == true])).collect()
}

/// What is expected of a question.
struct Expected {
    code: i32,
    requests: usize,
    attempts: Value,
}

/// Asks a server that begins with the given replies and then answers properly, and then resumes.
#[track_caller]
fn check(bad: &[Reply], expected: Expected) {
    let (place, bad) = (Place::new(), bad.to_vec());
    let mut replies = bad.into_iter();
    let server = Server::handler(move |_| {
        replies.next().unwrap_or_else(|| Reply::chat("Answer: (1 - 1) + 4 * 6 = 24"))
    });
    let said = ask(&place, &server, "");
    assert_eq!(said.code, expected.code, "{}{}", said.out, said.err);
    let object: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(server.received().len(), expected.requests, "{object}");
    assert_eq!(json!(attempts(&place)), expected.attempts);
    place.ok("verify");
    // A finished run stays as it is; any other run continues.
    let mut resume = place.command();
    resume.args(["run", "--resume", "latest", "--json", "--base-url", &server.base_url()]);
    resume.env("OPENAI_API_KEY", KEY);
    let resumed = Said::ended(&mut resume);
    let resumed: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!(resumed["outcome"], "finished", "{resumed}");
    place.ok("replay latest");
}

/// One bad reply, after which the call is retried.
#[track_caller]
fn again(bad: Reply, status: Value, failure: &str) {
    let attempts = json!([[status, failure, false]]);
    check(&[bad], Expected { code: 0, requests: 2, attempts });
}

fn limited() -> Reply {
    Reply::error(429, "rate_limit_exceeded", "Slow down.")
}

#[test]
fn what_is_tried_again() {
    again(limited(), json!(429), "rate_limited");
    again(limited().header("retry-after", "1"), json!(429), "rate_limited");
    again(Reply::error(500, "x", "Oops."), json!(500), "server");
    again(Reply::error(429, "insufficient_quota", "No credit."), json!(429), "quota_exhausted");
    again(Reply::chat("cut").cut_after(20), json!(200), "connection");
    again(Reply::reset(), Value::Null, "connection");
    again(Reply::new(200, "{\"choices\": ["), json!(200), "malformed");
    again(Reply::new(200, "<html>").header("content-type", "text/html"), json!(200), "malformed");
    again(Reply::chat("late").slow_body(Duration::from_secs(3)), Value::Null, "timeout");
}

#[test]
fn a_call_that_fails_for_good() {
    let attempts = json!([[400, "rejected", true]]);
    check(&[Reply::error(400, "bad", "No.")], Expected { code: 4, requests: 1, attempts });
    let attempts = json!([[500, "server", false], [500, "server", false], [500, "server", true]]);
    let down = || Reply::error(500, "x", "Oops.");
    check(&[down(), down(), down()], Expected { code: 4, requests: 3, attempts });
    let quota = || Reply::error(429, "insufficient_quota", "No credit.");
    let attempts = json!([[429, "quota_exhausted", false], [429, "quota_exhausted", true]]);
    check(&[quota(), quota()], Expected { code: 4, requests: 2, attempts });
}

#[test]
fn a_wrong_key_stops_the_run_and_it_can_be_resumed() {
    let attempts = json!([[401, "unauthorized", false]]);
    let wrong = Reply::error(401, "invalid_api_key", "Incorrect API key.");
    check(&[wrong], Expected { code: 4, requests: 1, attempts });
}

/// Asserts that no key is in any file of a folder or in any output.
fn assert_clean(place: &Place, said: &[&Said], keys: &[&str]) {
    let mut hidden: Vec<(String, Vec<u8>)> = Vec::new();
    for entry in std::fs::read_dir(place.root()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "key") {
            hidden.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    assert!(hidden.iter().any(|(name, _)| name.ends_with("retold.db")));
    for said in said {
        hidden.push(("stdout".to_owned(), said.out.clone().into_bytes()));
        hidden.push(("stderr".to_owned(), said.err.clone().into_bytes()));
    }
    for (name, bytes) in &hidden {
        for key in keys {
            let found = bytes.windows(key.len()).any(|w| w == key.as_bytes());
            assert!(!found, "{key} is in {name}");
        }
    }
}

/// Sends the key back in every part of a response that can hold it.
fn echo(request: &Received) -> Vec<Reply> {
    let key = request.header("authorization").unwrap().replace("Bearer ", "");
    vec![
        Reply::error(429, &key, &format!("{}{key}", "x".repeat(490))),
        Reply::new(500, format!("{request:?}")),
        Reply::new(200, format!("{{\"{key}\"")),
        Reply::new(200, key.clone()).header("content-type", &format!("text/{key}")),
        Reply::chat(&format!("your key is {key}")).header("x-request-id", &key),
    ]
}

#[test]
fn the_key_is_in_no_byte() {
    let place = Place::new();
    place.write("my.key", format!("{KEY}-from-file\n"));
    let mut n = 0;
    let server = Server::handler(move |request| {
        n += 1;
        echo(request).swap_remove((n - 1) % 5)
    });
    let more = "--set retry.max_retries=9";
    let first = ask(&place, &server, more);
    let second = ask(&place, &server, &format!("{more} --key-file my.key"));
    assert_eq!((first.code, second.code), (0, 0), "{}{}", first.err, second.err);
    assert_eq!(server.received().len(), 10);
    let sent = server.received()[9].header("authorization").unwrap().to_owned();
    assert_eq!(sent, format!("Bearer {KEY}-from-file"), "the file comes before the environment");
    assert!(first.err.contains("DEBUG") || first.err.contains("TRACE"), "it says much");
    let shown = place.run("log latest");
    place.ok("export latest all.jsonl");
    place.ok("export latest answers.jsonl --as exchanges");
    assert_clean(&place, &[&first, &second, &shown], &[KEY]);
}

#[test]
fn nor_is_what_the_base_url_holds_of_one() {
    let place = Place::new();
    let server = Server::handler(|_| Reply::chat("Answer: 24"));
    let url = format!("http://me:{KEY}@{}/v1?api-version=1&sig={KEY}2", server.address());
    let said = place.run(&format!("run small.yaml -vvv --base-url {url}"));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let shown = place.run("show latest 1");
    assert_clean(&place, &[&said, &shown], &[KEY]);
}

/// What another API answers, it answers every time.
#[test]
fn a_server_that_speaks_another_api_is_named_and_asked_once_per_call() {
    let replies = [
        r#"{"id":"resp_1","object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}"#,
        r#"{"model":"m","message":{"role":"assistant","content":"x"},"done":true}"#,
        r#"{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"x"}]}"#,
    ];
    let shown = replies.map(|reply| {
        let place = Place::new();
        let server = Server::handler(move |_| Reply::new(200, reply));
        let run = format!("run small.yaml --quiet --base-url {}", server.base_url());
        let said = place.run(&run);
        assert_eq!(said.code, 4, "{}{}", said.out, said.err);
        assert_eq!(server.received().len(), 6, "no call is tried again");
        let run = place.json("show latest").0["run"].as_str().unwrap().to_owned();
        said.err.replace(&run[..4], "[run]")
    });
    assert_said!("servers_dialects", shown.concat());
}
