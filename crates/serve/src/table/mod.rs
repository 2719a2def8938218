//! A run as a table: its calls one by one, or what calls with the same label have in common, with facets to choose
//! from. Everything that decides which rows there are, and their order, is in memory; only values that are too long to
//! be kept are read from the log, for the rows that are shown.

mod cells;
mod columns;
mod facets;
mod lanes;
mod rows;
mod sorting;

use retold::id::{Seq, Time};
use serde::Serialize;

pub(crate) use cells::TableCell;
pub(crate) use columns::TableColumn;
pub(crate) use facets::{Facet, FacetChoices, facets};
pub(crate) use lanes::{LaneBar, TimeWindow};
use rows::RowMembers;

use crate::decision_columns::DecisionColumns;
use crate::event_columns::EventColumns;
use crate::question_columns::{QuestionRow, QuestionStatus};

/// The data that a table is made from.
pub(crate) struct TableSource<'a> {
    roll: &'a EventColumns,
    /// The decisions that are in force.
    decisions: &'a DecisionColumns,
}

impl<'a> TableSource<'a> {
    pub(crate) fn new(roll: &'a EventColumns, decisions: &'a DecisionColumns) -> Self {
        TableSource { roll, decisions }
    }

    /// The question at a place.
    fn question(&self, at: u32) -> Option<&'a QuestionRow> {
        self.roll.questions.rows().get(usize::try_from(at).ok()?)
    }
}

/// Which rows of a table are shown.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableOptions {
    /// The label that rows are the values of; `None` if they are calls.
    pub(crate) by: Option<String>,
    /// The key of the column that rows are sorted by, after `-` if the largest comes first.
    pub(crate) sort: Option<String>,
    /// How many rows are left out.
    pub(crate) from: usize,
    /// The most rows.
    pub(crate) most: usize,
    /// The part of the time axis that is shown; `None` if it is all that the rows take.
    pub(crate) window: Option<TimeWindow>,
}

/// A row.
#[derive(Debug, Serialize)]
pub(crate) struct TableRow {
    pub(crate) cells: Vec<TableCell>,
    /// The question of a call; the first question of several calls.
    pub(crate) seq: u64,
    /// The value of the label; `None` for a call.
    pub(crate) value: Option<String>,
    /// Whether it, or one of its calls, failed.
    pub(crate) failed: bool,
    /// When its calls were in flight.
    pub(crate) bars: Vec<LaneBar>,
}

/// A table.
#[derive(Debug)]
pub(crate) struct RunTable {
    pub(crate) columns: Vec<TableColumn>,
    pub(crate) rows: Vec<TableRow>,
    /// How many rows there are in all.
    pub(crate) all: usize,
    /// How many questions are asked for, and how many of them have no row, because they lack the label.
    pub(crate) questions: usize,
    pub(crate) without: usize,
    /// The part of the time axis that is shown, and all that the rows take; `None` without rows.
    pub(crate) windows: Option<[TimeWindow; 2]>,
}

/// The part of a table that is shown, of the questions at some places. `now` is the time, if the run is being recorded: calls
/// without an answer are still in flight. `read` reads values that are not in memory.
///
/// # Errors
/// Those of `read`.
pub(crate) fn table<E>(
    source: &TableSource<'_>,
    questions: Vec<u32>,
    options: &TableOptions,
    now: Option<Time>,
    read: &mut dyn FnMut(Seq) -> Result<String, E>,
) -> Result<RunTable, E> {
    let by = options.by.as_ref().and_then(|by| source.roll.text_number(by));
    let count = questions.len();
    let members = RowMembers::new(source, by, questions);
    let columns = columns::columns(source, by, &members);
    let order = sorting::order(source, &members, &columns, options);
    let (began, last) = source.roll.times().unwrap_or((Time(0), Time(0)));
    let times = (began, now.map_or(last, |now| now.max(last)));
    let shown = order.iter().flat_map(|at| members.row(*at).questions.iter().copied());
    let whole = lanes::span(source, shown, times.0, times.1);
    let windows = whole.map(|whole| [options.window.unwrap_or(whole), whole]);
    let mut rows = Vec::new();
    for at in order {
        let row = members.row(at);
        let mut cells = Vec::new();
        for column in &columns {
            cells.push(column.cell(source, row, read)?);
        }
        let mut questions = row.questions.iter().filter_map(|at| source.question(*at));
        let seq = questions.clone().next().map_or(0, |question| question.seq.into());
        let failed = questions.any(|question| question.status == QuestionStatus::Failed);
        let value = row.value.map(|value| source.roll.text(value).to_owned());
        let bars = windows
            .map_or_else(Vec::new, |[window, _]| lanes::bars(source, row.questions, window, times));
        rows.push(TableRow { cells, seq, value, failed, bars });
    }
    let without = count - members.questions();
    Ok(RunTable { columns, rows, all: members.len(), questions: count, without, windows })
}
