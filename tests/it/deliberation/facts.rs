//! What the facts of a run have: vectors, the beginnings of phases, the votes in summaries.

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::program::{build, study};
use retold::event::{Event, FoldedState};
use retold::id::StateDigest;
use retold::model::simulated::Misbehaviour;
use retold::prompt::{canonical, hash_of};
use retold::run::{AnyExperiment, Experiment, RunRecord};
use retold_deliberation::{Deliberation, DeliberationState, Fact};
use serde::Deserialize;
use serde_json::{Value, json};

use super::runs::{model, recorded, trouble};
use crate::support::block_on;
use crate::support::logs::facts;
use crate::support::trial::Trial;

/// A small deliberation.
fn small(overrides: &[&str]) -> Box<dyn AnyExperiment> {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let settings = study(&path, None, &overrides).unwrap().settings.experiment;
    build("deliberation", &settings).unwrap()
}

/// Records a run, replays it, and returns it with its facts.
fn recorded_run(experiment: &dyn AnyExperiment, misbehaviour: Misbehaviour) -> (Trial, Vec<Value>) {
    let trial = Trial::in_memory(model(misbehaviour));
    let ended = recorded(&trial, experiment);
    assert_eq!(block_on(trial.replay(experiment)), ended.outcome_digest);
    let occurred = facts(&trial.log, trial.run).into_iter().filter_map(|event| match event {
        Event::Occurred(occurred) => Some(occurred.fact),
        _ => None,
    });
    let occurred = occurred.collect();
    (trial, occurred)
}

fn folded(trial: &Trial) -> FoldedState {
    let finished = facts(&trial.log, trial.run).into_iter().find_map(|event| match event {
        Event::RunFinished(finished) => Some(finished),
        _ => None,
    });
    finished.unwrap().state.unwrap()
}

/// The digest of each entry of the state, folded from recorded facts.
fn digests(facts: &[Value]) -> BTreeMap<String, StateDigest> {
    let mut state = DeliberationState::default();
    for fact in facts {
        Deliberation::apply(&mut state, &Fact::deserialize(fact).unwrap());
    }
    let state = serde_json::to_value(&state).unwrap();
    let digest = |value: &Value| StateDigest(hash_of(canonical(value).unwrap().as_bytes()));
    state.as_object().unwrap().iter().map(|(key, value)| (key.clone(), digest(value))).collect()
}

fn of<'a>(facts: &'a [Value], kind: &str) -> Vec<&'a Value> {
    facts.iter().filter(|fact| fact["fact"] == *kind).collect()
}

#[test]
fn vectors_are_folded_and_the_digest_of_the_state_covers_them() {
    let experiment = small(&["participants_per_condition=4"]);
    let (trial, facts) = recorded_run(experiment.as_ref(), Misbehaviour::default());
    // Folding the facts in the log yields the recorded state.
    let recorded = folded(&trial);
    assert_eq!(digests(&facts), recorded.end);
    let at = |name: &str| {
        let mark = recorded.marks.iter().find(|mark| mark.name == name).unwrap();
        mark.entries["vectors"]
    };
    assert_ne!(at("phase_3"), at("phase_4"));
    let embedded = of(&facts, "summary_embedded");
    assert_eq!(embedded.len(), 8);
    assert!(embedded.iter().all(|fact| fact["floats"].is_string()));
    // Changing one float of one vector changes the digest of that entry and of no other.
    let mut changed = facts.clone();
    let fact = changed.iter_mut().find(|f| f["fact"] == "summary_embedded").unwrap();
    let floats = fact["floats"].as_str().unwrap();
    let other = if floats.starts_with('A') { 'B' } else { 'A' };
    fact["floats"] = json!(format!("{other}{}", &floats[1..]));
    let (changed, recorded) = (digests(&changed), recorded.end);
    let differ = changed.iter().filter(|(key, digest)| recorded[*key] != **digest);
    assert_eq!(differ.map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["vectors"]);
    // So have the outputs.
    let mut reader = trial.log.reader().unwrap();
    let mut record = RunRecord::read(reader.as_mut(), trial.run).unwrap();
    let files = experiment.outputs_any(&mut record).unwrap();
    let file = files.iter().find(|file| file.name == "individual_embeddings.json").unwrap();
    let file: Value = serde_json::from_slice(&file.content.bytes().unwrap()).unwrap();
    assert_eq!(file["embeddings"].as_array().unwrap().len(), 8);
    assert!(file["embeddings"][0]["embedding"].as_array().unwrap().len() > 8);
}

#[test]
fn each_phase_is_recorded_when_it_begins() {
    let overrides = ["participants_per_condition=5", "include_vote_distribution=true"];
    let (_, facts) = recorded_run(small(&overrides).as_ref(), trouble());
    let began = of(&facts, "phase_began").into_iter().map(|fact| fact["phase"].as_u64().unwrap());
    assert!(began.eq(1..=9));
}

#[test]
fn the_votes_are_shown_if_the_config_says_so() {
    let shown = |include: bool| -> (String, Vec<Value>) {
        let include = format!("include_vote_distribution={include}");
        let experiment = small(&[&include, "participants_per_condition=5"]);
        let (_, facts) = recorded_run(experiment.as_ref(), Misbehaviour::default());
        let content = of(&facts, "summary_prepared")[0]["content"].as_str().unwrap().to_owned();
        (content, facts)
    };
    let headings = |content: &str| -> Vec<String> {
        content.lines().filter(|line| line.starts_with("## ")).map(str::to_owned).collect()
    };
    let (content, facts) = shown(true);
    let votes = of(&facts, "initial_vote_cast");
    assert_eq!(votes.len(), 20);
    let expected = headings(&shown(false).0).into_iter().map(|heading| {
        let option = &heading[3..];
        let own = votes.iter().filter(|vote| vote["choice"] == option).count();
        let noun = if own == 1 { "vote" } else { "votes" };
        format!("{heading} ({own} {noun}, {:.1}%)", own as f64 * 5.0)
    });
    let expected: Vec<String> = expected.collect();
    assert!(expected.len() > 1);
    assert_eq!(headings(&content), expected);
}
