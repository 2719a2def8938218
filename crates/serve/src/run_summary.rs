//! A run in a line, as the list of runs shows it.

use std::collections::BTreeMap;

use retold::id::{RunId, Seq};
use retold_figures::{FigureTable, PictureRow};
use serde::Serialize;

/// The most groups of a figure in a line.
const MOST_GROUPS: usize = 3;

/// The most models in a line, and the longest name of one, in characters.
pub(crate) const MOST_MODELS: usize = 2;
pub(crate) const LONGEST: usize = 40;

/// A run in a line.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunSummary {
    /// The name of its first figure, and the values of the figure's groups; `None` without a figure.
    pub(crate) figure: Option<[String; 2]>,
    /// Calls with an answer.
    pub(crate) answers: u64,
    /// The first models that answered.
    pub(crate) models: Vec<String>,
    pub(crate) more_models: usize,
    /// The cost at list prices, as far as it is known, and whether it is known of all answers.
    pub(crate) dollars: Option<f64>,
    pub(crate) is_whole_cost: bool,
}

/// A run as it is now: its last event that is read, and the number of runs in the log, since each may decide about its answers.
pub(crate) type SummaryKey = (RunId, Seq, usize);

/// The summaries that are known; `None` of a run that cannot be read.
#[derive(Default)]
pub(crate) struct Summaries {
    pub(crate) known: BTreeMap<SummaryKey, Option<RunSummary>>,
    pub(crate) is_running: bool,
}

/// The name of a figure, and the values of its first groups; `None` without any.
pub(crate) fn figure_line(table: &FigureTable) -> Option<[String; 2]> {
    let rows = table.picture()?.values.rows;
    let value = |row: &PictureRow| match rows.len() {
        1 => format!("{} {}", row.value_text, row.interval_text).trim().to_owned(),
        _ => format!("{} {}", row.name, row.value_text),
    };
    let mut values: Vec<String> = rows.iter().take(MOST_GROUPS).map(value).collect();
    if let Some(more) = rows.len().checked_sub(MOST_GROUPS).filter(|more| *more > 0) {
        values.push(format!("{more} more"));
    }
    // A number stays beside its sign.
    Some([table.title(), values.join(" · ").replace(" %", "\u{a0}%")])
}
