//! Whole runs with the simulated model: recorded, replayed, in any order, with every kind of
//! failure.

use std::time::Duration;

use crate::support::program::study;
use retold::exchange::export_exchanges;
use retold::model::simulated::Misbehaviour;
use retold::run::{ExecutionResult, Finish, Mode, OutputFile, RunRecord};
use serde_json::Value;

use super::support::{model, society, trouble};
use crate::support::block_on;
use crate::support::cli::Place;
use crate::support::logs::{Folder, assert_sound};
use crate::support::trial::Trial;

fn recorded(trial: &Trial, config: &str, overrides: &[&str]) -> ExecutionResult {
    let ended = block_on(trial.go(Mode::Record, society(config, overrides).as_ref()));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    ended
}

#[test]
fn a_small_society_is_recorded_and_replayed_identically() {
    let trial = Trial::in_memory(model(trouble()));
    let ended = recorded(&trial, "society_small.yaml", &[]);
    let again = block_on(trial.replay(society("society_small.yaml", &[]).as_ref()));
    assert_eq!(again, ended.outcome_digest);
    insta::assert_snapshot!(ended.report.text);
    assert_sound(&trial.log);
}

/// The full size of the issue: 100 agents, 30 days, 20 % malformed, 5 % failures.
#[test]
fn a_hundred_agents_for_thirty_days_replay_identically_in_any_order_of_completion() {
    let at_once = Trial::in_memory(model(trouble()));
    let expected = recorded(&at_once, "society.yaml", &[]);
    let calls = expected.progress.exchanges + expected.progress.failed;
    assert!(calls > 1500, "{calls} calls");
    assert!(expected.progress.failed > 50, "{:?}", expected.progress);
    let report = &expected.report.json;
    let did = |what: &str| report["did"][what].as_u64().unwrap();
    assert!(did("invalid") * 20 > calls * 2, "{} invalid actions", did("invalid"));
    assert_eq!(did("unanswered"), expected.progress.failed);
    for kind in ["posts", "replies", "messages", "proposals", "votes", "work", "trades", "names"] {
        assert!(did(kind) > 0, "no {kind}");
    }
    assert_eq!(report["conserved"], true);
    let experiment = society("society.yaml", &[]);
    let runtime = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().start_paused(true).build().unwrap()
    };
    for (seconds, concurrency) in [(1, 7), (4, 100)] {
        let slow = Misbehaviour { latency: Duration::from_secs(seconds), ..trouble() };
        let mut trial = Trial::in_memory(model(slow));
        trial.limits.concurrency = concurrency;
        runtime().block_on(async {
            assert_eq!(trial.record(experiment.as_ref()).await, expected.outcome_digest);
            assert_eq!(trial.replay(experiment.as_ref()).await, expected.outcome_digest);
        });
    }
}

#[test]
fn shuffled_actions_have_an_order_of_their_own_and_replay() {
    let in_order = Trial::in_memory(model(trouble()));
    let in_order = recorded(&in_order, "society_small.yaml", &[]).outcome_digest;
    let trial = Trial::in_memory(model(trouble()));
    let settings = ["shuffle_actions=true"];
    let shuffled = recorded(&trial, "society_small.yaml", &settings).outcome_digest;
    assert_ne!(shuffled, in_order);
    let again = society("society_small.yaml", &settings);
    assert_eq!(block_on(trial.replay(again.as_ref())), shuffled);
}

#[test]
fn version_1_of_the_parser_plays_too_and_makes_idle_what_it_cannot_use() {
    let trial = Trial::in_memory(model(trouble()));
    let ended = recorded(&trial, "society_small.yaml", &["parser=action@1"]);
    let did = &ended.report.json["did"];
    assert!(did["idle"].as_u64() > Some(0), "{did}");
    let again = society("society_small.yaml", &["parser=action@1"]);
    assert_eq!(block_on(trial.replay(again.as_ref())), ended.outcome_digest);
}

