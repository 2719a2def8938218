//! What came out of a deposit, for people and programs.

use serde_json::json;

use super::ReplayedDeposit;
use super::again::{Replayed, RunAgain};
use crate::again::spell_commands;
use crate::error::CliError;
use crate::output::{Output, count_of};
use crate::select;
use crate::views::columns::{Column, align};
use retold_deposit::{ExpectedRow, RowComparison, RunPlace};

impl ReplayedDeposit {
    pub(super) fn print(&self, output: &Output) -> Result<(), CliError> {
        match output.is_json() {
            true => output.object(&json!({
                "deposit": self.folder, "simulated": self.is_simulated, "same": self.is_same(), "runs": self.runs, "figures": self.rows,
            })),
            false => output.text(&self.text()),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{}: every file is as it was deposited\n\n", self.folder);
        if self.is_simulated {
            text.push_str(&format!("{}\n", select::SIMULATED));
        }
        for of in &self.runs {
            text.push_str(&format!(
                "run {} ({}): {}\n",
                of.run.short(8),
                of.experiment,
                run_line(of)
            ));
        }
        const COLUMNS: [Column; 4] = [
            Column::text("figure"),
            Column::text("group"),
            Column::text("deposited"),
            Column::text("here"),
        ];
        let cells = self.rows.iter().map(|RowComparison { expected, different }| {
            let here = different
                .iter()
                .map(|of| format!("{} is {}, not {}", of.column, of.found, of.expected));
            let here: Vec<String> = here.collect();
            let here = if here.is_empty() { "the same".to_owned() } else { here.join("; ") };
            vec![expected.figure.clone(), expected.group.clone(), value(expected), here]
        });
        if !self.rows.is_empty() {
            text.push_str(&format!("\n{}", align(&COLUMNS, cells)));
        }
        let wrong = self.rows.iter().filter(|row| !row.different.is_empty()).count();
        let values = count_of(self.rows.len() as u64, "value");
        text.push_str(&match wrong {
            0 => format!("\nfigures computed again: {values}, no difference\n"),
            wrong => format!("\nfigures computed again: {values}, {wrong} different\n"),
        });
        text
    }
}

fn run_line(of: &RunAgain) -> String {
    let mut parts = vec![match of.added {
        0 => "was in the log already".to_owned(),
        added => format!("{} imported", count_of(added, "event")),
    }];
    match &of.replayed {
        Replayed::Identical => parts.push("replays identically".to_owned()),
        Replayed::Differs(how) => parts.push(format!("DIVERGES: {how}")),
        Replayed::Not(because) => parts.push(spell_commands(&format!("not replayed: {because}"))),
    }
    if of.place != RunPlace::Plan {
        parts.push(match (&of.not_parsed, of.parsed, of.changed) {
            (Some(why), ..) => format!("not parsed again: {why}"),
            (None, 0, _) => "no parser of this program decided".to_owned(),
            (None, parsed, 0) => {
                format!("{} made again, all as recorded", count_of(parsed, "decision"))
            }
            (None, parsed, changed) => {
                format!("{} made again, {changed} NOT AS RECORDED", count_of(parsed, "decision"))
            }
        });
    }
    parts.join("; ")
}

/// A value with its interval, with as many digits as people read.
fn value(row: &ExpectedRow) -> String {
    let number = |number: f64| format!("{number:.4}");
    let value = row.estimate.map_or_else(|| "none".to_owned(), number);
    match row.low.zip(row.high) {
        Some((low, high)) => format!("{value} [{}, {}]", number(low), number(high)),
        None => value,
    }
}
