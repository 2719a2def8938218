//! Punishment or reward, all at once.

use std::sync::Arc;

use crate::ask::{PlayerQuestion, is_usable};
use crate::experiment::PublicGoods;
use crate::facts::{Fact, PlayerTurn};
use crate::origins::PlayerOrigins;
use crate::parse::{RedistributionParams, RedistributionParser, redistribution_parser};
use crate::rules::Units;
use crate::stage::Stage;
use crate::state::PlayedGames;
use retold::run::{Run, Stop};
use retold_study::at_once::at_once;

impl PublicGoods {
    /// Every player who contributed may punish or reward the others who did.
    pub(in super::super) async fn redistribute(
        &self,
        run: &mut Run<Self>,
        origins: &mut PlayerOrigins,
        round: u32,
    ) -> Result<(), Stop> {
        let asks = contributors(run.state(), round).into_iter().map(|(turn, coins)| {
            let parser = self.redistribution_parser(run.state(), turn, &coins);
            let request = self.redistribution_request(run.state(), turn);
            let (stage, because) = (Stage::Redistribution, origins.sources(turn.game, turn.agent));
            let question =
                |(request, parser)| PlayerQuestion { turn, stage, request, parser, because };
            request.and_then(|request| Ok((request, parser?))).map(question)
        });
        let asks = at_once(asks, |ask| &ask.request)?;
        let answers = self.ask(run, asks, is_usable).await?;
        for (turn, outcome) in &answers {
            if let Ok(got) = outcome {
                origins.add_decision(turn.game, turn.agent, &got.decision);
            }
        }
        for (turn, outcome) in answers {
            let got = match outcome {
                Ok(got) => got,
                Err(failed) => {
                    run.record(failed.fact(), &[])?;
                    continue;
                }
            };
            let coins = run.state().game(turn.game).and_then(|game| game.round(round));
            let coins = coins.map_or_else(Vec::new, |round| round.coins());
            let (units, was_scaled) = self.units(turn.agent, &coins, &got.value);
            let fact = Fact::Redistributed { turn, units, was_scaled, by: got.by };
            origins.record(run, fact, &[got.decision])?;
        }
        Ok(())
    }

    /// The parser of a player's answer. Version 1 knows how many targets there are, but not their
    /// names.
    fn redistribution_parser(
        &self,
        state: &PlayedGames,
        turn: PlayerTurn,
        coins: &[(u32, i64)],
    ) -> Result<Arc<RedistributionParser>, Stop> {
        let version = self.config.parser_version;
        let targets = coins.iter().map(|(agent, _)| *agent).filter(|agent| *agent != turn.agent);
        let mut names = Vec::new();
        if let Some(game) = state.game(turn.game).filter(|_| version > 1) {
            names.extend(targets.map(|agent| game.avatar(agent).to_owned()));
        }
        let params = RedistributionParams { targets: coins.len().saturating_sub(1), names };
        let parser = redistribution_parser(version, params);
        Ok(Arc::new(parser.map_err(|e| Stop::invalid("the parser of redistributions", e))?))
    }

    /// The targets of the numbers in an answer, and how much of them can be paid for.
    fn units(&self, actor: u32, coins: &[(u32, i64)], decided: &[i64]) -> (Vec<Units>, bool) {
        let all: Vec<i64> = coins.iter().map(|(_, coins)| *coins).collect();
        let own = coins.iter().find(|(agent, _)| *agent == actor).map_or(0, |(_, coins)| *coins);
        let budget = self.rules.before_redistribution(own, &all);
        let (affordable, was_scaled) = self.rules.affordable(decided, budget);
        let targets = coins.iter().map(|(agent, _)| *agent).filter(|agent| *agent != actor);
        let units = targets
            .zip(decided.iter().zip(affordable))
            .map(|(target, (decided, actual))| Units { actor, target, decided: *decided, actual });
        (units.collect(), was_scaled)
    }
}

/// The turns of those who contributed to a round, with all contributions in their game; none if
/// there is nobody else.
fn contributors(state: &PlayedGames, round: u32) -> Vec<(PlayerTurn, Vec<(u32, i64)>)> {
    let mut turns = Vec::new();
    for game in &state.games {
        let coins = game.round(round).map_or_else(Vec::new, |round| round.coins());
        if coins.len() < 2 {
            continue;
        }
        for (agent, _) in &coins {
            turns.push((PlayerTurn { game: game.number, round, agent: *agent }, coins.clone()));
        }
    }
    turns
}
