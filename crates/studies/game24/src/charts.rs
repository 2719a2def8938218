//! The plots of a report.

use super::experiment::Game24;
use super::state::Tally;
use retold::run::fold_facts;
use retold_figures::clopper_pearson;
use retold_study::charts::{Chart, ChartAxis, ChartData, EstimateRow};
use retold_study::error::BoxError;
use serde_json::Value;

/// The solve rate by puzzle; the methods that found the answers, and the verdicts.
pub(crate) fn charts(facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
    let tally: Tally = fold_facts::<Game24>(facts)?;
    // The samples of one puzzle are independent draws.
    let rows = tally.puzzles.values().map(|puzzle| {
        let (solved, answers) = (f64::from(puzzle.solved), f64::from(puzzle.answers));
        EstimateRow {
            name: puzzle.puzzle.clone(),
            value: (answers > 0.0).then(|| solved / answers),
            interval: clopper_pearson(solved, answers).map(|i| (i.low, i.high)),
            dots: Vec::new(),
            draws: u64::from(puzzle.answers),
        }
    });
    let bars = |counts: &std::collections::BTreeMap<String, u64>| {
        counts.iter().map(|(name, n)| (name.clone(), *n as f64)).collect()
    };
    let axis = || "answers".to_owned();
    Ok(vec![
        Chart {
            name: "solve_rate_by_puzzle".to_owned(),
            title: "Solve rate by puzzle, with 95 % intervals".to_owned(),
            data: ChartData::Estimates {
                axis: ChartAxis::share("answers that solve the puzzle"),
                rows: rows.collect(),
            },
        },
        Chart {
            name: "answers_by_method".to_owned(),
            title: "Answers by the method that found them".to_owned(),
            data: ChartData::Bars { axis: axis(), bars: bars(&tally.methods) },
        },
        Chart {
            name: "answers_by_verdict".to_owned(),
            title: "Answers by verdict".to_owned(),
            data: ChartData::Bars { axis: axis(), bars: bars(&tally.verdicts) },
        },
    ])
}
