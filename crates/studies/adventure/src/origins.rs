//! The sources of the prompts of a game.

use std::collections::BTreeMap;

use retold::run::{DecisionRef, FactRef, SoFar, Source};

/// The sources of the prompts of each game, by its number.
#[derive(Debug, Default)]
pub(super) struct GameOrigins(BTreeMap<u32, GameOrigin>);

#[derive(Debug, Default)]
struct GameOrigin {
    /// Everything that was told and chosen, for game master and player.
    so_far: SoFar,
    /// The fact with the hero.
    began: Option<FactRef>,
    /// The fact with the hero's location.
    located: Option<FactRef>,
    /// The fact with the hero's opponent.
    told: Option<FactRef>,
}

impl GameOrigins {
    /// A game began.
    pub(super) fn began(&mut self, game: u32, fact: &FactRef) {
        let origin = self.0.entry(game).or_default();
        origin.so_far.add(fact);
        origin.began = Some(fact.clone());
        origin.located = Some(fact.clone());
    }

    /// The game master told a turn, given everything before it.
    pub(super) fn add_narration(
        &mut self,
        game: u32,
        decision: &DecisionRef,
        fact: &FactRef,
        elsewhere: bool,
    ) {
        let origin = self.0.entry(game).or_default();
        origin.so_far.replace_with(decision);
        origin.so_far.add(fact);
        origin.told = Some(fact.clone());
        if elsewhere {
            origin.located = Some(fact.clone());
        }
    }

    /// Another event that later prompts show.
    pub(super) fn add(&mut self, game: u32, fact: &FactRef) {
        self.0.entry(game).or_default().so_far.add(fact);
    }

    /// The sources of a prompt for the game master or the player.
    pub(super) fn story(&self, game: u32) -> Vec<Source> {
        self.0.get(&game).map_or_else(Vec::new, |origin| origin.so_far.sources().to_vec())
    }

    /// The sources of the prompt for an opponent: who fights whom, and where.
    pub(super) fn opponent(&self, game: u32) -> Vec<Source> {
        let Some(GameOrigin { began, located, told, .. }) = self.0.get(&game) else {
            return Vec::new();
        };
        [began, located, told].into_iter().flatten().map(Source::from).collect()
    }
}
