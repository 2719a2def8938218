//! Whole runs with simulated players: recorded, replayed, with every kind of failure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::support::program::{build, study};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::run::{AnyExperiment, ExecutionResult, Finish, Mode, OutputFile, RunRecord};
use retold_public_goods::SimulatedPlayers;
use retold_study::study::Study;

use crate::support::block_on;
use crate::support::cli::Place;
use crate::support::csv;
use crate::support::trial::Trial;

fn config(name: &str) -> PathBuf {
    Path::new(env!("RETOLD_ROOT")).join("config").join(name)
}

pub(super) fn games(name: &str, overrides: &[&str]) -> Box<dyn AnyExperiment> {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let Study { settings, .. } = study(&config(name), None, &overrides).unwrap();
    build("public_goods", &settings.experiment).unwrap()
}

fn model(misbehaviour: Misbehaviour) -> Arc<SimulatedModel> {
    Arc::new(SimulatedModel::new(7, misbehaviour, Box::new(SimulatedPlayers)))
}

pub(super) fn trouble() -> Misbehaviour {
    Misbehaviour {
        malformed: 0.2,
        truncated: 0.1,
        rate_limited: 0.1,
        failure: 0.02,
        ..Misbehaviour::default()
    }
}

fn recorded(trial: &Trial, experiment: &dyn AnyExperiment) -> ExecutionResult {
    let ended = block_on(trial.go(Mode::Record, experiment));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(block_on(trial.replay(experiment)), ended.outcome_digest);
    ended
}

fn outputs(trial: &Trial, experiment: &dyn AnyExperiment) -> Vec<OutputFile> {
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    experiment.outputs_any(&mut record).unwrap()
}

#[test]
fn a_small_public_goods_game_is_recorded_and_replayed_identically() {
    let experiment = games("public_goods_small.yaml", &[]);
    let ended = recorded(&Trial::in_memory(model(Misbehaviour::default())), experiment.as_ref());
    insta::assert_snapshot!("small_game", ended.report.text);
    // Chat, contribution, redistribution and a vector for 4 players in 3 rounds.
    assert_eq!(ended.progress.exchanges, 4 * 4 * 3);
}

const DESIGNS: [&[&str]; 6] = [
    &["communication_enabled=false", "reward_enabled=false", "horizon_knowledge=known"],
    &["contribution_type=all_or_nothing", "group_size=2", "game_length=1", "players=[]"],
    &["contribution_framing=opt_in", "peer_outcome_visibility=true", "actor_anonymity=false"],
    &[
        "reward_enabled=false",
        "punishment_enabled=true",
        "punishment_cost=2",
        "unusable_answer=fail",
    ],
    &["decision_apart=true", "reasoning.algorithm=agglomerative", "parser_version=1"],
    &["group_size=20", "games=2", "mpcr=0.06", "game_length=2", "endowment=7"],
];

#[test]
fn every_design_of_public_goods_runs_replays_and_adds_up() {
    for design in DESIGNS {
        let experiment = games("public_goods_small.yaml", design);
        let trial = Trial::in_memory(model(trouble()));
        recorded(&trial, experiment.as_ref());
        let files = outputs(&trial, experiment.as_ref());
        let text = |name: &str| {
            let file = files.iter().find(|file| file.name == name).unwrap();
            String::from_utf8(file.content.bytes().unwrap()).unwrap()
        };
        assert!(text("game_log.csv").lines().count() > 2, "{design:?}");
        assert!(text("raw_responses.csv").lines().count() > 2, "{design:?}");
    }
}

