//! When things happened: the times of the recorded facts.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::facts::{Fact, PlayerTurn};
use retold::id::Time;
use retold::run::RunRecord;

/// The times of a run's facts.
#[derive(Default)]
pub(super) struct Times {
    settled: BTreeMap<(u32, u32), Time>,
    spoke: BTreeMap<PlayerTurn, Time>,
    redistributed: BTreeMap<PlayerTurn, Time>,
}

impl Times {
    /// The times in a record.
    pub(super) fn new(record: &RunRecord<'_>) -> Self {
        let mut times = Times::default();
        for (fact, place) in record.facts.iter().zip(&record.places) {
            // Other facts were refused when the state was folded.
            match Fact::deserialize(fact) {
                Ok(Fact::RoundSettled { game, round, .. }) => {
                    times.settled.insert((game, round), place.time);
                }
                Ok(Fact::Spoke { turn, .. }) => {
                    times.spoke.insert(turn, place.time);
                }
                Ok(Fact::Redistributed { turn, .. }) => {
                    times.redistributed.insert(turn, place.time);
                }
                _ => {}
            }
        }
        times
    }

    /// When a round was settled.
    pub(super) fn settlement(&self, game: u32, round: u32) -> String {
        text(self.settled.get(&(game, round)))
    }

    /// When a message was sent.
    pub(super) fn spoke(&self, turn: PlayerTurn) -> String {
        text(self.spoke.get(&turn))
    }

    /// When a player punished or rewarded.
    pub(super) fn redistribution(&self, turn: PlayerTurn) -> String {
        text(self.redistributed.get(&turn))
    }
}

fn text(time: Option<&Time>) -> String {
    time.map_or_else(String::new, Time::to_string)
}
