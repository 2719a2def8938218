//! How fast a study asks and how long it waits follow from all of its settings: flags that choose
//! another kind of model than the config are applied first.

use std::time::Duration;

use retold::run::clock::Stopwatch;
use serde_json::Value;

use crate::support::cli::Place;
use crate::support::server::{Received, Reply, Server};
use crate::support::studies::answers;

/// Refuses everything for two seconds from its first request on, then answers like the simulated
/// model.
fn limited(experiment: &str) -> Server {
    let (answers, mut since) = (answers(experiment), None);
    Server::handler(move |received: &Received| {
        let since: &mut Stopwatch = since.get_or_insert_with(Stopwatch::start);
        match since.elapsed() < Duration::from_secs(2) {
            true => Reply::error(429, "rate_limit_exceeded", "slow down"),
            false => answers(received),
        }
    })
}

/// The recorded settings of the last run: which model, how fast, and when to try again.
fn runtime(place: &Place) -> Value {
    let log = place.ok("export latest");
    let texts = log.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).ok()?;
        serde_json::from_str(line["text"].as_str()?).ok()
    });
    let mut settings = texts.filter(|settings: &Value| settings["runtime"].is_object());
    settings.next().unwrap()["runtime"].take()
}

const DELIBERATION: &str = concat!(
    env!("RETOLD_ROOT"),
    "/config/deliberation_small.yaml --quiet --no-outputs --set participants_per_condition=5 \
     --set api_sleep_seconds=0.02"
);

fn failed(whole: &Value) -> u64 {
    let conditions = whole["report"]["by_condition"].as_object().unwrap().values();
    conditions.map(|row| row["failed"].as_u64().unwrap()).sum()
}

#[test]
fn a_deliberation_whose_file_says_simulated_waits_for_a_server() {
    let (place, server) = (Place::new(), limited("deliberation"));
    let args = format!("run {DELIBERATION} --model openai --base-url {}", server.base_url());
    let (whole, code) = place.json(&args);
    assert_eq!((code, failed(&whole), &whole["failed_calls"]), (0, 0, &0.into()), "{whole}");
    let runtime = runtime(&place);
    assert_eq!(runtime["limits"]["min_interval_seconds"], 0.02, "{runtime}");
    assert_eq!(runtime["limits"]["concurrency"], 8, "{runtime}");
    assert_eq!(runtime["retry"]["base_seconds"], 2, "{runtime}");
}

#[test]
fn a_fork_of_such_a_run_waits_as_well() {
    let place = Place::new();
    let server = Server::handler(|_| Reply::error(429, "rate_limit_exceeded", "slow down"));
    let at = format!("--model openai --base-url {}", server.base_url());
    let run = format!("run {DELIBERATION} --set max_api_retries=0 {at}");
    let (whole, code) = place.json(&run);
    assert_eq!((code, failed(&whole)), (4, 20), "{whole}");
    drop(server);
    // A setting that a fork changes counts, too.
    let server = limited("deliberation");
    let at = format!("--model openai --base-url {}", server.base_url());
    let fork = format!("fork latest --quiet --retry-failed --set config.max_api_retries=5 {at}");
    let (whole, code) = place.json(&fork);
    assert_eq!((code, failed(&whole)), (0, 0), "{whole}");
    assert_eq!(runtime(&place)["retry"]["base_seconds"], 2);
}

#[test]
fn flags_override_what_follows_and_the_simulated_model_is_not_waited_for() {
    let place = Place::new();
    let few = DELIBERATION.replace("participants_per_condition=5", "participants_per_condition=1");
    let limits = |args: &str| {
        place.ok(&format!("run {few} --new {args}"));
        let runtime = runtime(&place);
        let limits = &runtime["limits"];
        (
            limits["concurrency"].as_u64().unwrap(),
            limits["min_interval_seconds"].as_f64().unwrap(),
            runtime["retry"]["base_seconds"].as_f64().unwrap(),
        )
    };
    assert_eq!(limits(""), (64, 0.0, 0.01));
    assert_eq!(limits("--concurrency 3"), (3, 0.0, 0.01));
    let server = Server::handler(answers("deliberation"));
    let at = format!("--base-url {}", server.base_url());
    assert_eq!(limits(&format!("{at} --concurrency 3")), (3, 0.02, 2.0));
    // Limits that the config gives replace api_sleep_seconds.
    assert_eq!(limits(&format!("{at} --set limits.concurrency=5")), (5, 0.0, 2.0));
}

#[test]
fn every_study_outlasts_a_rate_limit() {
    let config = |name: &str| format!("{}/config/{name}.yaml", env!("RETOLD_ROOT"));
    for (study, args) in [
        ("game24", format!("{} --set puzzles.rows=0..3 --set samples=1", config("game24"))),
        ("public_goods", config("public_goods_small")),
        ("society", format!("{} --set agents=4 --set days=2", config("society_small"))),
        (
            "adventure",
            format!("{} --set player=first --set games=2 --set turns=2", config("adventure")),
        ),
    ] {
        let (place, server) = (Place::new(), limited(study));
        let run = format!(
            "run {args} --quiet --no-outputs --model openai --base-url {}",
            server.base_url()
        );
        let (whole, code) = place.json(&run);
        assert_eq!((code, &whole["failed_calls"]), (0, &0.into()), "{study}: {whole}");
    }
}
