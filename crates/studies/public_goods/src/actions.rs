//! What players did, as numbers, and their means.

use std::collections::BTreeMap;

use super::facts::PlayerTurn;
use super::stage::Stage;
use super::state::{Game, PlayedGames, Round};

/// A player's action at a stage.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlayerAction<'a> {
    pub(super) turn: PlayerTurn,
    pub(super) stage: Stage,
    /// The model that played.
    pub(super) llm_model: &'a str,
    /// Coins contributed, or units given in total.
    pub(super) amount: i64,
}

/// The mean of some actions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    pub(super) count: u32,
    pub(super) amount: f64,
}

/// A player's action at a stage of a round; `None` for messages, and if nothing was decided.
pub(super) fn action(round: &Round, stage: Stage, agent: u32) -> Option<i64> {
    match stage {
        Stage::Contribution | Stage::Decision => Some(round.contribution(agent)?.coins),
        Stage::Redistribution => {
            let own = round.redistributions.iter().find(|r| r.agent == agent)?;
            Some(own.units.iter().map(|units| units.actual).sum())
        }
        Stage::Chat | Stage::Embedding => None,
    }
}

/// The means of all actions by kind, where `kind` determines the kind of an action. Every action
/// counts, whether or not its answer has a reasoning.
pub(super) fn means<'a, K: Ord>(
    state: &'a PlayedGames,
    kind: impl Fn(&PlayerAction<'a>) -> K,
) -> BTreeMap<K, Mean> {
    let mut sums: BTreeMap<K, (u32, i64)> = BTreeMap::new();
    let rounds = state.games.iter().flat_map(|game| game.rounds.iter().map(move |r| (game, r)));
    for action in rounds.flat_map(|(game, round)| actions(game, round)) {
        let (count, sum) = sums.entry(kind(&action)).or_default();
        *count += 1;
        *sum += action.amount;
    }
    let mean = |(count, sum)| Mean { count, amount: sum as f64 / f64::from(count) };
    sums.into_iter().map(|(kind, sum)| (kind, mean(sum))).collect()
}

fn actions<'a>(game: &'a Game, round: &'a Round) -> impl Iterator<Item = PlayerAction<'a>> {
    let stages = [Stage::Contribution, Stage::Redistribution];
    game.players.iter().flat_map(move |seat| {
        stages.into_iter().filter_map(move |stage| {
            Some(PlayerAction {
                turn: PlayerTurn { game: game.number, round: round.number, agent: seat.agent },
                stage,
                llm_model: &seat.llm_model,
                amount: action(round, stage, seat.agent)?,
            })
        })
    })
}
