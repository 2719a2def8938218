//! Whole runs with the simulated model: recorded, replayed, with every kind of failure.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::support::program::{build, study};
use retold::model::simulated::{Misbehaviour, Player, SimulatedModel};
use retold::run::{AnyExperiment, ExecutionResult, Finish, Mode, Stop};
use retold_deliberation::SimulatedDeliberation;
use retold_study::study::Study;

use crate::support::block_on;
use crate::support::stops::StopsAfter;
use crate::support::trial::Trial;

pub(super) fn small(overrides: &[&str]) -> Box<dyn AnyExperiment> {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let Study { settings, .. } = study(&path, None, &overrides).unwrap();
    build("deliberation", &settings.experiment).unwrap()
}

pub(super) fn model(misbehaviour: Misbehaviour) -> Arc<SimulatedModel> {
    Arc::new(SimulatedModel::new(7, misbehaviour, Box::new(SimulatedDeliberation)))
}

/// A fifth of the answers is malformed in some way.
pub(super) fn trouble() -> Misbehaviour {
    Misbehaviour { malformed: 0.2, rate_limited: 0.1, failure: 0.05, ..Misbehaviour::default() }
}

/// Each kind of malformed answer at a rate of a fifth where it can occur, and a fifth of the rest
/// cut off.
pub(super) fn every_trouble() -> Misbehaviour {
    let kinds = SimulatedDeliberation.kinds().iter();
    let malformed_kinds = kinds.map(|kind| ((*kind).to_owned(), 0.2)).collect();
    Misbehaviour { malformed: 0.0, malformed_kinds, truncated: 0.2, ..trouble() }
}

pub(super) fn recorded(trial: &Trial, experiment: &dyn AnyExperiment) -> ExecutionResult {
    let ended = block_on(trial.go(Mode::Record, experiment));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    ended
}

#[test]
fn a_small_deliberation_is_recorded_and_replayed_identically() {
    let experiment = small(&[]);
    let trial = Trial::in_memory(model(Misbehaviour::default()));
    let ended = recorded(&trial, experiment.as_ref());
    assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    insta::assert_snapshot!(ended.report.text);
    for condition in ["simple_voting", "simple_passive", "clarified_passive", "acp"] {
        let row = &ended.report.json["by_condition"][condition];
        assert_eq!((&row["total"], &row["completed"]), (&10.into(), &10.into()), "{condition}");
    }
    // 40 personas with 2 questions each; 40 votes and 30 final ones.
    assert!(ended.progress.exchanges > 80 + 70, "{}", ended.progress.exchanges);
}

#[test]
fn every_method_and_algorithm_runs_and_replays() {
    for method in ["embedding", "llm_judge", "highest_voted", "cluster_embedding"] {
        for algorithm in ["kmeans", "agglomerative"] {
            let (method, algorithm) = (
                format!("opposition_method={method}"),
                format!("clustering_algorithm={algorithm}"),
            );
            let experiment = small(&[&method, &algorithm, "participants_per_condition=6"]);
            let trial = Trial::in_memory(model(Misbehaviour::default()));
            let ended = recorded(&trial, experiment.as_ref());
            assert_eq!(
                block_on(trial.replay(experiment.as_ref())),
                ended.outcome_digest,
                "{method}"
            );
            assert_eq!(ended.report.json["last_completed_phase"], 9);
        }
    }
}

#[test]
fn agreement_ends_it_after_phase_2() {
    let experiment = small(&["disagreement_threshold=0.1"]);
    let trial = Trial::in_memory(model(Misbehaviour::default()));
    let ended = recorded(&trial, experiment.as_ref());
    assert_eq!(ended.report.json["last_completed_phase"], 2);
    assert_eq!(ended.report.json["terminated_early"], true);
    assert_eq!(ended.report.json["by_condition"]["acp"]["completed"], 10);
    let none = serde_json::json!({});
    assert_eq!(ended.report.json["by_condition"]["acp"]["final_vote_distribution"], none);
}

#[test]
fn an_interrupted_run_continues_where_it_was_in_any_phase() {
    let experiment = small(&["participants_per_condition=6"]);
    let whole = recorded(&Trial::in_memory(model(trouble())), experiment.as_ref());
    for stop_after in [1, 20, 60, 100, 150, 200] {
        let mut trial = Trial::in_memory(model(trouble()));
        let (inner, left) = (model(trouble()), AtomicUsize::new(stop_after));
        trial.model = Some(Arc::new(StopsAfter { inner, left, signal: trial.signal.clone() }));
        let stopped = block_on(trial.go(Mode::Record, experiment.as_ref()));
        assert!(matches!(stopped.finish, Finish::Stopped(Stop::Interrupted)), "{stop_after}");
        let resumed = trial.with_model(model(trouble()));
        let ended = block_on(resumed.go(Mode::Resume, experiment.as_ref()));
        assert!(matches!(ended.finish, Finish::Finished), "{stop_after}: {:?}", ended.finish);
        assert_eq!(ended.report, whole.report, "after {stop_after}");
        assert_eq!(block_on(resumed.replay(experiment.as_ref())), ended.outcome_digest);
    }
}

#[test]
fn the_order_in_which_answers_come_in_does_not_matter() {
    let experiment = small(&["participants_per_condition=6"]);
    let at_once = recorded(&Trial::in_memory(model(trouble())), experiment.as_ref());
    let latency = std::time::Duration::from_millis(3);
    let slow = model(Misbehaviour { latency, ..trouble() });
    let trial = Trial::in_memory(slow);
    let shuffled = recorded(&trial, experiment.as_ref());
    assert_eq!(shuffled.report, at_once.report);
    assert_eq!(block_on(trial.replay(experiment.as_ref())), shuffled.outcome_digest);
}
