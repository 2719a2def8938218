//! A program that reports a decision about one answer again: the last is in force, for tables, figures and comparisons.

use std::time::Duration;

use retold::event::{DecidedBy, DecisionDetails, Labels, PROGRAM, RunStarted};
use retold::exchange::Collector;
use retold::id::{CallPath, RunId, Time};
use retold::log::SqliteBackend;
use retold::model::Response;
use retold::prompt::Request;
use serde_json::{Value, json};

use crate::support::cli::Place;

/// Stores a program's run: one answer, about which it reported a mood, and these votes one after the other.
fn reported(place: &Place, run: u8, votes: &[&str]) {
    let started = RunStarted::new(PROGRAM, 0, json!({}), json!({}));
    let mut collector = Collector::begin("test".to_owned(), started.clone(), Time(0)).unwrap();
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "vote"}]});
    let request = Request::from_body(body).unwrap();
    let asked =
        collector.add_question(CallPath::new("vote").unwrap(), 0, request, Labels::new()).unwrap();
    let (response, time) = (Response::text("I vote"), Duration::from_millis(5));
    let answer = collector.add_answer(asked, response, time, None).unwrap();
    let mut report = |name: &str, value: &str| {
        let parser = json!({"name": "program", "params": {"name": name}, "version": 1});
        let by = DecidedBy { name: None, method: "reported".to_owned(), parser };
        let (value, warnings) = (value.into(), Vec::new());
        let details = DecisionDetails { choice: None, reasoning: None, value, warnings };
        collector.add_decision(answer, by, details).unwrap();
    };
    report("mood", "calm");
    votes.iter().for_each(|vote| report("vote", vote));
    let backend =
        SqliteBackend::open_or_create(&place.path("retold.db"), Default::default()).unwrap();
    collector.finish(started, true).unwrap().store(&backend, RunId([run; 8])).unwrap();
}

#[test]
fn the_last_is_in_force_everywhere() {
    let place = Place::new();
    reported(&place, 0xa1, &["yes", "no"]);
    reported(&place, 0xa2, &["no"]);
    reported(&place, 0xa3, &["yes", "perhaps"]);
    let table = place.ok("table a1a1 --table decisions --as jsonl --recorded");
    let rows = table.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    let rows: Vec<String> =
        rows.map(|row| format!("{} {} {}", row["name"], row["value"], row["in_force"])).collect();
    let expected =
        [r#""mood" "\"calm\"" true"#, r#""vote" "\"yes\"" false"#, r#""vote" "\"no\"" true"#];
    assert_eq!(rows, expected);
    let said = place.args(&["stats", "a1a1", "--figure", "share of vote = no", "--json"]);
    let stats: Value = serde_json::from_str(&said.out).unwrap();
    let group = &stats["figures"][0]["groups"][0];
    assert_eq!((&group["draws"], &group["value"]), (&json!(1), &json!(1.0)), "{stats}");
    // What is in force is the same.
    let (same, _) = place.json("diff a1a1 a2a2");
    assert_eq!(
        (&same["calls"]["decided"], &same["calls"]["same_decision"]),
        (&json!(1), &json!(1))
    );
    let other = place.run("diff a1a1 a3a3");
    assert!(other.out.contains("-\"no\""), "{}", other.out);
    assert!(other.out.contains("+\"perhaps\""), "{}", other.out);
}
