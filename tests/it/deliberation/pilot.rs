//! A real pilot (`../shared/data/deliberation/outputs/pilot_001`): its computed values, computed
//! again.

use std::collections::{BTreeMap, BTreeSet};

use retold_deliberation::opposition::{OpposingView, Position, ReasonGroup, Scene, method};
use retold_deliberation::{Config, Participant, ParticipantStatus, USUAL_SEED, group, summary};
use retold_stats::Point;
use serde_json::{Value, json};

use crate::support::data::folder;

fn json(path: &str) -> Value {
    let path = folder("deliberation").join("outputs").join(path);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("needs ../shared/data ({}): {e}", path.display()));
    serde_json::from_str(&text).unwrap()
}

fn participants(pilot: &str) -> Vec<Participant> {
    let file = json(&format!("{pilot}/participants.json"));
    serde_json::from_value(file["participants"].clone()).unwrap()
}

fn config(pilot: &str) -> Config {
    let path = folder("deliberation").join("outputs").join(pilot).join("config.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    retold_study::config::load(&path, &text).unwrap()
}

fn vector(value: &Value) -> Point {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// Asserts that their summary has every field of ours except those that are null where they omitted
/// them. For an empty group they have a rate of 0, where ours is null.
fn assert_same(theirs: &Value, ours: &Value) {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let is_empty_group = theirs.get("final_vote_distribution") == Some(&json!({}));
            for (key, value) in theirs {
                if is_empty_group && key == "position_changed_rate" {
                    assert_eq!((value, &ours[key]), (&json!(0.0), &Value::Null));
                    continue;
                }
                assert_same(value, ours.get(key).unwrap_or_else(|| panic!("no {key}")));
            }
            let more = ours.iter().filter(|(key, _)| !theirs.contains_key(*key));
            more.for_each(|(key, value)| assert!(value.is_null(), "{key} is ours alone: {value}"));
        }
        _ => assert_eq!(theirs, ours),
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn summaries_of_real_pilots_are_recomputed() {
    for pilot in ["pilot_001", "test_full_001", "test_small_001"] {
        let theirs = json(&format!("{pilot}/summary.json"));
        let reason = theirs["termination_reason"].as_str();
        let participants = participants(pilot);
        assert!(participants.iter().all(|p| p.status == ParticipantStatus::Complete));
        assert_same(&theirs, &serde_json::to_value(summary(pilot, reason, &participants)).unwrap());
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn clusters_of_a_real_pilot_are_recomputed() {
    let config = config("pilot_001");
    let mut theirs: BTreeMap<String, BTreeSet<BTreeSet<String>>> = BTreeMap::new();
    for cluster in json("pilot_001/cluster_embeddings.json")["clusters"].as_array().unwrap() {
        let ids: BTreeSet<String> = serde_json::from_value(cluster["member_ids"].clone()).unwrap();
        theirs.entry(cluster["option"].as_str().unwrap().to_owned()).or_default().insert(ids);
    }
    let mut ours: BTreeMap<String, BTreeSet<BTreeSet<String>>> = BTreeMap::new();
    let file = json("pilot_001/participants.json");
    for (number, option) in config.topic.options.iter().enumerate() {
        let members: Vec<(String, Point)> = file["participants"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|p| p["initial_choice"] == **option)
            .filter(|p| p["individual_summary_embedding"].is_array())
            .map(|p| {
                let id = p["participant_id"].as_str().unwrap().to_owned();
                (id, vector(&p["individual_summary_embedding"]))
            })
            .collect();
        for cluster in group(number, option, &members, &config, USUAL_SEED) {
            let ids = cluster.member_ids.into_iter().collect();
            ours.entry(option.clone()).or_default().insert(ids);
        }
    }
    assert_eq!(ours, theirs);
    assert_eq!(theirs.values().map(BTreeSet::len).sum::<usize>(), 3);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn opposing_views_of_a_real_pilot_are_recomputed() {
    let config = config("pilot_001");
    let file = json("pilot_001/participants.json");
    let participants = file["participants"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let positions = participants.iter().map(|p| Position {
        participant_id: text(&p["participant_id"]),
        choice: text(&p["initial_choice"]),
        summary: p["individual_summary"].as_str().map(str::to_owned),
        embedding: Some(&p["individual_summary_embedding"]).filter(|v| v.is_array()).map(vector),
    });
    let clusters = json("pilot_001/cluster_embeddings.json");
    let groups = clusters["clusters"].as_array().unwrap().iter().map(|c| ReasonGroup {
        option: text(&c["option"]),
        embedding: vector(&c["embedding"]),
        members: c["member_count"].as_u64().unwrap() as usize,
    });
    let scene = Scene {
        options: config.topic.options.clone(),
        positions: positions.collect(),
        groups: groups.collect(),
        mapping: BTreeMap::new(),
    };
    let method = method(&config.opposition_method).unwrap();
    let mut compared = 0;
    for (participant, own) in participants.iter().zip(&scene.positions) {
        if let Some(theirs) = participant["opposition_view"].as_str() {
            let ours = method.choose(own, &scene);
            assert_eq!(
                ours,
                Some(OpposingView::Option(theirs.to_owned())),
                "{}",
                own.participant_id
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 2, "the pilot has two ACP participants");
}
