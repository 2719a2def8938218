//! The sources of each player's prompts.

use std::collections::BTreeMap;

use super::facts::{Fact, PlayerTurn};
use retold::run::{DecisionRef, Experiment, FactRef, Run, SoFar, Source, Stop};

/// The sources of each player's prompts, by game and player: everything that happened in the game.
/// The settings determine which of it a player is shown, but totals and payoffs follow from all of
/// it.
#[derive(Debug, Default)]
pub(super) struct PlayerOrigins {
    players: BTreeMap<(u32, u32), SoFar>,
    /// The sources with the reasons for a contribution.
    reasoned: BTreeMap<PlayerTurn, Source>,
}

/// The game in which a fact happened; `None` if no prompt shows it.
fn game_of(fact: &Fact) -> Option<u32> {
    match fact {
        Fact::Seated { game, .. } | Fact::RoundSettled { game, .. } => Some(*game),
        Fact::Spoke { turn, .. }
        | Fact::Contributed { turn, .. }
        | Fact::Redistributed { turn, .. } => Some(turn.game),
        Fact::ReasoningEmbedded { .. }
        | Fact::PlayersGrouped { .. }
        | Fact::PlayerFailed { .. } => None,
    }
}

impl PlayerOrigins {
    /// Records a fact, from which later prompts are made.
    pub(super) fn record<E: Experiment<Event = Fact>>(
        &mut self,
        run: &mut Run<E>,
        fact: Fact,
        causes: &[DecisionRef],
    ) -> Result<FactRef, Stop> {
        let game = game_of(&fact);
        let seated = match &fact {
            Fact::Seated { game, agent, .. } => Some((*game, *agent)),
            _ => None,
        };
        let fact = run.record_ref(fact, causes)?;
        if let Some(player) = seated {
            // Players who are seated later see those already seated.
            let there =
                self.players.range((player.0, 0)..=player).next().map(|(_, there)| there.clone());
            self.players.insert(player, there.unwrap_or_default());
        }
        if let Some(game) = game {
            self.players
                .range_mut((game, 0)..=(game, u32::MAX))
                .for_each(|(_, player)| player.add(&fact));
        }
        Ok(fact)
    }

    /// A player has been shown everything so far.
    pub(super) fn add_decision(&mut self, game: u32, agent: u32, decision: &DecisionRef) {
        if let Some(player) = self.players.get_mut(&(game, agent)) {
            player.replace_with(decision);
        }
    }

    /// A player gave reasons for a contribution, in this source.
    pub(super) fn set_reasons(&mut self, turn: PlayerTurn, source: Source) {
        self.reasoned.insert(turn, source);
    }

    /// The source with the reasons for a contribution.
    pub(super) fn of_reasons(&self, turn: PlayerTurn) -> Option<&Source> {
        self.reasoned.get(&turn)
    }

    /// The sources of a player's next prompt.
    pub(super) fn sources(&self, game: u32, agent: u32) -> Vec<Source> {
        self.players.get(&(game, agent)).map_or_else(Vec::new, |player| player.sources().to_vec())
    }
}
