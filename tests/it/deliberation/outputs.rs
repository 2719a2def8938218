//! The output folder: its files have the form of the original outputs, and the right contents.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::support::program::{build, study};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::run::{AnyExperiment, Finish, Mode, OutputFile, RunRecord};
use retold_deliberation::{Config, Settings, SimulatedDeliberation};
use retold_study::study::Study;
use serde_json::Value;

use super::runs::trouble;
use crate::support::block_on;
use crate::support::csv::rows_of;
use crate::support::data::folder;
use crate::support::shape::{Shape, shape};
use crate::support::trial::Trial;

fn small(overrides: &[&str]) -> (Config, Box<dyn AnyExperiment>) {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let Study { settings, .. } = study(&path, None, &overrides).unwrap();
    let config = settings.experiment.read::<Settings>().unwrap().config.clone();
    (config, build("deliberation", &settings.experiment).unwrap())
}

/// The files of a recorded run, by name.
fn files(trial: &Trial, experiment: &dyn AnyExperiment) -> BTreeMap<String, String> {
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    let files = experiment.outputs_any(&mut record).unwrap();
    let text =
        |OutputFile { name, content }| (name, String::from_utf8(content.bytes().unwrap()).unwrap());
    files.into_iter().map(text).collect()
}

fn recorded(misbehaviour: Misbehaviour, overrides: &[&str]) -> BTreeMap<String, String> {
    let (_, experiment) = small(overrides);
    let model = SimulatedModel::new(7, misbehaviour, Box::new(SimulatedDeliberation));
    let trial = Trial::in_memory(Arc::new(model));
    let ended = block_on(trial.go(Mode::Record, experiment.as_ref()));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    files(&trial, experiment.as_ref())
}

fn json(files: &BTreeMap<String, String>, name: &str) -> Value {
    serde_json::from_str(&files[name]).unwrap()
}

/// Objects whose keys are options, which differ between studies.
const BY_OPTION: [&str; 3] =
    ["clusters_by_option", "initial_vote_distribution", "final_vote_distribution"];

/// Asserts that our file has the same keys as theirs in the same order, and values of the same
/// types where neither is null.
fn assert_alike(path: &str, theirs: &Shape, ours: &Shape) {
    match (theirs, ours) {
        (Shape::Null, _) | (_, Shape::Null) => {}
        (Shape::List(theirs), Shape::List(ours)) => {
            // All items are alike, so one of theirs shows what ours must be.
            for (number, item) in ours.iter().enumerate() {
                if let Some(example) = theirs.first() {
                    assert_alike(&format!("{path}[{number}]"), example, item);
                }
            }
            for example in theirs {
                if let Some(item) = ours.first() {
                    assert_alike(path, example, item);
                }
            }
        }
        (Shape::Object(theirs), Shape::Object(ours))
            if BY_OPTION.iter().any(|k| path.ends_with(k)) =>
        {
            for (key, item) in ours {
                assert_alike(&format!("{path}.{key}"), &theirs[0].1, item);
            }
        }
        (Shape::Object(theirs), Shape::Object(ours)) => {
            let keys =
                |of: &[(String, Shape)]| of.iter().map(|(k, _)| k.clone()).collect::<Vec<_>>();
            // The document's summary has this rate, as null; a real pilot's summary omits it.
            let only_ours =
                |key: &str| path.ends_with(".simple_voting") && key == "position_changed_rate";
            let ours: Vec<_> = ours.iter().filter(|(key, _)| !only_ours(key)).cloned().collect();
            assert_eq!(keys(&ours), keys(theirs), "{path}");
            for ((key, theirs), (_, ours)) in theirs.iter().zip(&ours) {
                assert_alike(&format!("{path}.{key}"), theirs, ours);
            }
        }
        _ => assert_eq!(
            std::mem::discriminant(theirs),
            std::mem::discriminant(ours),
            "{path}: theirs is {theirs:?}, ours {ours:?}"
        ),
    }
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn the_files_have_the_shapes_of_a_real_pilot() {
    let ours = recorded(Misbehaviour::default(), &[]);
    let pilot = folder("deliberation").join("outputs/pilot_001");
    let mut compared = 0;
    for (name, text) in ours.iter().filter(|(name, _)| name.ends_with(".json")) {
        let theirs = std::fs::read_to_string(pilot.join(name)).unwrap();
        assert_alike(name, &shape(&theirs), &shape(text));
        compared += 1;
    }
    assert_eq!(compared, 5);
    for entry in std::fs::read_dir(&pilot).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(ours.contains_key(&name), "{name} is missing");
    }
}

