//! Figures that a user names, of any runs.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::select::RunSelection;
use retold::decided::{self, DeciderDifference, RunDeciders};
use retold::id::RunId;
use retold::log::CheckedReader;
use retold::parse::Parsers;
use retold_figures::{
    DefinitionError, FigureDefinition, FigureDraws, FigureRun, FigureTable, FiguresError,
    FiguresFile, LeadingTables, figure_draws, figure_tables, leading_tables,
};
use retold_plan::{FigureSearch, RunSearch, SearchError, planned_figures};
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

    /// The figures of runs, each read as far as it goes: those that are named, or else those of the plan by which the runs were
    /// recorded, or else those that the runs lead with.
    pub(crate) fn tables(
        &self,
        runs: &[RunSelection],
        global: &Global,
    ) -> Result<Vec<FigureTable>, CliError> {
        let named = self.definitions()?;
        let planned = if self.is_empty() { planned(runs)? } else { Vec::new() };
        if !planned.is_empty() {
            return planned_tables(runs, &planned, global);
        }
        match self.is_empty() {
            true => tables_with(runs, global, |of, parsers| {
                leading_tables(of, parsers).map(note_left_out)
            }),
            false => named_tables(runs, &named, global),
        }
    }
}

/// The figures of the plan by which runs were recorded; none if they have no plan in common.
pub(crate) fn planned(runs: &[RunSelection]) -> Result<Vec<FigureDefinition>, CliError> {
    let Some(first) = runs.first() else { return Ok(Vec::new()) };
    let ids: Vec<RunId> = runs.iter().map(|selected| selected.run).collect();
    // Runs in files of their own have no plan beside them.
    let is_one_log =
        runs.iter().all(|selected| Arc::ptr_eq(selected.log.backend(), first.log.backend()));
    match is_one_log {
        true => Ok(planned_figures(&mut first.checked_reader()?, &ids)?),
        false => Ok(Vec::new()),
    }
}

/// Planned figures. One whose values are not there yet, such as those of a judge, is named beside the output.
fn planned_tables(
    runs: &[RunSelection],
    planned: &[FigureDefinition],
    global: &Global,
) -> Result<Vec<FigureTable>, CliError> {
    let mut tables = Vec::new();
    for figure in planned {
        match named_tables(runs, std::slice::from_ref(figure), global) {
            Ok(found) => tables.extend(found),
            Err(error) if error.status == Status::Usage => {
                write_err(&format!(
                    "note: a planned figure has no values yet: {}\n",
                    error.message
                ));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(tables)
}

/// These figures of runs, each read as far as it goes.
pub(crate) fn named_tables(
    runs: &[RunSelection],
    figures: &[FigureDefinition],
    global: &Global,
) -> Result<Vec<FigureTable>, CliError> {
    tables_with(runs, global, |of, parsers| figure_tables(of, figures, parsers))
}

/// The draws behind figures of runs, by group.
pub(crate) fn draws_of(
    runs: &[RunSelection],
    tables: &[FigureTable],
    global: &Global,
) -> Result<Vec<FigureDraws>, CliError> {
    let figures = tables.iter().map(|table| table.figure.parse());
    let figures = figures.collect::<Result<Vec<FigureDefinition>, DefinitionError>>();
    let figures = figures.map_err(|error| CliError::usage(error.to_string()))?;
    tables_with(runs, global, |of, parsers| figure_draws(of, &figures, parsers))
}

fn tables_with<T>(
    runs: &[RunSelection],
    global: &Global,
    tables: impl FnOnce(&mut [FigureRun<'_>], &Parsers) -> Result<T, FiguresError>,
) -> Result<T, CliError> {
    let readers = runs.iter().map(RunSelection::checked_reader);
    let mut readers = readers.collect::<Result<Vec<CheckedReader>, CliError>>()?;
    let mut of: Vec<FigureRun<'_>> = Vec::new();
    for (selected, reader) in runs.iter().zip(&mut readers) {
        let read = figure_run(global.studies, selected.run.short(8), selected.run, reader);
        of.push(read.map_err(rows_error)?);
    }
    tables(&mut of, global.studies.parsers()).map_err(figures_error)
}

/// What else there is to the figures of one run; nothing of several, and nothing of one that belongs to no study.
pub(crate) fn searches(
    runs: &[RunSelection],
    tables: &[FigureTable],
    global: &Global,
) -> Result<Vec<FigureSearch>, CliError> {
    let [RunSelection { log, run }] = runs else { return Ok(Vec::new()) };
    let search = RunSearch::read(log, *run, global.studies).map_err(search_error)?;
    let Some(search) = search else { return Ok(Vec::new()) };
    tables.iter().map(|table| search.figure(table).map_err(search_error)).collect()
}

fn search_error(error: SearchError) -> CliError {
    match error {
        SearchError::Log(error) => error.into(),
        SearchError::Figures(error) => figures_error(error),
        error => CliError::usage(error.to_string()),
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
