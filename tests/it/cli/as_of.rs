//! `show --at` and `log --at`: a run as it was after one of its events.

use serde_json::Value;

use crate::support::cli::{Place, assert_said};

#[test]
fn a_run_is_shown_as_it_was() {
    let place = Place::with_run();
    let (whole, _) = place.json("log latest");
    let events = whole["events"].as_array().unwrap();
    for at in 1..=events.len() {
        let (log, code) = place.json(&format!("log latest --at {at}"));
        assert_eq!((code, &log["more"]), (0, &Value::Bool(false)), "{log}");
        assert_eq!(log["events"].as_array().unwrap()[..], events[..at]);
        let (show, code) = place.json(&format!("show latest --at {at}"));
        assert_eq!((code, &show["events"]), (0, &at.into()), "{show}");
        let count = |kind: &str| events[..at].iter().filter(|e| e["kind"] == kind).count();
        assert_eq!(show["exchanges"], count("ResponseReceived"));
        assert_eq!(show["decisions"], count("DecisionMade"));
        assert_eq!(show["as_of"]["event"], at);
        assert_eq!(show["as_of"]["facts"], count("Occurred"));
        assert_eq!((&show["as_of"], &show["state"]), (&log["as_of"], &log["state"]));
        assert_eq!(show["outcome"].is_null(), at < events.len());
    }
}

#[test]
fn what_was_not_there_yet_is_not_shown() {
    let place = Place::with_run();
    let (whole, _) = place.json("log latest --call solve/0 --kind RequestSent");
    let asked = whole["events"].as_array().unwrap().last().unwrap().clone();
    let (seq, sample) = (asked["seq"].as_u64().unwrap(), asked["sample"].as_u64().unwrap());
    let call = format!("solve/0#{sample}");
    assert_eq!(place.run(&format!("show latest {call}")).code, 0);
    let before = place.run(&format!("show latest {call} --at {}", seq - 1));
    assert_eq!(before.code, 2, "{}{}", before.out, before.err);
    let event = place.run(&format!("show latest {seq} --at {}", seq - 1));
    assert_eq!(event.code, 2, "{}", event.out);
    assert!(event.err.contains(&format!("has no seq {seq}")), "{}", event.err);
}

#[test]
fn what_cannot_be_shown_as_of_an_event_says_so() {
    let place = Place::with_run();
    place.write(
        "answers.jsonl",
        r#"{"call":"q/1","request":{"model":"m","messages":[]},"response":{"content":"4"}}"#,
    );
    let (log, _) = place.json("log latest --kind RequestSent");
    let prompt = &log["events"][0]["prompt"].as_str().unwrap()[..12];
    let facts = place.json("log latest --kind Occurred").0;
    let fact = &facts["events"][1]["seq"];
    let mut said = place.session(&[
        "show latest --at 1",
        &format!("show latest --at {fact}"),
        &format!("log latest --after {} --at {fact}", fact.as_u64().unwrap() - 2),
        "show latest --at 0",
        "log latest --at 0",
        "show latest --at 1000",
        "show latest --at x",
        &format!("show {prompt} --at 1"),
        "log --at 1",
        "log latest --at 1 --follow",
    ]);
    place.ok("import answers.jsonl");
    said.push_str(&place.session(&["show latest --at 2", "log latest --at 2"]));
    let hashes = regex::Regex::new("[0-9a-f]{64}|prompt [0-9a-f]{12}").unwrap();
    let said = hashes.replace_all(&said, "[hash]");
    let said = said.replace(prompt, "[prompt]");
    assert_said!("as_of", said.as_str());
}