#[test]
fn a_config_can_be_used_again() {
    let overrides = [
        "pilot_name='yes: [no] # 1'",
        "api_sleep_seconds=0.25",
        "temperature=0.5",
        "max_parse_retries=4",
        "random_seed=9",
    ];
    let (config, experiment) = small(&overrides);
    let model = SimulatedModel::new(7, Misbehaviour::default(), Box::new(SimulatedDeliberation));
    let trial = Trial::in_memory(Arc::new(model));
    block_on(trial.record(experiment.as_ref()));
    let text = &files(&trial, experiment.as_ref())["config.yaml"];
    let again: Config = retold_study::config::load(Path::new("config.yaml"), text).unwrap();
    // No command has been given this file yet, so its base URL counts as unset.
    let again = Config { provider: config.provider.clone(), ..again };
    // The seed is the run's; in these tests it is always 7.
    assert_eq!(again, Config { experiment: None, random_seed: Some(7), ..config });
    insta::assert_snapshot!(text);
}

#[test]
fn vectors_are_exact() {
    let files = recorded(Misbehaviour::default(), &["participants_per_condition=2"]);
    let list = json(&files, "individual_embeddings.json");
    let list = list["embeddings"].as_array().unwrap();
    assert_eq!(list.len(), 4, "half of eight are asked for reasons");
    let participants = json(&files, "participants.json");
    for entry in list {
        let id = &entry["participant_id"];
        let own = participants["participants"].as_array().unwrap();
        let own = own.iter().find(|p| p["participant_id"] == *id).unwrap();
        assert_eq!(own["individual_summary_embedding"], entry["embedding"], "{id}");
        for number in entry["embedding"].as_array().unwrap() {
            let number = number.as_f64().unwrap();
            assert_eq!(f64::from(number as f32), number, "a 32-bit float, and no other number");
        }
    }
}

#[test]
fn the_order_of_answers_leaves_no_trace_in_the_files() {
    let overrides = ["participants_per_condition=5"];
    let at_once = recorded(trouble(), &overrides);
    let latency = Duration::from_millis(3);
    let shuffled = recorded(Misbehaviour { latency, ..trouble() }, &overrides);
    let time = regex::Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").unwrap();
    let without_times = |text: &str| time.replace_all(text, "[time]").into_owned();
    for (name, text) in &at_once {
        assert_eq!(without_times(text), without_times(&shuffled[name]), "{name}");
    }
    assert_eq!(at_once.len(), shuffled.len());
}

