//! What a phase shows is missing because the calls that it comes from have failed: those who would
//! be shown it fail with the reason.

use std::path::Path;
use std::sync::Arc;

use futures::future::BoxFuture;
use retold::event::Event;
use retold::model::simulated::Misbehaviour;
use retold::model::{Answerer, Ask, Failure, FailureKind, Model, ModelInfo, Response};
use retold::prompt::Api;
use retold::run::{AnyExperiment, ExecutionResult};
use serde_json::Value;

use super::runs::{model, recorded};
use crate::support::block_on;
use crate::support::logs::facts;
use crate::support::program::{build, study};
use crate::support::trial::Trial;

/// Answers like another model, except where a function says otherwise.
struct Except {
    inner: Answerer,
    instead: fn(&Ask<'_>) -> Option<Result<Response, Failure>>,
}

impl Model for Except {
    fn info(&self) -> ModelInfo {
        self.inner.info()
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        match (self.instead)(&ask) {
            Some(answer) => Box::pin(async move { answer }),
            None => self.inner.answer(ask),
        }
    }
}

fn refused() -> Option<Result<Response, Failure>> {
    Some(Err(Failure::new(FailureKind::Rejected, "no embeddings here")))
}

fn without_embeddings(ask: &Ask<'_>) -> Option<Result<Response, Failure>> {
    (ask.request.api() == Api::Embedding).then(refused)?
}

fn without_descriptions(ask: &Ask<'_>) -> Option<Result<Response, Failure>> {
    let call = ask.call.to_string();
    (call.starts_with("cluster/") && call.ends_with("/description")).then(refused)?
}

/// A moderator who is satisfied before the first question of one kind of dialogue.
fn satisfied(ask: &Ask<'_>, dialogue: &str) -> Option<Result<Response, Failure>> {
    let call = ask.call.to_string();
    let first = call.starts_with(dialogue) && call.ends_with("/1/moderator");
    first.then(|| Ok(Response::text("SATISFIED")))
}

fn small() -> Box<dyn AnyExperiment> {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/deliberation_small.yaml");
    let overrides = ["participants_per_condition=2".to_owned()];
    let study = study(&path, None, &overrides).unwrap();
    build("deliberation", &study.settings.experiment).unwrap()
}

fn run(
    instead: fn(&Ask<'_>) -> Option<Result<Response, Failure>>,
) -> (ExecutionResult, Vec<Value>) {
    let inner: Answerer = model(Misbehaviour::default());
    let trial = Trial::in_memory(Arc::new(Except { inner, instead }));
    let experiment = small();
    let ended = recorded(&trial, experiment.as_ref());
    assert_eq!(block_on(trial.replay(experiment.as_ref())), ended.outcome_digest);
    let occurred = facts(&trial.log, trial.run).into_iter().filter_map(|event| match event {
        Event::Occurred(occurred) => Some(occurred.fact),
        _ => None,
    });
    let occurred = occurred.collect();
    (ended, occurred)
}

/// How many completed it, by condition: simple voting, simple passive, clarified passive, ACP.
fn completed(ended: &ExecutionResult) -> Vec<u64> {
    let rows = &ended.report.json["by_condition"];
    let conditions = ["simple_voting", "simple_passive", "clarified_passive", "acp"];
    conditions.map(|condition| rows[condition]["completed"].as_u64().unwrap()).to_vec()
}

fn of<'a>(facts: &'a [Value], kind: &str) -> Vec<&'a Value> {
    facts.iter().filter(|fact| fact["fact"] == *kind).collect()
}

#[test]
fn nobody_votes_after_an_empty_summary() {
    for instead in [without_embeddings, without_descriptions] {
        let (ended, facts) = run(instead);
        assert_eq!(completed(&ended), [2, 0, 0, 0]);
        assert!(of(&facts, "summary_shown").is_empty() && of(&facts, "final_vote_cast").is_empty());
        let reasons: Vec<&str> = of(&facts, "participant_failed")
            .iter()
            .map(|fact| fact["reason"].as_str().unwrap())
            .collect();
        assert_eq!(reasons.len(), 6);
        assert!(reasons.iter().all(|reason| reason.contains("no embeddings here")), "{reasons:?}");
        let readers = reasons.iter().filter(|r| r.starts_with("there are no positions of others"));
        assert!(readers.count() >= 2, "{reasons:?}");
    }
}

#[test]
fn a_dialogue_without_a_question_is_neither_summarised_nor_voted_on() {
    let (ended, facts) = run(|ask| satisfied(ask, "clarification/"));
    // Nobody was asked for reasons, so there is nothing to read either.
    assert_eq!(completed(&ended), [2, 0, 0, 0]);
    assert!(of(&facts, "summarised").is_empty());
    let (ended, facts) = run(|ask| satisfied(ask, "adversarial/"));
    assert_eq!(completed(&ended), [2, 2, 2, 0]);
    let failed = of(&facts, "participant_failed");
    let due = "the moderator was satisfied before any question, so there is no dialogue";
    assert!(failed.len() == 2 && failed.iter().all(|fact| fact["reason"] == due), "{failed:?}");
}
