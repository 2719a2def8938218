//! `run --so-far`: what came out before the end is shown when somebody asks for it, and that is an event of the run.

use std::path::Path;

use retold::log::{Backend, SqliteBackend, SqliteOptions};
use serde_json::Value;

use crate::support::cli::Place;

/// A game of three rounds, each of which ends with a mark.
fn place() -> Place {
    let place = Place::new();
    let config = Path::new(env!("RETOLD_ROOT")).join("config/public_goods_small.yaml");
    place.write("game.yaml", std::fs::read_to_string(config).unwrap());
    place
}

fn looks(place: &Place) -> Vec<Value> {
    let (log, code) = place.json("log latest --kind LookedAt");
    assert_eq!(code, 0, "{log}");
    log["events"].as_array().unwrap().clone()
}

fn outcome_digest(place: &Place) -> Value {
    place.json("show latest").0["outcome_digest"].clone()
}

#[test]
fn a_run_shows_what_came_out_after_each_round_and_records_that() {
    let (place, other) = (place(), place());
    let said = place.run("run game.yaml --no-outputs --so-far");
    assert_eq!(said.code, 0, "{}", said.err);
    let shown = said.err.matches("(this look is recorded)").count();
    assert!(said.err.contains("mean of contribution by round"), "{}", said.err);
    assert!(shown >= 3, "{}", said.err);
    let looks = looks(&place);
    assert_eq!(looks.len(), shown);
    let answered: Vec<u64> =
        looks.iter().map(|look| look["body"]["answered"].as_u64().unwrap()).collect();
    assert!(answered.windows(2).all(|two| two[0] < two[1]), "{answered:?}");
    assert_eq!(looks[0]["body"]["figures"][0], "mean of contribution by round against 1");
    let line = place.ok("log latest --kind look");
    let first =
        format!("after {} answers and 0 failed: mean of contribution by round", answered[0]);
    assert!(line.contains(&first), "{line}");
    assert!(
        place.ok("stats latest").contains(&format!("looked at {shown} times before it had ended"))
    );
    place.ok("report latest -o page.html");
    assert!(place.read("page.html").contains(&format!("was looked at {shown} times before")));
    // It is part of no outcome, and a replay does not look.
    assert_eq!(other.run("run game.yaml --no-outputs -q").code, 0);
    assert_eq!(outcome_digest(&place), outcome_digest(&other));
    place.ok("replay latest");
    place.ok("verify");
    place.ok("export latest run.jsonl");
    place.ok("replay run.jsonl");
}

#[test]
fn a_run_that_was_stopped_is_looked_at_and_continues() {
    let place = place();
    assert_eq!(place.run("run game.yaml --no-outputs -q --until round_1").code, 0);
    let shown = place.ok("stats latest");
    let note = "The run has not ended: these figures will change. That you looked is not recorded";
    assert!(shown.contains(note), "{shown}");
    assert!(looks(&place).is_empty(), "stats only reads");
    let shown = place.ok("run --so-far latest");
    assert!(shown.starts_with("so far, after "), "{shown}");
    assert!(shown.contains("SIMULATED") && shown.contains("mean of contribution"), "{shown}");
    let (json, code) = place.json("run --so-far latest");
    assert_eq!((code, looks(&place).len()), (0, 2));
    assert_eq!(json["figures"][0]["figure"], "mean of contribution by round against 1");
    assert_eq!(json["answered"], looks(&place)[1]["body"]["answered"]);
    assert_eq!(place.run("run --resume latest -q").code, 0);
    place.ok("replay latest");
    assert_eq!(looks(&place).len(), 2);
    let said = place.run("run --so-far latest");
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(
        said.err.contains("is already finished: a look at its result is not recorded"),
        "{}",
        said.err
    );
    assert!(said.err.contains("stats "), "{}", said.err);
    assert!(!place.ok("stats latest").contains("has not ended"));
}

#[test]
fn a_look_that_could_not_be_recorded_is_refused() {
    let place = place();
    assert_eq!(place.run("run game.yaml --no-outputs -q --until round_1").code, 0);
    let run = place.json("log").0["runs"][0]["run"].as_str().unwrap().parse().unwrap();
    let log = SqliteBackend::open(&place.path("retold.db"), SqliteOptions::default()).unwrap();
    let lease = log.lease(run).unwrap();
    let said = place.run("run --so-far latest");
    assert_eq!((said.code, &*said.out), (3, ""), "{}", said.err);
    assert!(said.err.contains("start it with --so-far"), "{}", said.err);
    drop(lease);
    for (args, due) in [
        ("run game.yaml --so-far -q", "--quiet hides it"),
        ("run --so-far latest latest", "--so-far shows one run: name it"),
        ("run --so-far nothing", "nothing"),
        ("run --so-far --merge latest", "cannot be used with"),
    ] {
        let said = place.run(args);
        assert_eq!((said.code, &*said.out), (2, ""), "{args}: {}", said.err);
        assert!(said.err.contains(due), "{args}: {}", said.err);
    }
    assert!(looks(&place).is_empty());
}

#[test]
fn a_run_without_figures_is_not_looked_at() {
    let place = Place::new();
    let said = place.run("run small.yaml -q --max-tokens 1");
    assert_eq!(said.code, 4, "{}", said.err);
    let said = place.run("run --so-far latest");
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("has no figures yet: nothing was recorded"), "{}", said.err);
    assert!(looks(&place).is_empty());
}