#[test]
fn failures_are_in_every_file_and_counted_in_none() {
    let files = recorded(trouble(), &["participants_per_condition=10"]);
    let participants = json(&files, "participants.json");
    let participants = participants["participants"].as_array().unwrap();
    let failed: Vec<&Value> = participants.iter().filter(|p| p["status"] == "failed").collect();
    assert!(failed.len() > 3 && failed.len() < participants.len(), "{} failed", failed.len());
    let rows = rows_of(&files["participants.csv"]);
    assert_eq!(rows.len(), participants.len());
    for (row, participant) in rows.iter().zip(participants) {
        let said = |key: &str| participant[key].as_str().unwrap_or_default().to_owned();
        for key in [
            "participant_id", "condition", "status", "base_persona", "initial_choice",
            "error_message",
        ] {
            assert_eq!(row[key], said(key), "{key}");
        }
    }
    for participant in &failed {
        let id = participant["participant_id"].as_str().unwrap();
        let message = participant["error_message"].as_str().unwrap();
        let call = message.split(' ').next().unwrap();
        assert!(call.contains(id), "{message}");
        let line = format!("ERROR {id} failed at {call} sample ");
        assert!(files["experiment.log"].contains(&line), "{line}");
    }
    let summary = json(&files, "summary.json");
    let votes = rows_of(&files["votes.csv"]);
    for (condition, row) in summary["by_condition"].as_object().unwrap() {
        for (vote, key) in
            [("initial", "initial_vote_distribution"), ("final", "final_vote_distribution")]
        {
            for (option, count) in row[key].as_object().into_iter().flatten() {
                let counted = votes.iter().filter(|v| {
                    v["condition"] == *condition
                        && v["vote"] == vote
                        && v["choice"] == *option
                        && v["status"] == "complete"
                });
                assert_eq!(counted.count() as u64, count.as_u64().unwrap(), "{condition} {option}");
            }
        }
    }
    let turns = rows_of(&files["turns.csv"]);
    let spoken: usize = participants
        .iter()
        .flat_map(|p| [&p["clarification_transcript"], &p["adversarial_transcript"]])
        .map(|transcript| transcript.as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(turns.len(), spoken);
}

/// The ids in a list of objects.
fn ids(list: &Value) -> BTreeSet<&str> {
    list.as_array().unwrap().iter().map(|of| of["participant_id"].as_str().unwrap()).collect()
}

/// All ids in the clusters of a list; asserts that each is in only one cluster.
fn members(clusters: &Value) -> BTreeSet<&str> {
    let mut ids = BTreeSet::new();
    for cluster in clusters.as_array().unwrap() {
        let members = cluster["member_ids"].as_array().unwrap();
        assert_eq!(cluster["member_count"], members.len(), "{cluster}");
        for id in members {
            assert!(ids.insert(id.as_str().unwrap()), "{id} twice");
        }
    }
    ids
}

#[test]
fn participants_who_failed_after_clustering_stay_only_in_its_history() {
    let files = recorded(trouble(), &["participants_per_condition=20"]);
    let everyone = json(&files, "participants.json");
    let everyone = &everyone["participants"];
    let is = |status: &'static str| {
        let found = everyone.as_array().unwrap().iter().filter(move |p| p["status"] == status);
        found.map(|p| (p["participant_id"].as_str().unwrap(), p))
    };
    let in_cluster = |p: &Value| !p["cluster_id"].is_null();
    let complete: BTreeSet<&str> =
        is("complete").filter(|(_, p)| in_cluster(p)).map(|(id, _)| id).collect();
    let late: BTreeSet<&str> =
        is("failed").filter(|(_, p)| in_cluster(p)).map(|(id, _)| id).collect();
    let early: BTreeSet<&str> =
        is("failed").filter(|(_, p)| !in_cluster(p)).map(|(id, _)| id).collect();
    assert!(late.len() > 2 && early.len() > 2 && complete.len() > 5, "{late:?} {early:?}");

    // The history has everyone whom phase 4 put into a cluster, and no one who had failed by then.
    let then: BTreeSet<&str> = complete.union(&late).copied().collect();
    let (clusters, checkpoint) =
        (json(&files, "cluster_embeddings.json"), json(&files, "checkpoint.json"));
    assert_eq!(members(&clusters["clusters"]), then);
    assert_eq!(members(&checkpoint["clusters"]), then);
    assert_eq!(ids(&json(&files, "individual_embeddings.json")["embeddings"]), then);

    // The statistics have those who completed.
    let sizes = rows_of(&files["clusters.csv"]);
    let number = |row: &BTreeMap<String, String>, key: &str| row[key].parse::<usize>().unwrap();
    let sum = |key| sizes.iter().map(|row| number(row, key)).sum::<usize>();
    assert_eq!((sum("members"), sum("formed_with")), (complete.len(), then.len()));
    let reported: BTreeSet<&str> = sizes
        .iter()
        .flat_map(|row| row["failed_later"].split(' '))
        .filter(|id| !id.is_empty())
        .collect();
    assert_eq!(reported, late);
    for (row, cluster) in sizes.iter().zip(clusters["clusters"].as_array().unwrap()) {
        assert_eq!(row["cluster_id"], cluster["cluster_id"].as_str().unwrap());
        let of_it = |p: &Value| p["cluster_id"] == cluster["cluster_id"];
        assert_eq!(number(row, "members"), is("complete").filter(|(_, p)| of_it(p)).count());
    }
    let summary = json(&files, "summary.json");
    for condition in ["clarified_passive", "acp"] {
        let row = &summary["by_condition"][condition];
        let of_it = |p: &Value| p["condition"] == condition;
        let failed = is("failed").filter(|(_, p)| of_it(p)).count();
        assert_eq!((&row["total"], &row["failed"]), (&20.into(), &failed.into()));
        for distribution in ["initial_vote_distribution", "final_vote_distribution"] {
            let votes = row[distribution].as_object().unwrap().values();
            let votes: u64 = votes.map(|n| n.as_u64().unwrap()).sum();
            assert_eq!(votes as usize, 20 - failed, "{condition} {distribution}");
        }
    }

    // Tables of all participants say who failed.
    for table in ["participants.csv", "votes.csv", "turns.csv"] {
        for row in rows_of(&files[table]) {
            let failed = is("failed").any(|(id, _)| id == row["participant_id"]);
            assert_eq!(row["status"], if failed { "failed" } else { "complete" }, "{table}");
        }
    }
}

#[test]
fn a_run_that_ended_early_has_all_files() {
    let files = recorded(Misbehaviour::default(), &["disagreement_threshold=0.1"]);
    let checkpoint = json(&files, "checkpoint.json");
    assert_eq!(checkpoint["terminated_early"], true);
    assert_eq!(checkpoint["last_completed_phase"], 2);
    assert_eq!(checkpoint["clusters"], Value::Array(Vec::new()));
    assert!(files["experiment.log"].contains("WARNING terminated early: Option '"));
    assert_eq!(rows_of(&files["turns.csv"]).len(), 0);
    assert_eq!(rows_of(&files["votes.csv"]).len(), 40);
}
