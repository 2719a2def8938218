//! Figures that a user names, of any runs.

use std::path::PathBuf;

use crate::error::{CliError, write_err};
use crate::global::Global;
use crate::select::{self, RunSelection};
use retold::log::CheckedReader;
use retold_figures::{
    DefinitionError, FigureDefinition, FigureRun, FigureTable, FiguresError, FiguresFile,
    SuggestedTables, census_of, figure_tables, suggested_tables,
};
use retold_study::config::{load, read_text};

/// Which figures of runs are shown.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FiguresArgs {
    /// A figure of decisions or facts, such as `share of vote = yes by condition`, `mean of
    /// contribution by round, condition clustered by game` or `changed(before.vote, after.vote)`;
    /// can be given several times.
    #[arg(long, value_name = "FIGURE")]
    figure: Vec<String>,
    /// Figures in a YAML file: `figures`, a list, and `clustered_by`, the label for those that do
    /// not say which values are independent.
    #[arg(long, value_name = "FILE")]
    figures: Option<PathBuf>,
}

impl FiguresArgs {
    /// The figures that are named.
    fn definitions(&self) -> Result<Vec<FigureDefinition>, CliError> {
        let unreadable = |error: DefinitionError| error.to_string();
        let hinted = |message| CliError::usage(message).hint(DefinitionError::HINT);
        let mut definitions = Vec::new();
        for figure in &self.figure {
            definitions.push(figure.parse().map_err(unreadable).map_err(hinted)?);
        }
        if let Some(path) = &self.figures {
            let file: FiguresFile = load(path, &read_text(path)?)?;
            let of_file = file.definitions().map_err(unreadable);
            let of_file = of_file.map_err(|error| hinted(format!("{}: {error}", path.display())));
            definitions.extend(of_file?);
        }
        Ok(definitions)
    }

    /// Whether none is named.
    pub(crate) fn is_empty(&self) -> bool {
        self.figure.is_empty() && self.figures.is_none()
    }

    /// The figures of runs, each read as far as it goes: those that are named, or else, of runs that no study made,
    /// what their decisions suggest.
    pub(crate) fn tables(
        &self,
        runs: &[RunSelection],
        global: &Global,
    ) -> Result<Vec<FigureTable>, CliError> {
        let named = self.definitions()?;
        let parsers = global.studies.parsers();
        let mut readers = Vec::new();
        let mut has_study = false;
        for selected in runs {
            let mut reader = selected.checked_reader()?;
            has_study |= select::run_start(&mut reader, selected.run)?.is_of_experiment();
            readers.push(reader);
        }
        if self.is_empty() && has_study {
            return Ok(Vec::new());
        }
        let of = |(selected, reader): (&RunSelection, _)| -> FigureRun<'_> {
            let reader: &mut CheckedReader = reader;
            FigureRun { name: selected.run.short(8), run: selected.run, reader }
        };
        let mut runs: Vec<FigureRun<'_>> = runs.iter().zip(&mut readers).map(of).collect();
        let tables = match self.is_empty() {
            true => suggested_tables(&mut runs, parsers).map(note_left_out),
            false => {
                let census = census_of(&mut runs, parsers)?;
                figure_tables(&mut runs, &census, &named, parsers)
            }
        };
        tables.map_err(|error| match error {
            FiguresError::Log(error) => error.into(),
            error => CliError::usage(error.to_string()).hint(DefinitionError::HINT),
        })
    }
}

/// The figures that decisions suggest. How many are left out is said beside the output.
fn note_left_out(suggested: SuggestedTables) -> Vec<FigureTable> {
    let SuggestedTables { tables, left_out } = suggested;
    if left_out > 0 {
        write_err(&format!(
            "note: {} of {} suggested figures are shown: name others with --figure\n",
            tables.len(),
            tables.len() + left_out
        ));
    }
    tables
}
