//! What calls belong to: studies declare it, and lists, filters and the page follow from it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::serve::{Served, cell};
use crate::support::cli::Place;
use crate::support::studies::STUDIES;

/// The labels of each question of a run, with its call.
fn labels(place: &Place, run: &str) -> Vec<(String, Value)> {
    let (log, _) = place.json(&format!("log {run} --kind RequestSent --most 1000000"));
    let of = |event: &Value| {
        (event["call"].as_str().unwrap().to_owned(), event["body"]["labels"].clone())
    };
    log["events"].as_array().unwrap().iter().map(of).collect()
}

/// Each study says of all its calls what they belong to, under the names of its document.
#[test]
fn every_study_declares_its_labels() {
    for study in &STUDIES {
        let place = Place::new();
        place.ok(&study.run());
        let asked = labels(&place, "latest");
        assert!(!asked.is_empty(), "{}", study.name);
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for (call, labels) in &asked {
            let labels = labels.as_object().unwrap_or_else(|| panic!("{call} has no labels"));
            names.extend(labels.keys().map(String::as_str));
        }
        let due: &[&str] = match study.name {
            "game24" => &["puzzle"],
            "deliberation" => &["cluster", "condition", "exchange", "participant", "phase"],
            "public_goods" => &["agent", "game", "round", "stage"],
            "society" => &["agent", "day"],
            _ => &["game", "turn"],
        };
        assert_eq!(names.into_iter().collect::<Vec<_>>(), due, "{}", study.name);
        let found = asked.iter().find_map(|(call, labels)| {
            let is = |name: &str| call == name;
            let due = match study.name {
                "game24" if is("solve/7") => json!({"puzzle": "7"}),
                "public_goods" if is("game1/r02/agent_1/contribution") => {
                    json!({"agent": "game1/agent_1", "game": "1", "round": "2", "stage": "contribution"})
                }
                "society" if is("day/2/agent/3") => json!({"agent": "3", "day": "2"}),
                "adventure" if is("game/2/1/master") => json!({"game": "2", "turn": "1"}),
                "deliberation" if call.ends_with("p_0001") && call.starts_with("final_vote") => {
                    json!({"condition": labels["condition"], "participant": "p_0001", "phase": "final_vote"})
                }
                _ => return None,
            };
            Some((labels.clone(), due))
        });
        let (found, due) = found.unwrap_or_else(|| panic!("{}: {asked:?}", study.name));
        assert_eq!(found, due, "{}", study.name);
        let (replayed, code) = place.json("replay latest");
        assert_eq!((code, &replayed["identical"]), (0, &json!(true)), "{replayed}");
    }
}

/// A list by label has the questions with this label, and what follows from them; the page lists the same.
#[test]
fn a_label_is_a_filter_of_the_log_and_of_the_page() {
    let place = Place::new();
    let study = STUDIES.iter().find(|study| study.name == "deliberation").unwrap();
    place.ok(&study.run());
    let served = Served::log(&place, "retold.db");
    let all = labels(&place, "latest");
    for (name, value) in [("participant", "p_0002"), ("condition", "acp"), ("exchange", "1")] {
        let due: BTreeSet<&str> = all
            .iter()
            .filter(|(_, labels)| labels[name] == value)
            .map(|(call, _)| call.as_str())
            .collect();
        let (listed, code) =
            place.json(&format!("log latest --label {name}={value} --most 100000"));
        assert_eq!(code, 0, "{listed}");
        let events = listed["events"].as_array().unwrap();
        let calls: BTreeSet<&str> =
            events.iter().filter_map(|event| event["call"].as_str()).collect();
        assert_eq!(calls, due, "{name}={value}");
        assert!(events.iter().any(|event| event["kind"] == "DecisionMade"), "{name}={value}");
        let page = served.json(&format!("/run/latest?label={name}%3D{value}"));
        assert_eq!(page["matching"], events.len(), "{name}={value}");
        let table = &served.json(&format!("/run/latest?by={name}"))["table"];
        let rows = table["rows"].as_array().unwrap();
        let row = rows.iter().position(|row| row["value"] == value).unwrap();
        assert_eq!(cell(table, row, "calls"), due.len().to_string(), "{name}={value}");
    }
    let both = "log latest --label participant=p_0002 --label phase=final_vote --kind RequestSent";
    let (listed, _) = place.json(both);
    let due = all.iter().filter(|(call, _)| call == "final_vote/p_0002").count();
    assert_eq!(listed["events"].as_array().unwrap().len(), due);
    let said = place.run("log latest --label participant=p_9999");
    assert!(
        said.out
            .starts_with("no event matches --label participant=p_9999; the run has participant="),
        "{}",
        said.out
    );
    let said = place.run("log latest --label p_0002");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("a label is written as NAME=VALUE"), "{}", said.err);
    let wrong = served.get("/run/latest?label=p_0002");
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("a label is written as NAME=VALUE"), "{}", wrong.body);
}

/// The page groups a society by agent and not by day, and a run without labels by nothing.
#[test]
fn the_page_groups_by_labels_and_says_calls_where_there_are_none() {
    let place = Place::new();
    let study = STUDIES.iter().find(|study| study.name == "society").unwrap();
    place.ok(&study.run());
    let served = Served::log(&place, "retold.db");
    let page = &served.json("/run/latest")["table"];
    assert_eq!((&page["by"], &page["all"]), (&json!("agent"), &json!(5)), "{page}");
    let days = &served.json("/run/latest?by=day")["table"];
    assert_eq!(cell(days, 0, "calls"), "5", "{days}");
    let story = page["rows"][0]["href"].as_str().unwrap();
    let story = served.json(story);
    let calls = story["steps"].as_array().unwrap().iter().map(|step| step["call"].clone());
    assert_eq!(
        calls.collect::<Vec<_>>(),
        ["day/1/agent/1", "day/2/agent/1", "day/3/agent/1"],
        "{story}"
    );
    // Recorded by an earlier release.
    let file = format!("{}/recordings/game24_small.jsonl", env!("RETOLD_ROOT"));
    let old = Served::with(&place, &["serve", &file, "--listen", "127.0.0.1:0", "--quiet"]);
    let page = &old.json("/run/latest")["table"];
    assert_eq!(page["by"], Value::Null, "{page}");
    let html = old.html("/run/latest");
    assert!(
        !html.to_lowercase().contains("participant<") && !html.contains("Participants"),
        "{html}"
    );
    let first = page["rows"][0]["href"].as_str().unwrap();
    let exchange = old.json(first);
    assert_eq!(exchange["page"], "exchange", "{exchange}");
}