#[test]
fn personalities_and_models_are_dealt_by_their_shares() {
    let models = "models=[{model: a, share: 0.75}, {model: b, share: 0.25}]";
    let trial = Trial::in_memory(model(Misbehaviour::default()));
    let experiment = society("society.yaml", &[models, "days=1"]);
    block_on(trial.record(experiment.as_ref()));
    let mut reader = trial.log.reader().unwrap();
    let record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    let joined: Vec<&Value> = record.facts.iter().filter(|f| f["fact"] == "agent_joined").collect();
    assert_eq!(joined.len(), 100);
    let count = |key: &str, value: &str| joined.iter().filter(|f| f[key] == value).count();
    for personality in ["efficiency", "equality", "freedom", "stability", "neutral"] {
        assert_eq!(count("personality", personality), 20, "{personality}");
    }
    assert_eq!((count("model", "a"), count("model", "b")), (75, 25));
    let first: Vec<&Value> = joined.iter().take(20).map(|f| &f["personality"]).collect();
    assert!(first.iter().any(|p| *p != first[0]), "in random order");
}

#[test]
fn outputs_hold_every_figure_of_the_run() {
    let trial = Trial::in_memory(model(trouble()));
    let ended = recorded(&trial, "society_small.yaml", &[]);
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    let files = society("society_small.yaml", &[]).outputs_any(&mut record).unwrap();
    let names: Vec<&str> = files.iter().map(|f| f.name.as_str()).collect();
    let expected = [
        "summary.json",
        "days.csv",
        "agents.csv",
        "proposals.csv",
        "posts.csv",
        "contacts.csv",
        "agreement.csv",
        "votes.csv",
        "invalid_actions.csv",
    ];
    assert_eq!(names, expected);
    let summary: Value = serde_json::from_slice(&files[0].content.bytes().unwrap()).unwrap();
    assert_eq!(summary, ended.report.json);
    let mut csv: Vec<String> = Vec::new();
    for OutputFile { name, content } in &files[1..] {
        let text = String::from_utf8(content.bytes().unwrap()).unwrap();
        let rows: Vec<&str> = text.lines().take(4).collect();
        csv.push(format!("{name}, {} lines\n{}", text.lines().count(), rows.join("\n")));
    }
    insta::assert_snapshot!(csv.join("\n\n"));
}

/// What all agents are shown on a day is stored once: the log, including decisions and facts, takes
/// less than a quarter of the bytes of its exchanges as plain JSON Lines.
#[test]
fn shared_contexts_are_stored_once() {
    let folder = Folder::new();
    let trial = Trial::new(&folder.log(), 1, model(trouble()));
    recorded(&trial, "society.yaml", &[]);
    let (mut calls, mut plain) = (0, 0);
    let mut count = |line: &str| {
        (calls, plain) = (calls + 1, plain + line.len() as u64 + 1);
        Ok::<(), retold::log::LogError>(())
    };
    export_exchanges(trial.log.reader().unwrap().as_mut(), trial.run, &mut count).unwrap();
    // Closed, so that everything is in one file.
    drop(trial);
    let stored = std::fs::metadata(folder.path()).unwrap().len();
    eprintln!("{calls} answers: {} bytes each, {} as plain lines", stored / calls, plain / calls);
    assert!(stored * 4 < plain, "{stored} of {plain} bytes");
}

#[test]
fn the_committed_recording_replays() {
    let path = concat!(env!("RETOLD_ROOT"), "/recordings/society_small.jsonl");
    let said = Place::new().args(&["replay", path]);
    assert_eq!(
        said.code, 0,
        "recordings/society_small.jsonl no longer replays:\n{}{}\nA run that an older release recorded \
         must replay for ever. Only a change that cannot be kept apart may replace the file: `retold run \
         config/society_small.yaml --set agents=8 --set days=5`, `retold export latest FILE`, and a line in \
         the changelog.",
        said.out, said.err
    );
}

#[test]
fn the_full_config_is_the_documents_society() {
    let path = std::path::Path::new(env!("RETOLD_ROOT")).join("config/society.yaml");
    let study = study(&path, None, &[]).unwrap();
    let settings = study.settings.experiment.to_json().unwrap();
    assert_eq!((&settings["agents"], &settings["days"]), (&100.into(), &30.into()));
    let defaults = serde_json::to_value(retold_society::SocietyRules::default()).unwrap();
    assert_eq!(settings["rules"], defaults, "the file says what the defaults are");
}
