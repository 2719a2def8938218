//! Whole games with the simulated game master.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::program::{build, study};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::run::{AnyExperiment, Finish, Mode, OutputFile, RunRecord};
use retold_adventure::{NAME, SimulatedMaster};
use serde_json::Value;

use crate::support::trial::Trial;

pub(super) fn adventure(overrides: &[&str]) -> Box<dyn AnyExperiment> {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/adventure.yaml");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let study = study(&path, None, &overrides).unwrap();
    build(NAME, &study.settings.experiment).unwrap()
}

fn master(latency: Duration) -> Arc<SimulatedModel> {
    let misbehaviour = Misbehaviour {
        malformed: 0.3,
        rate_limited: 0.1,
        server_error: 0.05,
        failure: 0.01,
        latency,
        ..Misbehaviour::default()
    };
    Arc::new(SimulatedModel::new(7, misbehaviour, Box::new(SimulatedMaster)))
}

/// The output files of a recorded run.
pub(super) fn outputs(trial: &Trial, experiment: &dyn AnyExperiment) -> Vec<OutputFile> {
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    experiment.outputs_any(&mut record).unwrap()
}

fn journal(files: &[OutputFile]) -> Value {
    let file = files.iter().find(|file| file.name == "journal.json").unwrap();
    serde_json::from_slice(&file.content.bytes().unwrap()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_policy_replays_identically_under_shuffled_orders() {
    for player in ["first", "random", "model"] {
        let experiment = adventure(&[&format!("player={player}"), "games=12", "turns=9"]);
        let at_once = Trial::in_memory(master(Duration::ZERO));
        let expected = at_once.record(experiment.as_ref()).await;
        assert_eq!(at_once.replay(experiment.as_ref()).await, expected, "{player}");
        for seconds in 1..=3 {
            let mut trial = Trial::in_memory(master(Duration::from_secs(seconds)));
            trial.limits.concurrency = usize::try_from(seconds * 5).unwrap();
            assert_eq!(trial.record(experiment.as_ref()).await, expected, "{player}");
            assert_eq!(trial.replay(experiment.as_ref()).await, expected, "{player}");
            let [ours, theirs] = [&trial, &at_once].map(|trial| {
                let file = |file: OutputFile| (file.name, file.content.bytes().unwrap());
                let files = outputs(trial, experiment.as_ref()).into_iter().map(file);
                files.collect::<Vec<_>>()
            });
            assert_eq!(ours, theirs);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_appears_or_vanishes_and_no_marker_is_left() {
    let experiment = adventure(&["games=40", "turns=15", "player=model"]);
    let trial = Trial::in_memory(master(Duration::ZERO));
    let ended = trial.go(Mode::Record, experiment.as_ref()).await;
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    let (mut lost, mut decisions, mut fights, mut defaults, mut unusable, mut failed) =
        (0, 0, 0, 0, 0, 0);
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
    };
    for game in journal(&outputs(&trial, experiment.as_ref())).as_object().unwrap().values() {
        let mut inventory = texts(&game["brought"]);
        for entry in game["journal"].as_array().unwrap() {
            let story = entry["story"].as_str().unwrap();
            for marker in ["LOCATION", "_ITEMS", "SUGGESTED_ACTIONS", "COMBAT", "playerDecision"] {
                assert!(!story.contains(marker), "{story}");
            }
            for item in texts(&entry["lost"]) {
                let place = inventory.iter().position(|had| *had == item);
                inventory.remove(place.unwrap_or_else(|| panic!("{item} was not there")));
                lost += 1;
            }
            for item in texts(&entry["not_there"]) {
                assert!(!inventory.contains(&item), "{item} was there");
            }
            inventory.extend(texts(&entry["gained"]));
            decisions += u32::from(!entry["offer"]["decision"].is_null());
            defaults += u32::from(entry["offer"]["default"] == true);
            unusable += entry["unusable"].as_u64().unwrap();
            if let Some(opponent) = entry["opponent"].as_str() {
                assert!(game["characters"].get(opponent).is_some(), "{opponent} has no sheet");
                fights += 1;
            }
        }
        assert_eq!(inventory, texts(&game["inventory"]));
        failed += u32::from(!game["ending"]["failed"].is_null());
    }
    // All of these happened, so the checks above are not vacuous.
    let all = [lost, decisions, fights, defaults, u32::try_from(unusable).unwrap(), failed];
    assert!(all.iter().all(|n| *n > 2), "{all:?}");
}
