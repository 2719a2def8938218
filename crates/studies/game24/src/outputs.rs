//! Tables for other programs: `puzzles.csv`, and `answers.csv` with every sample of every puzzle.

use super::experiment::Game24;
use super::state::Tally;
use crate::parse::Game24Parser;
use retold::id::CallPath;
use retold::parse::Parser;
use retold::run::{OutputError, OutputFile, RunRecord};
use retold_study::table::Table;

impl Game24 {
    /// Both tables.
    pub(super) fn tables(
        &self,
        state: &Tally,
        record: &mut RunRecord<'_>,
    ) -> Result<Vec<OutputFile>, OutputError> {
        let answers = OutputFile::from(self.answers(record)?);
        Ok(vec![OutputFile::from(puzzles(state)), answers])
    }

    /// One row per sample: the answer, the parser's value and method, and the validator's verdict.
    /// A sample without an answer has empty cells.
    fn answers(&self, record: &mut RunRecord<'_>) -> Result<Table, OutputError> {
        let columns =
            ["row", "puzzle", "sample", "method", "candidate", "verdict", "answer", "call"];
        let mut table = Table::new("answers", &columns);
        for (place, puzzle) in self.settings.puzzles.iter().enumerate() {
            let settings = |source| OutputError::Settings { source };
            let parser = self.parser(puzzle).map_err(|stop| settings(stop.into()))?;
            let call = Game24::call(puzzle).map_err(|error| settings(error.into()))?;
            for sample in 0..self.settings.samples.at(place) {
                let [method, candidate, verdict, answer] =
                    self.cells(&call, sample, &parser, record)?;
                table.row([
                    puzzle.row.to_string(),
                    puzzle.text(),
                    sample.to_string(),
                    method,
                    candidate,
                    verdict,
                    answer,
                    call.to_string(),
                ]);
            }
        }
        Ok(table)
    }

    fn cells(
        &self,
        call: &CallPath,
        sample: u32,
        parser: &Game24Parser,
        record: &mut RunRecord<'_>,
    ) -> Result<[String; 4], OutputError> {
        // A sample without an answer has an empty cell.
        let answer = record.answer(call, sample)?;
        let answer = answer.map_or_else(String::new, |answer| answer.text().to_owned());
        let Some(decision) = record.decision(call, sample)? else {
            return Ok([String::new(), String::new(), String::new(), answer]);
        };
        let candidate = decision.details.value.as_str().unwrap_or("").to_owned();
        let verdict = parser.verdict(&candidate).unwrap_or("").to_owned();
        Ok([decision.by.method, candidate, verdict, answer])
    }
}

/// One row per puzzle.
fn puzzles(state: &Tally) -> Table {
    let mut table = Table::new("puzzles", &["row", "puzzle", "answers", "solved"]);
    for (row, puzzle) in &state.puzzles {
        table.row([
            row.to_string(),
            puzzle.puzzle.clone(),
            puzzle.answers.to_string(),
            puzzle.solved.to_string(),
        ]);
    }
    table
}
