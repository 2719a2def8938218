//! What came out of recorded runs: their figures.

use retold::id::RunId;
use retold::log::Reader;
use retold_figures::{CountTable, FigureTable, leading_tables};
use retold_report::{PictureSize, figure_svg};
use retold_study::figures::figure_run;
use retold_study::studies::Studies;
use serde::Serialize;
use serde_json::Value;

use crate::job_error::JobError;

/// The figures that a run leads with, the same as `retold stats` prints.
pub(crate) fn run_figures(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Vec<FigureTable>, JobError> {
    let mut runs = [figure_run(studies, run.short(8), run, reader)?];
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
        }
    }

    /// How many values the figures of a run have that goes on, without the values.
    pub(crate) fn counts_so_far(figures: &[FigureTable], end: Option<u64>) -> Self {
        let counts =
            figures.iter().filter_map(|table| Some([table.title(), table.counts_so_far()?]));
        let counts_so_far = Some(counts.collect());
        FiguresView { counts_so_far, figures_end: end, ..FiguresView::default() }
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
        };
        FigureTableView { table, shown }
    }
}
