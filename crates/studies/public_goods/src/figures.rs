//! The figures that the report leads with.

use std::collections::BTreeMap;

use super::config::Config;
use super::experiment::PublicGoods;
use super::report::rounds_shown;
use super::rules::GameRules;
use super::state::PlayedGames;
use retold::run::fold_facts;
use retold_figures::{Draws, Figure, FigureKind};
use retold_study::error::BoxError;
use serde_json::Value;

/// The kind of cluster.
const UNIT: &str = "games: the players of a game react to each other";

/// The share of the endowment that was contributed in each round, and the mean contribution of each
/// model. The players of a game react to each other, so each game is a cluster.
pub(crate) fn figures(config: &Config, facts: &[Value]) -> Result<Vec<Figure>, BoxError> {
    let state: PlayedGames = fold_facts::<PublicGoods>(facts)?;
    let endowment = GameRules::new(config).endowment as f64;
    let mut figures = Vec::new();
    for (at, number) in rounds_shown(&GameRules::new(config), &state).into_iter().enumerate() {
        let mut draws = Vec::new();
        for game in &state.games {
            let contributions = game.round(number).into_iter().flat_map(|r| &r.contributions);
            draws.extend(contributions.map(|c| Draws {
                lane: format!("game{}/agent_{}", game.number, c.agent),
                cluster: format!("game{}", game.number),
                sum: c.coins as f64 / endowment,
                count: 1,
            }));
        }
        figures.push(Figure {
            name: format!("contributed in round {number}"),
            pointer: Some(format!("/rounds/{at}/contributed")),
            kind: FigureKind::Proportion,
            unit: UNIT,
            draws,
        });
    }
    let mut models: BTreeMap<&str, Vec<Draws>> = BTreeMap::new();
    for game in &state.games {
        for seat in &game.players {
            let coins: Vec<f64> = game
                .rounds
                .iter()
                .filter_map(|round| round.contribution(seat.agent))
                .map(|c| c.coins as f64)
                .collect();
            models.entry(&seat.llm_model).or_default().push(Draws {
                lane: format!("game{}/agent_{}", game.number, seat.agent),
                cluster: format!("game{}", game.number),
                sum: coins.iter().sum(),
                count: u32::try_from(coins.len())?,
            });
        }
    }
    figures.extend(models.into_iter().filter(|(_, draws)| draws.iter().any(|d| d.count > 0)).map(
        |(model, draws)| Figure {
            name: format!("mean contribution of {model}"),
            pointer: Some(format!("/models/{}", model.replace('~', "~0").replace('/', "~1"))),
            kind: FigureKind::Mean,
            unit: UNIT,
            draws,
        },
    ));
    Ok(figures)
}
