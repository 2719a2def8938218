//! Runs that finish without a usable result: a script must be able to tell from the exit code.

use crate::support::cli::{Place, assert_said};

const CONFIG: &str = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");

/// A study with four participants, in which answers go wrong in some way.
fn run(rates: &str) -> String {
    let few = "--set participants_per_condition=1 --concurrency 1 --quiet";
    format!("run {CONFIG} {few} {rates}")
}

/// Everyone gets a persona, but no vote can be used.
const NO_VOTE: &str =
    "--set provider.rates.malformed=0 --set provider.rates.malformed_kinds.no_option=1";

#[test]
fn a_run_that_no_participant_completes_is_not_a_success() {
    let place = Place::new();
    let said = place.run(&run(NO_VOTE));
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert_said!("failures_nobody", place.shown("run deliberation_small.yaml", &said));
    // It is a run like any other: it has outputs, and can be replayed and resumed.
    assert!(place.path("outputs/budgeting_small/summary.json").is_file());
    place.ok("replay latest");
    let resumed = place.run("run --resume latest");
    assert_eq!(resumed.code, 4, "as it ended the first time: {}", resumed.err);
}

#[test]
fn a_run_that_nobody_completes_is_one_object() {
    let place = Place::new();
    let (object, code) = place.json(&run(NO_VOTE));
    assert_eq!((code, &object["outcome"]), (4, &"finished".into()), "{object}");
    let error = object["error"].as_str().unwrap();
    assert!(error.starts_with("every one of 4 participants failed, p_0001 at "), "{error}");
}

#[test]
fn a_run_whose_calls_all_fail_is_not_a_success() {
    let place = Place::new();
    let said = place.run(&run("--set provider.rates.failure=1"));
    assert_eq!(said.code, 4, "{}{}", said.out, said.err);
    assert_said!("failures_calls", place.shown("run deliberation_small.yaml", &said));
}

#[test]
fn a_run_that_one_completes_is_a_success() {
    let place = Place::new();
    let (object, code) = place.json(&run("--set provider.rates.failure=0.1"));
    let by_condition = object["report"]["by_condition"].as_object().unwrap();
    let completed: u64 = by_condition.values().map(|row| row["completed"].as_u64().unwrap()).sum();
    assert!((1..4).contains(&completed), "{completed} of 4");
    assert_eq!((code, &object["error"]), (0, &serde_json::Value::Null));
}
