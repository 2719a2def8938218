//! The replay of a whole deliberation with 1,200 participants, compared with bare point look-ups of
//! the same answers, and the share of clustering in its time.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::studies::{build, study};
use retold::content::Content;
use retold::event::{Event, StoredEvent};
use retold::id::Seq;
use retold::log::{Backend, SqliteBackend, SqliteOptions};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::run::{AnyExperiment, Experiment, Mode};
use retold_deliberation::{
    Deliberation, DeliberationState, Fact, Settings, SimulatedDeliberation, USUAL_SEED, group,
};
use retold_stats::{Point, point};
use retold_study::study::Study;
use serde::Deserialize;

use crate::replay::{fill_with, look_up};
use crate::study::{RUN, execute_at};
use crate::{rate, row, timed};

/// The study of `config/deliberation.yaml`.
pub(crate) fn config(overrides: &[String]) -> (Study, Box<dyn AnyExperiment>) {
    let path = Path::new(env!("RETOLD_ROOT")).join("config/deliberation.yaml");
    let study = study(&path, None, overrides).unwrap();
    let experiment = build(&study.experiment, &study.settings.experiment).unwrap();
    (study, experiment)
}

/// The model that answers it.
pub(crate) fn model(seed: u64) -> Arc<SimulatedModel> {
    Arc::new(SimulatedModel::new(seed, Misbehaviour::default(), Box::new(SimulatedDeliberation)))
}

pub(crate) fn measure() {
    let (study, experiment) = config(&[]);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.db");
    let go = |mode| execute_at(experiment.as_ref(), model(study.seed), study.seed, &log, mode, 64);
    let exchanges = go(Mode::Record).progress.exchanges as usize;

    let events = events(&log);
    let answers = events.iter().filter_map(|e| Some(e.content.as_ref()?.bytes().into_owned()));
    let bare_log = folder.path().join("bare.db");
    let keys = fill_with(&bare_log, answers.filter(|bytes| !bytes.is_empty()));
    let (mut ours, mut bare, mut clusters) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..3 {
        ours = ours.min(timed(|| go(Mode::Replay)).1);
        bare = bare.min(look_up(&bare_log, &keys));
        clusters = clusters.min(cluster_again(&study, &events));
    }
    let seconds = ours.as_secs_f64();
    let share = 100.0 * clusters.as_secs_f64() / seconds;
    let bare = rate(keys.len(), bare);
    row(
        &format!(
            "replay, a deliberation of 1,200: {exchanges} exchanges in {seconds:.2} s, {share:.0} % of it clusters"
        ),
        &format!("{:.0}/s", rate(exchanges, ours)),
        &format!("bare SQLite look-ups by key: {bare:.0}/s"),
        rate(exchanges, ours) / bare,
    );
}

fn events(log: &Path) -> Vec<StoredEvent> {
    let backend = SqliteBackend::open(log, SqliteOptions::default()).unwrap();
    backend.reader().unwrap().events(RUN, Seq(0), usize::MAX).unwrap()
}

/// How long the run's clustering takes.
fn cluster_again(study: &Study, events: &[StoredEvent]) -> Duration {
    let settings = study.settings.experiment.read::<Settings>().unwrap();
    let config = &settings.config;
    let mut state = DeliberationState::default();
    let mut vectors: BTreeMap<String, Point> = BTreeMap::new();
    for event in events {
        if let Some(Content::Vector(vector)) = &event.content {
            let content = Content::Vector(vector.clone());
            vectors.insert(content.hash().to_string(), point(vector));
        } else if let Event::Occurred(occurred) = event.event().unwrap() {
            Deliberation::apply(&mut state, &Fact::deserialize(&occurred.fact).unwrap());
        }
    }
    let members = |option: &String| -> Vec<(String, Point)> {
        let voters =
            state.participants.values().filter(|p| p.initial_choice.as_ref() == Some(option));
        let placed = voters.filter_map(|p| {
            let vector = vectors.get(&p.summary_vector?.to_string())?;
            Some((p.participant_id.clone(), vector.clone()))
        });
        placed.collect()
    };
    let options = &config.topic.options;
    let members: Vec<Vec<(String, Point)>> = options.iter().map(members).collect();
    let (formed, took) = timed(|| {
        let all = options.iter().zip(&members).enumerate();
        all.map(|(n, (option, members))| group(n, option, members, config, USUAL_SEED).len())
            .sum::<usize>()
    });
    assert!(formed > 0);
    took
}
