//! Runs of programs, written as cassettes and for fine-tuning.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::cli::{Place, Said};
use crate::support::rows::rows;

/// Everything that a replay of a run depends on.
fn exchanges(place: &Place, run: &str) -> Vec<Vec<String>> {
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let sql = format!(
        "SELECT kind, call, sample, prompt_hash, cause, content, replace(body, '\"masked\":true,', '') FROM log
         WHERE run = '{run}' AND kind IN ('RequestSent', 'ResponseReceived', 'AttemptFailed') ORDER BY seq"
    );
    rows(&db, &sql)
}

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("RETOLD_ROOT")).join("fixtures/cassettes").join(name)
}

fn imported(place: &Place, path: &str) -> String {
    let (found, code) = place.json(&format!("import {path}"));
    assert_eq!(code, 0, "{found}");
    found["run"].as_str().unwrap().to_owned()
}

/// Import, export, import: the same requests under the same keys, and the same answers.
#[test]
fn a_cassette_that_is_exported_has_the_same_exchanges() {
    for name in ["bodies.yaml", "trouble.yaml", "forms.json"] {
        let place = Place::new();
        let first = imported(&place, fixture(name).to_str().unwrap());
        place.ok(&format!("export {first} again.yaml --as vcrpy"));
        let second = imported(&place, "again.yaml");
        assert_eq!(exchanges(&place, &second), exchanges(&place, &first), "{name}");
        place.ok(&format!("export {second} twice.yaml --as vcrpy"));
        assert_eq!(place.read("twice.yaml"), place.read("again.yaml"));
    }
}

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
fn vcrpy_plays_what_is_exported() {
    let place = Place::new();
    let mut shown = String::new();
    for (name, as_file) in
        [("bodies.yaml", "a.yaml"), ("trouble.yaml", "b.yaml"), ("forms.json", "c.json")]
    {
        let run = imported(&place, fixture(name).to_str().unwrap());
        place.ok(&format!("export {run} {as_file} --as vcrpy"));
        let root = Path::new(env!("RETOLD_ROOT"));
        let mut command = Command::new(root.join("target/clients/python/bin/python"));
        place.shut_off(&mut command);
        command.arg(root.join("tests/it/traffic/programs/vcr_play.py")).arg(as_file);
        let said = Said::ended(command.env("PATH", super::PATH));
        assert_eq!(said.code, 0, "{name}: {}{}", said.out, said.err);
        shown += &said.out;
    }
    insta::assert_snapshot!(shown);
}

/// What does not count is written as it was sent, and what may say who asked is not even recorded.
#[test]
fn the_fields_that_do_not_count_are_written_again() {
    let place = Place::new();
    let sent = json!({"messages": [{"role": "user", "content": "Hi"}], "metadata": {"who": "Ada"}, "model": "m", "n": 1,
        "store": true, "stream": false, "stream_options": {"include_usage": true}, "temperature": 1});
    let answer = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
        "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello"}}]});
    let cassette = json!({"version": 1, "interactions": [{
        "request": {"method": "POST", "uri": "https://api.openai.com/v1/chat/completions", "body": sent.to_string(),
            "headers": {}},
        "response": {"status": {"code": 200, "message": "OK"}, "body": {"string": answer.to_string()},
            "headers": {"content-type": ["application/json"]}}}]});
    place.write("sent.json", cassette.to_string());
    let run = imported(&place, "sent.json");
    place.ok(&format!("export {run} again.json --as vcrpy"));
    let again: Value = serde_json::from_str(&place.read("again.json")).unwrap();
    let body = again["interactions"][0]["request"]["body"].as_str().unwrap();
    let mut due = sent.clone();
    due.as_object_mut().unwrap().remove("metadata");
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), due);
    let log = std::fs::read(place.path("retold.db")).unwrap();
    assert!(memchr::memmem::find(&log, b"Ada").is_none());
}

#[test]
fn conversations_are_exported_for_fine_tuning() {
    let place = Place::new();
    let mut text = String::new();
    for name in ["bodies.yaml", "trouble.yaml", "not_http.yaml"] {
        let run = imported(&place, fixture(name).to_str().unwrap());
        let said = place.run(&format!("export {run} {name}.jsonl --as fine-tuning"));
        text += &place
            .shown(&format!("export [run] {name}.jsonl --as fine-tuning"), &said)
            .replace(&run, "[run]");
        if said.code == 0 {
            text += &place.read(&format!("{name}.jsonl"));
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_study_s_run_is_exported_for_fine_tuning_and_not_as_a_cassette() {
    let place = Place::with_run();
    place.ok("export latest out.jsonl --as fine-tuning");
    let text = place.read("out.jsonl");
    let first: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["messages"].as_array().unwrap().last().unwrap()["role"], "assistant");
    let refused = place.run("export latest out.yaml --as vcrpy");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("no exchange that a cassette can hold"), "{}", refused.err);
    assert!(!place.path("out.yaml").exists());
    let refused = place.run("export latest out.yaml");
    assert!(refused.err.contains("--as vcrpy"), "{}", refused.err);
}
