//! Runs as one self-contained page: the experiment, its figures with intervals, plots with their numbers as CSV,
//! and the methods by which decisions were found.
//!
//! The page needs no network, and no script unless it has texts that can be searched, and can be printed. All text of models and files is
//! escaped, and control characters are shown as such.
//!
//! - [`RunSummary`]: the summary of any run.
//! - [`charts`]: the plots of a run whose experiment is not at hand.
//! - [`figure_svg`]: a figure as a picture, wherever it is shown; [`figure_file`]: the same as a file.
//! - [`agreement_svg`], [`agreement_file`]: how far raters agree, as a matrix for each two.
//! - [`ReportTexts`]: the prompts and answers, to be put beside a paper.
//! - [`ReportPage`]: the page of one run, or of several side by side.

mod about;
mod agreement_picture;
mod calls;
mod decisions;
mod draw_error;
mod figure_picture;
mod figure_table;
mod foreign;
mod html;
mod page;
mod plot;
mod plotted;
mod runs_table;
mod summary;
mod texts;
mod time_span;

use retold::decided::DeciderDifference;
use retold_figures::FigureTable;
use retold_figures::agreement::PairedRaters;
use retold_plan::FigureSearch;
use retold_study::charts::Chart;

pub use agreement_picture::{agreement_file, agreement_svg};
pub use figure_picture::{figure_file, figure_svg};
pub use foreign::charts;
pub use plot::PictureSize;
pub use summary::{Methods, RunSummary, methods};
pub use texts::ReportTexts;

/// The most groups of a table or a plot; a note below it says that others are left out.
pub(crate) const MOST_GROUPS: usize = 30;

/// The most runs on a page.
pub const MOST_RUNS: usize = MOST_GROUPS;

/// The parts of a report about one run.
#[derive(Debug, Clone)]
pub struct RunPart {
    /// The run.
    pub summary: RunSummary,
    /// Its plots.
    pub charts: Vec<Chart>,
    /// The study's own report.
    pub text: String,
    /// How far those agree who decided about the same answers; `None` where nobody did.
    pub agreement: Option<PairedRaters>,
    /// Which decisions are in force, line by line; empty if none were accepted.
    pub in_force: String,
}

/// The medium on which a page is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A screen: much can be unfolded, and numbers can be saved.
    Screen,
    /// Paper: nothing can.
    Paper,
}

/// A page about one run, or about several of one experiment.
#[derive(Debug, Clone)]
pub struct ReportPage {
    /// The runs. The others are compared with the first.
    pub runs: Vec<RunPart>,
    /// The figures of the runs, which come first.
    pub tables: Vec<FigureTable>,
    /// What else there is to the figures of one run, in their order.
    pub searches: Vec<FigureSearch>,
    /// The names under which the runs have decisions of different parsers.
    pub deciders: Vec<DeciderDifference>,
    /// The prompts and answers of the runs, if they are part of the page.
    pub texts: Option<ReportTexts>,
}
