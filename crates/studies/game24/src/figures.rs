//! The figure that the report leads with.

use super::experiment::Game24;
use super::state::Tally;
use retold::run::fold_facts;
use retold_figures::{Draws, Figure, FigureKind};
use retold_study::error::BoxError;
use serde_json::Value;

/// The share of correct answers. The samples of one puzzle are a cluster: some puzzles are harder
/// than others.
pub(crate) fn figures(facts: &[Value]) -> Result<Vec<Figure>, BoxError> {
    let tally: Tally = fold_facts::<Game24>(facts)?;
    let draws = tally.puzzles.iter().map(|(row, puzzle)| Draws {
        lane: row.to_string(),
        cluster: row.to_string(),
        sum: f64::from(puzzle.solved),
        count: puzzle.answers,
    });
    Ok(vec![Figure {
        name: "solve rate".to_owned(),
        pointer: Some("/solve_rate".to_owned()),
        kind: FigureKind::Share,
        unit: "puzzles: some are harder than others",
        draws: draws.collect(),
    }])
}
