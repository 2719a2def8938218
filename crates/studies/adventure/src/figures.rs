//! The figures that a run leads with, and their rows.

use super::experiment::Adventure;
use super::facts::GameEnding;
use super::state::Games;
use retold::run::fold_facts;
use retold_figures::FigureRow;
use retold_study::error::BoxError;
use serde_json::Value;

/// How many games were told to their end; and of their turns, the share with a decision point, with a fight, and without
/// anything offered, and how many answers could not be used. The turns of a game follow from each other, so that a game is a
/// cluster.
pub(crate) const HEADLINE: &[&str] = &[
    "share of told_to_the_end = true",
    "share of decision_point = true",
    "share of fight = true",
    "share of nothing_offered = true",
    "mean of unusable_answers",
];

/// A row for each game that has ended, and one for each turn.
pub(crate) fn rows(facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
    let games: Games = fold_facts::<Adventure>(facts)?;
    let mut rows = Vec::new();
    for (number, game) in &games.games {
        rows.extend(game.ending.as_ref().map(|ending| {
            let told = *ending == GameEnding::Told;
            FigureRow::new("game", [("game", (*number).into()), ("told_to_the_end", told.into())])
        }));
        rows.extend(game.journal.iter().map(|entry| {
            let fields = [
                ("game", (*number).into()),
                ("turn", entry.turn.into()),
                ("decision_point", entry.offer.decision.is_some().into()),
                ("fight", entry.opponent.is_some().into()),
                ("nothing_offered", entry.offer.default.into()),
                ("unusable_answers", entry.unusable.into()),
            ];
            FigureRow::new("turn", fields)
        }));
    }
    Ok(rows)
}
