//! Replays that compare the state, compared with replays of the same events without its digests.

use std::sync::Arc;
use std::time::Duration;

use crate::studies::{build, player, study};
use retold::event::{Event, NewEvent, RunFinished};
use retold::id::Seq;
use retold::log::{Append, Head, Log, SqliteBackend, SqliteOptions};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::run::Mode;

use crate::study::{RUN, execute_at};
use crate::{rate, row, timed};

/// Studies whose state is large for their number of exchanges.
const STUDIES: [(&str, &str, &[&str]); 4] = [
    ("a deliberation of 1,200", "deliberation.yaml", &[]),
    ("a society of 100 for 60 days", "society.yaml", &["agents=100", "days=60"]),
    (
        "public goods, 50 games of 4 and 20 rounds",
        "public_goods.yaml",
        &["games=50", "game_length=20"],
    ),
    ("100 adventures of 20 turns", "adventure.yaml", &["player=first", "games=100", "turns=20"]),
];

pub(crate) fn measure() {
    for (name, config, overrides) in STUDIES {
        let path = format!("{}/config/{config}", env!("RETOLD_ROOT"));
        let overrides: Vec<String> = overrides.iter().map(|set| (*set).to_owned()).collect();
        let study = study(path.as_ref(), None, &overrides).unwrap();
        let experiment = build(&study.experiment, &study.settings.experiment).unwrap();
        let model = || {
            let player = player(&study.experiment).unwrap();
            Arc::new(SimulatedModel::new(study.seed, Misbehaviour::default(), player))
        };
        let folder = tempfile::tempdir().unwrap();
        let (with, without) = (folder.path().join("with.db"), folder.path().join("without.db"));
        let go = |log, mode| execute_at(experiment.as_ref(), model(), study.seed, log, mode, 64);
        let exchanges = go(&with, Mode::Record).progress.exchanges as usize;
        copy_without(&with, &without);
        assert!(
            go(&with, Mode::Replay).state_compared && !go(&without, Mode::Replay).state_compared
        );
        let (mut ours, mut bare) = (Duration::MAX, Duration::MAX);
        for _ in 0..7 {
            ours = ours.min(timed(|| go(&with, Mode::Replay)).1);
            bare = bare.min(timed(|| go(&without, Mode::Replay)).1);
        }
        let (ours, bare) = (rate(exchanges, ours), rate(exchanges, bare));
        row(
            &format!("replay that compares the state, {name}: {exchanges} exchanges"),
            &format!("{ours:.0}/s"),
            &format!("the same without digests: {bare:.0}/s"),
            ours / bare,
        );
    }
}

/// Copies a run without the digests in its last event.
fn copy_without(from: &std::path::Path, to: &std::path::Path) {
    let open = |path| SqliteBackend::open_or_create(path, SqliteOptions::default()).unwrap();
    let (from, to) = (Log::new(Arc::new(open(from))), Log::new(Arc::new(open(to))));
    let mut reader = from.reader().unwrap();
    let (mut after, mut head) = (Seq(0), Head::START);
    let mut committer = to.backend().committer().unwrap();
    loop {
        let stored = reader.events(RUN, after, 4096).unwrap();
        let Some(last) = stored.last() else { return };
        after = last.seq;
        let events: Vec<NewEvent> = stored
            .iter()
            .map(|stored| {
                let request = stored.prompt.map(|prompt| reader.request(prompt).unwrap().unwrap());
                let event = match stored.event().unwrap() {
                    Event::RunFinished(end) => {
                        Event::RunFinished(RunFinished { state: None, outputs: None, ..end })
                    }
                    other => other,
                };
                NewEvent::from_event(&event, stored.time, request).unwrap()
            })
            .collect();
        let append = Append::new(RUN, head, events);
        head = append.events.last().unwrap().head();
        committer.commit(&[append]).unwrap();
    }
}
