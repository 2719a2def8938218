//! The figure that a run leads with, and its rows.

use super::experiment::Game24;
use super::state::Tally;
use retold::run::fold_facts;
use retold_figures::FigureRow;
use retold_study::error::BoxError;
use serde_json::Value;

/// The share of correct answers. The samples of one puzzle are a cluster: some puzzles are harder than others.
pub(crate) const HEADLINE: &[&str] = &["share of solved = true"];

/// A row for each answer.
pub(crate) fn rows(facts: &[Value]) -> Result<Vec<FigureRow>, BoxError> {
    let tally: Tally = fold_facts::<Game24>(facts)?;
    let of_puzzle = |(row, puzzle): (&u64, &super::state::PuzzleTally)| {
        let of = |solved: bool, answers: u32| {
            let fields = [("puzzle", (*row).into()), ("solved", solved.into())];
            FigureRow::new("answer", fields).times(answers)
        };
        [of(true, puzzle.solved), of(false, puzzle.answers.saturating_sub(puzzle.solved))]
    };
    Ok(tally.puzzles.iter().flat_map(of_puzzle).collect())
}
