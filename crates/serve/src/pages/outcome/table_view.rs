//! The table of a run, as its page shows it and as a file.

use std::collections::{BTreeMap, BTreeSet};

use retold::id::Seq;
use retold::log::EventFilter;
use retold::run::clock;
use serde::Serialize;

use super::super::csv_file::CsvFile;
use super::super::{PageReply, RunPageRequest, participant_href, timeline};
use super::OutcomeJobs;
use super::call_words::CallWords;
use super::table_query::{CALL, TableQuery};
use crate::error::PageError;
use crate::event_columns::EventColumns;
use crate::query::Query;
use crate::table::{
    Facet, FacetChoices, RunTable, TableCell, TableColumn, TableOptions, TableRow, TableSource,
    TimeWindow, facets, table,
};

/// The most rows of a file.
pub(in crate::pages) const MOST_IN_FILE: usize = 100_000;

/// A part of the table.
#[derive(Serialize)]
pub(super) struct TableView {
    /// The label that rows are the values of; `None` if they are calls.
    by: Option<String>,
    /// What else rows can be.
    choices: Vec<RowsChoice>,
    columns: Vec<ColumnView>,
    rows: Vec<RowView>,
    /// How many rows there are in all, and of how many calls.
    all: usize,
    calls: usize,
    /// How many of the calls are in no row, because they lack the label.
    without: usize,
    /// From which row on it is shown.
    from: usize,
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    /// The time axis; `None` without rows.
    axis: Option<TimeAxis>,
    /// The address of all rows as a file, and how many it has.
    csv: String,
    in_file: usize,
}

/// The time axis of the rows that are shown, and how to look at another part of it.
#[derive(Serialize)]
struct TimeAxis {
    window: TimeWindow,
    /// Milliseconds from the first event of the run.
    ticks: [i64; 5],
    closer: Option<String>,
    wider: Option<String>,
    earlier: Option<String>,
    later: Option<String>,
    whole: Option<String>,
}

impl TimeAxis {
    fn new(query: &Query, [window, whole]: [TimeWindow; 2]) -> Self {
        let to = |window: Option<TimeWindow>| {
            window.map(|window| query.with(&[("window", Some(&window.query()))]))
        };
        TimeAxis {
            window,
            ticks: window.ticks(),
            closer: to(window.closer()),
            wider: to(window.wider(whole)),
            earlier: to(window.shift(false, whole)),
            later: to(window.shift(true, whole)),
            whole: (window != whole).then(|| query.with(&[("window", None)])),
        }
    }
}

#[derive(Serialize)]
struct RowsChoice {
    name: String,
    chosen: bool,
    query: String,
}

#[derive(Serialize)]
struct ColumnView {
    #[serde(flatten)]
    column: TableColumn,
    /// The query that sorts by it, or the other way round.
    query: String,
    /// `ascending` or `descending`, if rows are sorted by it.
    sorted: Option<&'static str>,
}

#[derive(Serialize)]
struct RowView {
    #[serde(flatten)]
    row: TableRow,
    /// Its page.
    href: String,
    /// What it asked and got, if its name does not say it.
    words: Option<CallWords>,
}

impl RunPageRequest<'_> {
    /// The part of the table that a query asks for, and its facets.
    pub(super) fn table(
        &mut self,
        roll: &EventColumns,
        filter: &EventFilter,
        hits: Option<&BTreeSet<Seq>>,
        asked: &TableQuery,
        jobs: &OutcomeJobs,
    ) -> Result<(RunTable, Vec<Facet>), PageError> {
        let decisions = jobs.accepted.as_deref().unwrap_or(&roll.questions.decisions);
        let source = TableSource::new(roll, decisions);
        let choices = FacetChoices { filter, status: asked.status, end: jobs.untrusted, hits };
        let (questions, facets) = facets(&source, choices);
        // A question that has no answer yet is in flight until now.
        let now = (self.info.outcome == "running").then(clock::now);
        let mut read = |seq: Seq| self.decision_value(seq);
        Ok((table(&source, questions, &asked.options, now, &mut read)?, facets))
    }

    pub(super) fn table_view(
        &self,
        roll: &EventColumns,
        found: RunTable,
        mut words: BTreeMap<u64, CallWords>,
        options: TableOptions,
    ) -> TableView {
        let query = &self.asked.query;
        let TableOptions { by, sort, from, most, .. } = options;
        let RunTable { columns, rows, all, questions, without, windows } = found;
        let sort = sort.as_deref().unwrap_or("");
        let columns = columns.into_iter().map(|column| {
            let (is_up, is_down) =
                (sort == column.key, sort.strip_prefix('-') == Some(&column.key));
            let other = if is_up { format!("-{}", column.key) } else { column.key.clone() };
            let sorted = match (is_up, is_down) {
                (true, _) => Some("ascending"),
                (_, true) => Some("descending"),
                _ => None,
            };
            let query = query.with(&[("sort", Some(&other)), ("skip", None), ("window", None)]);
            ColumnView { column, query, sorted }
        });
        let columns = columns.collect();
        let rows = rows.into_iter().map(|row| {
            let href = match &row.value {
                Some(value) => participant_href(&self.info.run, by.as_deref(), value),
                None => self.href(&format!("/exchange/{}", row.seq)),
            };
            let words = words.remove(&row.seq);
            RowView { row, href, words }
        });
        let names: BTreeSet<&str> = roll.labels().map(|(name, ..)| name).collect();
        let names = names.into_iter().map(|name| (name, by.as_deref() == Some(name)));
        let choices = names.chain([(CALL, by.is_none())]).map(|(name, chosen)| RowsChoice {
            name: name.to_owned(),
            chosen,
            query: query.with(&[
                ("by", Some(name)),
                ("sort", None),
                ("skip", None),
                ("window", None),
            ]),
        });
        let choices: Vec<RowsChoice> = choices.collect();
        let to = |at: usize| query.with(&[("skip", Some(&at.to_string())), ("window", None)]);
        TableView {
            axis: windows.map(|windows| TimeAxis::new(query, windows)),
            choices,
            columns,
            rows: rows.collect(),
            all,
            calls: questions,
            without,
            from,
            first: (from > 0).then(|| query.with(&[("skip", None)])),
            previous: (from > 0).then(|| to(from.saturating_sub(most))),
            next: (from + most < all).then(|| to(from + most)),
            csv: self.href(&format!(
                "/table.csv{}",
                query.with(&[("skip", None), ("window", None), ("format", None)])
            )),
            in_file: all.min(MOST_IN_FILE),
            by,
        }
    }
}

/// The rows of the table as a file: those of all pages, in the order in which they are shown.
pub(crate) fn csv(mut of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    of.trusted_for_a_file("the page of its run")?;
    let query = of.asked.query.clone();
    let filter = timeline::filter(&query)?;
    let hits = of.hits(&query)?;
    let jobs = of.outcome_jobs();
    let slot = of.asked.site.roll(&of.head);
    let is_read = slot.is_read(&of.head);
    let roll = slot.roll();
    let asked = TableQuery::new(&query, &roll, MOST_IN_FILE)?;
    let (found, _) = of.table(&roll, &filter, hits.found.as_deref(), &asked, &jobs)?;
    if !is_read || !jobs.is_complete || hits.indexed.is_some() {
        return Err(PageError::StillRead);
    }
    let headings = found.columns.iter().map(|column| &*column.heading);
    let mut table = CsvFile::new("table", headings);
    for row in &found.rows {
        let cells: Vec<String> = row.cells.iter().map(TableCell::plain).collect();
        table.row(cells.iter().map(String::as_str));
    }
    of.file(table)
}