/// A model's mean contribution covers all its contributions, on screen and in the table, although
/// some answers have no reasoning to measure.
#[test]
fn means_on_screen_are_those_of_the_tables() {
    for design in [&["games=5"][..], &["games=3", "decision_apart=true"]] {
        let experiment = games("public_goods.yaml", design);
        let trial = Trial::in_memory(model(trouble()));
        let report = recorded(&trial, experiment.as_ref()).report.json;
        let files = outputs(&trial, experiment.as_ref());
        let table = |name: &str| {
            let file = files.iter().find(|file| file.name == name).unwrap();
            csv::rows_of(&String::from_utf8(file.content.bytes().unwrap()).unwrap())
        };
        let is_contribution = |row: &&csv::Row| row["prompt_type"] == "contribution";
        let number = |row: &csv::Row, column: &str| -> f64 { row[column].parse().unwrap() };
        let models = table("reasoning_by_model.csv");
        let models: Vec<_> = models.iter().filter(is_contribution).collect();
        assert!(models.len() > 1 && models.len() == report["models"].as_object().unwrap().len());
        let mut without = 0.0;
        for row in &models {
            let shown = &report["models"][&row["llm_model"]];
            assert_eq!(shown.as_f64(), Some(number(row, "mean_action")), "{row:?}");
            without += number(row, "actions") - number(row, "reasonings");
        }
        assert!(without > 0.0, "some answers have no reasoning: {models:?}");
        // The situations add up to the same total.
        let situations = table("situations.csv");
        for row in &models {
            let of_model = situations.iter().filter(is_contribution);
            let of_model = of_model.filter(|s| s["llm_model"] == row["llm_model"]);
            let coins = |row: &csv::Row| number(row, "actions") * number(row, "mean_action");
            let sum: f64 = of_model.map(coins).sum();
            assert!((sum - coins(row)).abs() < 1e-6, "{row:?}");
        }
    }
}

#[test]
fn trouble_costs_players_and_not_the_run() {
    let overrides = ["unusable_answer=fail", "games=5", "max_parse_retries=0"];
    let experiment = games("public_goods.yaml", &overrides);
    let ended = recorded(&Trial::in_memory(model(trouble())), experiment.as_ref());
    let report = &ended.report.json;
    let (failed, players) = (&report["failed"], &report["players"]);
    assert_eq!(players, 30);
    assert!(failed.as_u64().unwrap() > 5 && failed.as_u64() < players.as_u64(), "{failed}");
    // With defaults instead of failures, more players stay.
    let overrides = ["games=5", "max_parse_retries=0"];
    let experiment = games("public_goods.yaml", &overrides);
    let kind = recorded(&Trial::in_memory(model(trouble())), experiment.as_ref());
    assert!(kind.report.json["failed"].as_u64() < failed.as_u64());
    let methods = kind.report.json["methods"].as_object().unwrap();
    for method in ["contribution: default", "contribution: unclosed_contribute_tag"] {
        assert!(methods.contains_key(method), "{methods:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn public_goods_replay_identically_under_shuffled_orders() {
    let experiment = games("public_goods_small.yaml", &["games=3", "group_size=6"]);
    let expected = Trial::in_memory(model(trouble())).record(experiment.as_ref()).await;
    for seconds in 1..=5 {
        let latency = Duration::from_secs(seconds);
        let mut trial = Trial::in_memory(model(Misbehaviour { latency, ..trouble() }));
        trial.limits.concurrency = usize::try_from(seconds * 5).unwrap();
        assert_eq!(trial.record(experiment.as_ref()).await, expected);
        assert_eq!(trial.replay(experiment.as_ref()).await, expected);
    }
}

#[test]
fn the_recording_of_a_public_goods_game_replays_and_gives_its_files() {
    let path = concat!(env!("RETOLD_ROOT"), "/recordings/public_goods_small.jsonl");
    let place = Place::new();
    let said = place.args(&["replay", path]);
    assert_eq!(
        said.code, 0,
        "recordings/public_goods_small.jsonl no longer replays:\n{}{}\nGive a changed prompt, parser or \
         fact a new version and keep the old one; only a change that cannot be kept apart may replace \
         the file: `retold run config/public_goods_small.yaml`, `retold export latest FILE`, and a line \
         in the changelog.",
        said.out, said.err
    );
    let said = place.args(&["export", path, "files", "--as", "outputs"]);
    assert_eq!(said.code, 0, "{}", said.err);
    insta::assert_snapshot!("files_of_the_recording", said.out.split_once(" in ").unwrap().1);
    for name in [
        "game_log",
        "chat_messages",
        "redistribution_details",
        "reasoning_measures",
        "reasoning_by_model",
        "situations",
        "reasoning_groups",
    ] {
        insta::assert_snapshot!(name, place.read(&format!("files/{name}.csv")));
    }
    let raw = place.read("files/raw_responses.csv");
    assert!(raw.contains("<CONTRIBUTE>") && !place.read("files/reasoning.csv").contains('<'));
}
