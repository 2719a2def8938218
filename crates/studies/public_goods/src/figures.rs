//! The figures that a run leads with, and their rows.

use super::experiment::PublicGoods;
use super::state::PlayedGames;
use retold::run::fold_facts;
use retold_figures::FigureRow;
use retold_study::error::BoxError;
use serde_json::Value;

/// What was contributed in each round and by each model. The players of a game react to each other, so that a game is a
/// cluster.
pub(crate) const HEADLINE: &[&str] =
    &["mean of contribution by round against 1", "mean of contribution by model"];

/// A row for each contribution: the coins in the public fund, even where a player stated what to withdraw.
pub(crate) fn rows(facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
    let state: PlayedGames = fold_facts::<PublicGoods>(facts)?;
    let mut rows = Vec::new();
    for game in &state.games {
        for round in &game.rounds {
            for contribution in &round.contributions {
                let seat = game.players.iter().find(|seat| seat.agent == contribution.agent);
                let fields = [
                    ("game", game.number.into()),
                    ("round", round.number.into()),
                    ("agent", contribution.agent.into()),
                    ("model", seat.map(|seat| seat.llm_model.as_str()).into()),
                    ("contribution", contribution.coins.into()),
                ];
                rows.push(FigureRow::new("turn", fields));
            }
        }
    }
    Ok(rows)
}
