//! Figures of runs that are written down for the purpose.

mod advice;
mod chance;
mod graded;
mod grouped_values;
mod rows;
mod so_far;
mod spread;
mod written;

use std::fmt::Write;

use retold::log::{Append, Head, Log};
use serde_json::json;

use super::*;
use written::Written;

const RUNS: [RunId; 4] = [RunId([1; 8]), RunId([2; 8]), RunId([3; 8]), RunId([4; 8])];

fn figure_run(reader: &mut dyn Reader, run: RunId, rows: Vec<FigureRow>) -> FigureRun<'_> {
    FigureRun { name: run.short(2), run, reader, study: FigureStudy { rows, ..Default::default() } }
}

/// The figures of runs, or the error; the suggested ones if none are named.
fn tables(runs: Vec<Written>, figures: &[&str]) -> Result<Vec<FigureTable>, FiguresError> {
    let none = runs.iter().map(|_| Vec::new()).collect();
    tables_with(runs, none, figures)
}

/// The figures of runs, whose study has made these rows.
fn tables_with(
    runs: Vec<Written>,
    rows: Vec<Vec<FigureRow>>,
    figures: &[&str],
) -> Result<Vec<FigureTable>, FiguresError> {
    let (log, parsers) = (Log::in_memory(), Parsers::default());
    let names: Vec<RunId> = RUNS.into_iter().take(runs.len()).collect();
    for (run, written) in names.iter().zip(runs) {
        let append = Append::new(*run, Head::START, written.0);
        log.backend().committer().unwrap().commit(&[append]).unwrap();
    }
    let mut readers: Vec<_> = names.iter().map(|_| log.reader().unwrap()).collect();
    let mut of: Vec<FigureRun<'_>> = readers
        .iter_mut()
        .zip(names.iter().zip(rows))
        .map(|(reader, (run, rows))| figure_run(reader.as_mut(), *run, rows))
        .collect();
    if figures.is_empty() {
        return Ok(leading_tables(&mut of, &parsers)?.tables);
    }
    let definitions = figures.iter().map(|figure| figure.parse().unwrap());
    figure_tables(&mut of, &definitions.collect::<Vec<_>>(), &parsers)
}

/// Tables as people read them.
fn shown(tables: &[FigureTable]) -> String {
    let mut text = String::new();
    for table in tables {
        writeln!(text, "{}\n  {}", table.figure, table.headings().join(" | ")).unwrap();
        for group in &table.groups {
            writeln!(text, "  {}", table.cells(group).join(" | ")).unwrap();
        }
        for compared in &table.differences {
            writeln!(text, "  {}", table.difference(compared)).unwrap();
        }
        table.notes().iter().for_each(|note| writeln!(text, "  {note}").unwrap());
    }
    text
}

/// Votes of so many participants in two conditions, of whom these say yes.
fn votes(of: usize, yes: [usize; 2]) -> Written {
    let mut run = Written::program();
    for (condition, yes) in ["acp", "ctl"].into_iter().zip(yes) {
        for n in 0..of {
            let participant = format!("{condition}-{n}");
            let labels = [("condition", condition), ("participant", participant.as_str())];
            let vote = if n < yes { "yes" } else { "no" };
            run.decision(&format!("vote/{participant}"), &labels, "vote", json!(vote));
        }
    }
    run
}
