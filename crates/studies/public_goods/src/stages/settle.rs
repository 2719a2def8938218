//! Payoffs.

use crate::experiment::PublicGoods;
use crate::facts::Fact;
use crate::origins::PlayerOrigins;
use crate::rules::GameRules;
use crate::state::PlayedGames;
use retold::run::{Run, Stop};

impl PublicGoods {
    /// The earnings of all who contributed to the round.
    pub(in super::super) fn settle(
        &self,
        run: &mut Run<Self>,
        origins: &mut PlayerOrigins,
        round: u32,
    ) -> Result<(), Stop> {
        let facts = settlement_facts(&self.rules, run.state(), round);
        facts.into_iter().try_for_each(|fact| origins.record(run, fact, &[]).map(drop))
    }
}

/// One fact for each game in which somebody contributed to the round.
pub(crate) fn settlement_facts(rules: &GameRules, state: &PlayedGames, round: u32) -> Vec<Fact> {
    let mut facts = Vec::new();
    for game in &state.games {
        let Some(played) = game.round(round).filter(|r| !r.contributions.is_empty()) else {
            continue;
        };
        let coins = played.coins();
        let settlement = rules.settle(&coins, &played.units());
        let agents = coins.iter().map(|(agent, _)| *agent);
        facts.push(Fact::RoundSettled {
            game: game.number,
            round,
            public_fund: settlement.public_fund,
            payoffs: agents.zip(settlement.payoffs).collect(),
        });
    }
    facts
}
