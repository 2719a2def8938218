//! Reasons and their vectors are folded.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::support::program::{build, study};
use retold::event::Event;
use retold::id::StateDigest;
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::prompt::{canonical, hash_of};
use retold::run::{Experiment, Finish, Mode};
use retold_public_goods::{Fact, PlayedGames, PublicGoods, SimulatedPlayers};
use serde::Deserialize;
use serde_json::Value;

use crate::support::block_on;
use crate::support::logs::facts;
use crate::support::trial::Trial;

/// The facts of a small game, and the digest of each entry of its state at the end.
fn played(overrides: &[&str]) -> (Vec<Value>, BTreeMap<String, StateDigest>) {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/public_goods_small.yaml");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let settings = study(&path, None, &overrides).unwrap().settings.experiment;
    let experiment = build("public_goods", &settings).unwrap();
    let model = SimulatedModel::new(7, Misbehaviour::default(), Box::new(SimulatedPlayers));
    let trial = Trial::in_memory(Arc::new(model));
    let ended = block_on(trial.go(Mode::Record, experiment.as_ref()));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    let (mut recorded_facts, mut end) = (Vec::new(), None);
    for event in facts(&trial.log, trial.run) {
        match event {
            Event::Occurred(occurred) => recorded_facts.push(occurred.fact),
            Event::RunFinished(finished) => end = finished.state,
            _ => {}
        }
    }
    (recorded_facts, end.unwrap().end)
}

/// The digest of each entry of the state that the facts fold into.
fn digests(facts: &[Value]) -> BTreeMap<String, StateDigest> {
    let mut state = PlayedGames::default();
    for fact in facts {
        PublicGoods::apply(&mut state, &Fact::deserialize(fact).unwrap());
    }
    let state = serde_json::to_value(&state).unwrap();
    let digest = |value: &Value| StateDigest(hash_of(canonical(value).unwrap().as_bytes()));
    state.as_object().unwrap().iter().map(|(key, value)| (key.clone(), digest(value))).collect()
}

#[test]
fn reasons_and_vectors_are_folded_and_the_digest_of_the_state_covers_them() {
    let (facts, recorded) = played(&[]);
    assert_eq!(digests(&facts), recorded, "the log is enough to come to the state");
    let of = |kind: &'static str| facts.iter().filter(move |fact| fact["fact"] == kind);
    assert_eq!(of("reasoning_embedded").count(), 12, "4 players in 3 rounds");
    assert!(of("reasoning_embedded").all(|fact| fact["floats"].is_string()));
    assert!(of("contributed").all(|fact| fact["reasoning"].is_string()));
    assert_eq!(of("players_grouped").count(), 1);
    let mut changed = facts.clone();
    let fact = changed.iter_mut().find(|fact| fact["fact"] == "contributed").unwrap();
    fact["reasoning"] = "Another reason.".into();
    let changed = digests(&changed);
    let differ = changed.iter().filter(|(key, digest)| recorded[*key] != **digest);
    assert_eq!(differ.map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["reasons"]);
}

/// Reasons that are not made into vectors stay where they are: in the answers.
#[test]
fn without_vectors_no_fact_carries_reasons() {
    let (facts, _) = played(&["reasoning.embedding_model=null"]);
    assert!(facts.iter().all(|fact| fact["reasoning"].is_null() && fact["floats"].is_null()));
}
