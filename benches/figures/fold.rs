//! 1,000,000 facts of deliberations folded into their state, compared with only parsing them as
//! JSON.

use std::time::Duration;

use retold::event::Event;
use retold::id::Seq;
use retold::log::{Backend, SqliteBackend, SqliteOptions};
use retold::run::{Experiment, Mode};
use retold_deliberation::{Deliberation, DeliberationState, Fact};
use serde_json::Value;

use crate::deliberation::{config, model};
use crate::study::{RUN, execute_at};
use crate::{rate, row, timed};

const FACTS: usize = 1_000_000;

pub(crate) fn measure() {
    let (study, experiment) = config(&["participants_per_condition=50".to_owned()]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.db");
    execute_at(experiment.as_ref(), model(study.seed), study.seed, &log, Mode::Record, 64);
    let backend = SqliteBackend::open(&log, SqliteOptions::default()).unwrap();
    let events = backend.reader().unwrap().events(RUN, Seq(0), usize::MAX).unwrap();
    let facts: Vec<String> = events
        .iter()
        .filter_map(|event| match event.event().unwrap() {
            Event::Occurred(occurred) => Some(occurred.fact.to_string()),
            _ => None,
        })
        .collect();
    let (mut ours, mut bare) = (Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        ours = ours.min(timed(|| fold(&facts)).1);
        bare = bare.min(timed(|| parse(&facts)).1);
    }
    let (ours, bare) = (rate(FACTS, ours), rate(FACTS, bare));
    row(
        &format!("fold of 1,000,000 facts, from runs of {}", facts.len()),
        &format!("{ours:.0}/s"),
        &format!("serde_json alone: {bare:.0}/s"),
        ours / bare,
    );
}

/// From text to state, run after run.
fn fold(facts: &[String]) {
    let mut left = FACTS;
    while left > 0 {
        let mut state = DeliberationState::default();
        for fact in facts.iter().take(left) {
            let fact: Fact = serde_json::from_str(fact).unwrap();
            Deliberation::apply(&mut state, &fact);
        }
        left -= facts.len().min(left);
        assert!(!state.participants.is_empty());
    }
}

fn parse(facts: &[String]) {
    let all = facts.iter().cycle().take(FACTS);
    let objects = all.filter(|fact| serde_json::from_str::<Value>(fact).unwrap().is_object());
    assert_eq!(objects.count(), FACTS);
}
