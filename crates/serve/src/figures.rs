//! What came out of recorded runs: their figures.

use retold::id::RunId;
use retold::log::Reader;
use retold::run::run_start;
use retold_figures::{
    ComparedFigure, Estimate, Figure, FigureRun, FigureTable, Pairing, compared_figures,
    narrow_intervals, suggested_tables,
};
use retold_study::headline::headline_figures;
use retold_study::studies::Studies;
use serde::Serialize;

use crate::job_error::JobError;

/// The figures of a run, the same as `retold stats` prints: the headline figures of a study, or for any other run those that
/// its decisions suggest.
#[derive(Debug, Default)]
pub(crate) struct RunFigures {
    pub(crate) headline: Vec<Estimate>,
    pub(crate) tables: Vec<FigureTable>,
}

/// The figures of a run, or why there are none.
pub(crate) fn run_figures(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<RunFigures, JobError> {
    if run_start(reader, run)?.is_of_experiment() {
        let headline = headline_figures(studies, reader, run)?;
        let headline = headline.iter().map(Figure::estimate).collect();
        return Ok(RunFigures { headline, tables: Vec::new() });
    }
    let mut runs = [FigureRun { name: run.short(8), run, reader }];
    let tables = suggested_tables(&mut runs, studies.parsers())?.tables;
    Ok(RunFigures { headline: Vec::new(), tables })
}

/// The figures that two runs suggest, which no study made, with the differences between the runs.
pub(crate) fn compared_tables(
    studies: &Studies,
    one: &mut dyn Reader,
    first: RunId,
    other: &mut dyn Reader,
    second: RunId,
) -> Result<Vec<FigureTableView>, JobError> {
    let of_study =
        run_start(one, first)?.is_of_experiment() || run_start(other, second)?.is_of_experiment();
    if of_study || first == second {
        return Ok(Vec::new());
    }
    let run = |run: RunId, reader| FigureRun { name: run.short(8), run, reader };
    let mut runs = [run(first, one), run(second, other)];
    let suggested = suggested_tables(&mut runs, studies.parsers())?;
    Ok(suggested.tables.into_iter().map(FigureTableView::new).collect())
}

/// The headline figures of two runs and their differences, or why there are none.
pub(crate) fn figures(
    studies: &Studies,
    one: &mut dyn Reader,
    first: RunId,
    other: &mut dyn Reader,
    second: RunId,
) -> Result<Vec<ComparedFigure>, JobError> {
    let (one_started, other_started) = (run_start(one, first)?, run_start(other, second)?);
    if one_started.experiment != other_started.experiment {
        return Err(JobError::DifferentExperiments);
    }
    let pairing = Pairing::of_seeds(one_started.seed, other_started.seed);
    let of = |reader, run| headline_figures(studies, reader, run);
    let found = compared_figures(&of(one, first)?, &of(other, second)?, pairing);
    if found.is_empty() { Err(JobError::NoFigures) } else { Ok(found) }
}

/// The figures of a run as a page shows them.
#[derive(Serialize, Default)]
pub(crate) struct FiguresView {
    headline: Vec<HeadlineView>,
    /// What to know about the intervals.
    interval_notes: Vec<&'static str>,
    figures: Vec<FigureTableView>,
    /// Why there are none; `None` while they are computed.
    no_figures: Option<String>,
    /// Up to which event they are computed, if that is not the last.
    figures_end: Option<u64>,
}

#[derive(Serialize)]
struct HeadlineView {
    #[serde(flatten)]
    figure: Estimate,
    shown: EstimateText,
}

/// A figure as people read it.
#[derive(Serialize)]
struct EstimateText {
    value: String,
    interval: String,
    sampling: String,
}

/// A table of a figure, with how people read it.
#[derive(Clone, Serialize)]
pub(crate) struct FigureTableView {
    #[serde(flatten)]
    table: FigureTable,
    shown: FigureTableText,
}

/// A table of a figure as people read it.
#[derive(Clone, Serialize)]
struct FigureTableText {
    title: String,
    banner: Option<&'static str>,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    differences: Vec<String>,
    notes: Vec<String>,
}

impl FiguresView {
    pub(crate) fn new(figures: &RunFigures, end: Option<u64>) -> Self {
        let RunFigures { headline, tables } = figures;
        let none = headline.is_empty() && tables.is_empty();
        FiguresView {
            headline: headline.iter().cloned().map(HeadlineView::new).collect(),
            interval_notes: narrow_intervals(headline),
            figures: tables.iter().cloned().map(FigureTableView::new).collect(),
            no_figures: none.then(|| {
                "No figure is suggested: a run needs decisions that are numbers or a few names."
                    .to_owned()
            }),
            figures_end: end,
        }
    }

    /// Why there are no figures.
    pub(crate) fn unavailable(why: &JobError) -> Self {
        FiguresView { no_figures: Some(why.to_string()), ..FiguresView::default() }
    }
}

impl HeadlineView {
    fn new(figure: Estimate) -> Self {
        let shown = EstimateText {
            value: figure.value_text(),
            interval: figure.interval_text(),
            sampling: figure.sampling_text(),
        };
        HeadlineView { figure, shown }
    }
}

impl FigureTableView {
    fn new(table: FigureTable) -> Self {
        let shown = FigureTableText {
            title: table.title(),
            banner: table.banner(),
            headings: table.headings(),
            rows: table.groups.iter().map(|group| table.cells(group)).collect(),
            differences: table.differences.iter().map(|found| table.difference(found)).collect(),
            notes: table.notes(),
        };
        FigureTableView { table, shown }
    }
}
