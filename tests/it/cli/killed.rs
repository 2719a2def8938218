//! A whole deliberation, killed halfway with SIGKILL and resumed, reaches the same end. It is the
//! study of the config with 100 of its 1,200 participants, because all of them take an unoptimised
//! build a minute (19 s for the whole run, 9 s until it is killed, 16 s to resume, 17 s to replay,
//! most of it clustering). The outcome is the same.

use std::process::Stdio;

use retold::event::Event;
use retold::id::RunId;

use super::interrupted::wait_for_events;
use crate::support::cli::Place;
use crate::support::logs::{assert_sound, facts, open};

/// How many concurrent calls the config allows a simulated model.
const CONCURRENCY: usize = 64;

fn command() -> String {
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation.yaml");
    format!("run {config} --quiet --set participants_per_condition=25")
}

#[test]
fn a_deliberation_killed_halfway_asks_only_what_was_in_flight_again() {
    let (whole, code) = Place::new().json(&command());
    assert_eq!((code, &whole["outcome"]), (0, &"finished".into()), "{whole}");
    let all = whole["model_calls"].as_u64().unwrap();

    let place = Place::new();
    let mut process = place.command();
    process.args(command().split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut process = process.spawn().unwrap();
    // Each exchange is a question, an answer and a decision, so this is about half of them.
    wait_for_events(&place, i64::try_from(all).unwrap() * 3 / 2);
    process.kill().unwrap();
    process.wait().unwrap();

    let log = open(&place.path("retold.db"));
    assert_sound(&log);
    let runs = log.reader().unwrap().runs().unwrap();
    let run: RunId = runs[0].run;
    let count = |which: fn(&Event) -> bool| facts(&log, run).iter().filter(|e| which(e)).count();
    let asked = count(|e| matches!(e, Event::RequestSent(_)));
    let answered = count(|e| matches!(e, Event::ResponseReceived(_)));
    let reused = count(|e| matches!(e, Event::AnswerReused(_)));
    let in_flight = asked - answered - reused;
    let before = answered as u64;
    assert!(before > all / 4 && before < all * 9 / 10, "{answered} of {all} at its death");
    assert!(in_flight <= CONCURRENCY, "{in_flight} in flight");

    let (resumed, code) = place.json("run --resume latest");
    assert_eq!((code, &resumed["outcome"]), (0, &"finished".into()), "{resumed}");
    assert_eq!(resumed["outcome_digest"], whole["outcome_digest"]);
    assert_eq!(resumed["report"], whole["report"]);
    // Every question in the log now has an answer, except those whose answer was lost with the
    // process.
    let asked_again = count(|e| matches!(e, Event::RequestSent(_))) as u64
        - count(|e| matches!(e, Event::ResponseReceived(_) | Event::AnswerReused(_))) as u64;
    assert_eq!(asked_again, in_flight as u64, "asked twice");
    assert_eq!(resumed["model_calls"].as_u64().unwrap(), all - before, "only what was missing");
    assert_sound(&log);
    let (replayed, code) = place.json("replay latest");
    assert_eq!((code, &replayed["identical"]), (0, &true.into()), "{replayed}");
    assert_eq!(replayed["model_calls"].as_u64().unwrap_or(0), 0);
    eprintln!("{all} calls, {answered} answered at its death, {in_flight} in flight, asked again");
}
