//! Figures that a user names, of any runs.

use std::path::PathBuf;

use crate::error::{CliError, write_err};
use crate::global::Global;
use crate::select::RunSelection;
use retold::decided::{self, DeciderDifference, RunDeciders};
use retold::log::CheckedReader;
use retold_figures::{
    DefinitionError, FigureDefinition, FigureRun, FigureTable, FiguresError, FiguresFile,
    LeadingTables, figure_tables, leading_tables,
};
use retold_study::config::{load, read_text};
use retold_study::figures::{RowsError, figure_run};

/// Which figures of runs are shown.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FiguresArgs {
    /// A figure of decisions or facts, such as `share of vote = yes by condition against control`,
    /// `mean of contribution by round clustered by game` or `changed(before.vote, after.vote)`; can
    /// be given several times.
    #[arg(long, value_name = "FIGURE")]
    figure: Vec<String>,
    /// Figures in a YAML file: `figures`, a list, `clustered_by`, the label for those that do not say
    /// which values are independent, and `against`, the baseline of those that name none.
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

    /// The figures of runs, each read as far as it goes: those that are named, or else those that the runs lead with.
    pub(crate) fn tables(
        &self,
        runs: &[RunSelection],
        global: &Global,
    ) -> Result<Vec<FigureTable>, CliError> {
        let named = self.definitions()?;
        let parsers = global.studies.parsers();
        let readers = runs.iter().map(RunSelection::checked_reader);
        let mut readers = readers.collect::<Result<Vec<CheckedReader>, CliError>>()?;
        let mut of: Vec<FigureRun<'_>> = Vec::new();
        for (selected, reader) in runs.iter().zip(&mut readers) {
            let read = figure_run(global.studies, selected.run.short(8), selected.run, reader);
            of.push(read.map_err(rows_error)?);
        }
        let tables = match self.is_empty() {
            true => leading_tables(&mut of, parsers).map(note_left_out),
            false => figure_tables(&mut of, &named, parsers),
        };
        tables.map_err(figures_error)
    }
}

/// The names under which several runs have decisions of different parsers: their figures show how parsers differ, too.
pub(crate) fn decider_differences(
    runs: &[RunSelection],
) -> Result<Vec<DeciderDifference>, CliError> {
    if runs.len() < 2 {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for RunSelection { log, run } in runs {
        all.push(RunDeciders::read(&mut log.checked_reader()?, *run)?);
    }
    Ok(decided::decider_differences(&all))
}

/// The figures that runs lead with.
pub(crate) fn leading(
    runs: &[RunSelection],
    global: &Global,
) -> Result<Vec<FigureTable>, CliError> {
    FiguresArgs::default().tables(runs, global)
}

/// Why there are no figures.
pub(crate) fn figures_error(error: FiguresError) -> CliError {
    match error {
        FiguresError::Log(error) => error.into(),
        error => CliError::usage(error.to_string()).hint(DefinitionError::HINT),
    }
}

/// Why a study has no rows of a run.
pub(crate) fn rows_error(error: RowsError) -> CliError {
    match error {
        RowsError::Log(error) => error.into(),
        error => CliError::usage(error.to_string()),
    }
}

/// The figures that runs lead with. How many suggested ones are left out is said beside the output.
fn note_left_out(leading: LeadingTables) -> Vec<FigureTable> {
    let LeadingTables { tables, left_out } = leading;
    if left_out > 0 {
        write_err(&format!(
            "note: {} of {} suggested figures are shown: `retold stats RUN.. --figure FIGURE` shows others\n",
            tables.len(),
            tables.len() + left_out
        ));
    }
    tables
}
