//! What came out of recorded runs: their figures.

use retold::id::RunId;
use retold::log::{Log, Reader};
use retold_figures::{CountTable, FigureTable, FiguresError, figure_tables, leading_tables};
use retold_plan::{BEYOND_THE_LOG, FigureSearch, RunSearch, SearchLine, planned_figures};
use retold_report::{PictureSize, figure_svg};
use retold_study::figures::figure_run;
use retold_study::studies::Studies;
use serde::Serialize;
use serde_json::Value;

use crate::job_error::JobError;

/// The figures that a run leads with, the same as `retold stats` prints: those of its plan, if it names one.
pub(crate) fn run_figures(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Vec<FigureTable>, JobError> {
    let planned = planned_figures(reader, &[run])?;
    let mut runs = [figure_run(studies, run.short(8), run, reader)?];
    if !planned.is_empty() {
        let mut tables = Vec::new();
        for figure in &planned {
            match figure_tables(&mut runs, std::slice::from_ref(figure), studies.parsers()) {
                Ok(found) => tables.extend(found),
                // What a judge decides may not be there yet.
                Err(FiguresError::Source(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        return Ok(tables);
    }
    Ok(leading_tables(&mut runs, studies.parsers())?.tables)
}

/// The figures that two runs lead with, and the differences between the runs.
pub(crate) fn compared_figures(
    studies: &Studies,
    one: &mut dyn Reader,
    first: RunId,
    other: &mut dyn Reader,
    second: RunId,
) -> Result<Vec<FigureTableView>, JobError> {
    let mut runs = [
        figure_run(studies, first.short(8), first, one)?,
        figure_run(studies, second.short(8), second, other)?,
    ];
    let leading = leading_tables(&mut runs, studies.parsers())?;
    Ok(leading.tables.into_iter().map(FigureTableView::new).collect())
}

/// Why there are no figures.
pub(crate) const NO_FIGURES: &str =
    "No figure is suggested: a run needs decisions that are numbers or a few names.";

/// What else there is to figures of a run; none of a run that belongs to no study.
pub(crate) fn searches(
    studies: &Studies,
    log: &Log,
    run: RunId,
    figures: &[FigureTable],
) -> Result<Vec<FigureSearch>, JobError> {
    match RunSearch::read(log, run, studies)? {
        Some(search) => Ok(figures
            .iter()
            .map(|table| search.figure(table))
            .collect::<Result<Vec<FigureSearch>, _>>()?),
        None => Ok(Vec::new()),
    }
}

/// The figures of a run as a page shows them.
#[derive(Serialize, Default)]
pub(crate) struct FiguresView {
    figures: Vec<FigureTableView>,
    /// Why there are none; `None` while they are computed.
    no_figures: Option<String>,
    /// Up to which event they are computed, if that is not the last.
    figures_end: Option<u64>,
    /// How many values each has, in place of the values: nobody has asked yet what has come out of a run that goes on.
    counts_so_far: Option<Vec<[String; 2]>>,
    /// What no log shows of how figures came about, or why it is not known.
    beyond: Option<String>,
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
    /// The figure as a line of the list of a `figures.yaml`.
    pin: String,
    /// As an SVG element; `None` without values, or if it cannot be drawn.
    picture: Option<String>,
    /// The same as wide as a telephone.
    narrow_picture: Option<String>,
    banner: Option<&'static str>,
    /// What looks wrong with it.
    finding: Option<String>,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    counts: Vec<CountTableText>,
    differences: Vec<String>,
    /// The same as a table.
    difference_headings: [&'static str; 5],
    difference_rows: Vec<[String; 5]>,
    notes: Vec<String>,
    /// What else there is to it.
    search: Vec<SearchLine>,
}

/// Counts behind a picture.
#[derive(Clone, Serialize)]
struct CountTableText {
    title: String,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl FiguresView {
    pub(crate) fn new(figures: &[FigureTable], end: Option<u64>) -> Self {
        FiguresView {
            figures: figures.iter().cloned().map(FigureTableView::new).collect(),
            no_figures: figures.is_empty().then(|| NO_FIGURES.to_owned()),
            figures_end: end,
            counts_so_far: None,
            beyond: None,
        }
    }

    /// How many values the figures of a run have that goes on, without the values.
    pub(crate) fn counts_so_far(figures: &[FigureTable], end: Option<u64>) -> Self {
        let counts =
            figures.iter().filter_map(|table| Some([table.title(), table.counts_so_far()?]));
        let counts_so_far = Some(counts.collect());
        FiguresView { counts_so_far, figures_end: end, ..FiguresView::default() }
    }

    /// The same with what else there is to each.
    pub(crate) fn with_searches(mut self, searches: &[FigureSearch]) -> Self {
        for (figure, search) in self.figures.iter_mut().zip(searches) {
            figure.shown.search = search.lines();
        }
        self.beyond = (!searches.is_empty()).then(|| BEYOND_THE_LOG.to_owned());
        self
    }

    /// The same with the reason why nothing else is known of them.
    pub(crate) fn without_searches(mut self, why: &JobError) -> Self {
        self.beyond = Some(format!("no plan and no other run was looked at: {why}"));
        self
    }

    /// Why there are no figures.
    pub(crate) fn unavailable(why: &JobError) -> Self {
        FiguresView { no_figures: Some(why.to_string()), ..FiguresView::default() }
    }
}

impl FigureTableView {
    fn new(table: FigureTable) -> Self {
        let shown = FigureTableText {
            title: table.title(),
            // A text of JSON is one of YAML.
            pin: format!("  - {}", Value::from(table.figure.as_str())),
            // A page without a picture still has the table.
            picture: figure_svg(&table, PictureSize::PAGE).ok().flatten(),
            narrow_picture: figure_svg(&table, PictureSize::NARROW).ok().flatten(),
            banner: table.banner(),
            finding: table.finding.as_ref().map(ToString::to_string),
            headings: table.headings(),
            rows: table.groups.iter().map(|group| table.cells(group)).collect(),
            counts: table
                .count_tables()
                .into_iter()
                .map(|CountTable { title, headings, rows }| CountTableText {
                    title,
                    headings,
                    rows,
                })
                .collect(),
            differences: table.differences.iter().map(|found| table.difference(found)).collect(),
            difference_headings: FigureTable::difference_headings(),
            difference_rows: table
                .differences
                .iter()
                .map(|it| table.difference_cells(it))
                .collect(),
            notes: table.notes(),
            search: Vec::new(),
        };
        FigureTableView { table, shown }
    }
}
