//! What came out of a run, at the top of its page: figures, and a table of its calls or participants.

use std::collections::BTreeSet;

use retold::event::{Event, PARTICIPANTS};
use retold::id::Seq;
use retold::log::{EventFilter, RunHead};
use retold_study::table::Table;
use serde::Serialize;

use super::{PageReply, RunPageRequest, excerpt, participant_href};
use crate::decision_columns::plain;
use crate::error::PageError;
use crate::event_columns::EventColumns;
use crate::figures::FiguresView;
use crate::query::{Query, part};
use crate::question_columns::QuestionStatus;
use crate::runs::{RunInfo, run_info};
use crate::table::{
    Facet, FacetChoices, RunTable, TableColumn, TableOptions, TableRow, TableSource, facets, table,
};

/// Rows on one page.
const MOST: usize = 25;

/// The most rows of a file.
const MOST_IN_FILE: usize = 100_000;

/// The most runs that are offered for a comparison, and how many are looked at.
const MOST_OTHERS: usize = 4;
const LOOKED_AT: usize = 50;

/// The value of `by` for a table of calls, unless a label has this name.
const CALL: &str = "call";

/// The top of the page of a run.
#[derive(Serialize)]
pub(super) struct Outcome {
    #[serde(flatten)]
    pub(super) figures: FiguresView,
    pub(super) table: TableView,
    pub(super) facets: Vec<Facet>,
    /// Runs to compare it with.
    others: Vec<OtherRun>,
}

/// A run to compare another one with.
#[derive(Serialize)]
struct OtherRun {
    #[serde(flatten)]
    info: RunInfo,
    /// Whether the other one came from it.
    is_parent: bool,
    /// The address of the comparison.
    href: String,
}

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
    /// From which row on it is shown.
    from: usize,
    first: Option<String>,
    previous: Option<String>,
    next: Option<String>,
    /// The address of all rows as a file, and how many it has.
    csv: String,
    in_file: usize,
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
}

/// What a query asks of the table.
struct TableQuery {
    options: TableOptions,
    status: Option<QuestionStatus>,
}

impl TableQuery {
    fn new(query: &Query, roll: &EventColumns, most: usize) -> Result<Self, PageError> {
        let names: BTreeSet<&str> = roll.labels().map(|(name, ..)| name).collect();
        let usual = || PARTICIPANTS.iter().find(|name| names.contains(**name));
        let by = match query.text("by")? {
            Some(by) if by == CALL && !names.contains(CALL) => None,
            Some(by) => Some(by),
            None => usual().map(|name| (*name).to_owned()),
        };
        if let Some(by) = by.as_ref().filter(|by| !names.contains(by.as_str())) {
            // A run that is still being read may have it.
            let there: Vec<&str> = names.iter().copied().chain([CALL]).collect();
            if !names.is_empty() {
                return Err(PageError::BadRequest(format!(
                    "no call has a label {}: there is {}",
                    retold::escaping::printable(by, 60),
                    there.join(", ")
                )));
            }
        }
        let from = query.parsed::<usize>("skip")?.unwrap_or(0);
        let options = TableOptions { by, sort: query.text("sort")?, from, most };
        Ok(TableQuery { options, status: status(query)? })
    }
}

/// What has come of the calls that a query chooses.
pub(super) fn status(query: &Query) -> Result<Option<QuestionStatus>, PageError> {
    let Some(named) = query.text("status")? else { return Ok(None) };
    let found = QuestionStatus::ALL.into_iter().find(|status| status.name() == named);
    let wrong = || {
        PageError::BadRequest(format!(
            "status={} is not a status: there is {}",
            retold::escaping::printable(&named, 60),
            QuestionStatus::ALL.map(QuestionStatus::name).join(", ")
        ))
    };
    found.map(Some).ok_or_else(wrong)
}

impl RunPageRequest<'_> {
    /// The figures of the run, and whether they are complete.
    pub(super) fn figures(&self) -> (FiguresView, bool) {
        let is_over = self.info.outcome != "unfinished";
        self.asked.site.figures(&self.head, self.runs, is_over)
    }

    /// What came out of the run, and whether all of it is known; and the questions that the filter chooses.
    pub(super) fn outcome(
        &mut self,
        roll: &EventColumns,
        filter: &EventFilter,
        hits: Option<&BTreeSet<Seq>>,
    ) -> Result<(Outcome, bool), PageError> {
        let (figures, are_figured) = self.figures();
        let query = self.asked.query.clone();
        let asked = TableQuery::new(&query, roll, MOST)?;
        let (found, facets, are_joined) = self.table(roll, filter, hits, &asked)?;
        let table = self.view(roll, found, asked.options);
        let others = self.others();
        Ok((Outcome { figures, table, facets, others }, are_figured && are_joined))
    }

    /// The run that it came from, and the last runs of the same experiment.
    fn others(&mut self) -> Vec<OtherRun> {
        // A list that cannot be read is reported by the page of all runs.
        let mut heads = self.reader.runs().unwrap_or_default();
        let this = self.head.run;
        heads.retain(|head| head.run != this);
        let parent = self.info.from.clone();
        let is_parent = |head: &RunHead| parent.as_ref() == Some(&head.run.to_string());
        let last = heads.iter().rev().take(LOOKED_AT).filter(|head| !is_parent(head));
        let all: Vec<&RunHead> = heads.iter().filter(|head| is_parent(head)).chain(last).collect();
        let mut others = Vec::new();
        for head in all {
            let is_parent = is_parent(head);
            let info = run_info(self.reader.as_mut(), head);
            if is_parent || info.experiment == self.info.experiment && info.outcome != "damaged" {
                // The difference is from the earlier one to this one.
                let href = format!("/compare?a={}&b={this}", info.run);
                others.push(OtherRun { info, is_parent, href });
            }
            if others.len() == MOST_OTHERS {
                break;
            }
        }
        others
    }

    fn table(
        &mut self,
        roll: &EventColumns,
        filter: &EventFilter,
        hits: Option<&BTreeSet<Seq>>,
        asked: &TableQuery,
    ) -> Result<(RunTable, Vec<Facet>, bool), PageError> {
        let site = self.asked.site.clone();
        let (accepted, are_joined) = site.accepted_decisions(&self.head, self.runs, roll);
        let decisions = accepted.as_deref().unwrap_or(&roll.questions.decisions);
        let source = TableSource::new(roll, decisions, &site.prices);
        let choices = FacetChoices { filter, status: asked.status, hits };
        let (questions, facets) = facets(&source, choices);
        let mut read = |seq: Seq| {
            let stored = self.event(seq)?;
            Ok::<_, PageError>(match stored.event() {
                Ok(Event::DecisionMade(made)) if !made.details.value.is_null() => {
                    excerpt(&plain(&made.details.value), 160)
                }
                _ => String::new(),
            })
        };
        Ok((table(&source, questions, &asked.options, &mut read)?, facets, are_joined))
    }

    fn view(&self, roll: &EventColumns, found: RunTable, options: TableOptions) -> TableView {
        let query = &self.asked.query;
        let TableOptions { by, sort, from, most } = options;
        let RunTable { columns, rows, all, questions } = found;
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
            let query = query.with(&[("sort", Some(&other)), ("skip", None)]);
            ColumnView { column, query, sorted }
        });
        let columns = columns.collect();
        let rows = rows.into_iter().map(|row| {
            let href = match &row.value {
                Some(value) => participant_href(&self.info.run, by.as_deref(), value),
                None => self.href(&format!("/exchange/{}", row.seq)),
            };
            RowView { row, href }
        });
        let names: BTreeSet<&str> = roll.labels().map(|(name, ..)| name).collect();
        let names = names.into_iter().map(|name| (name, by.as_deref() == Some(name)));
        let choices = names.chain([(CALL, by.is_none())]).map(|(name, chosen)| RowsChoice {
            name: name.to_owned(),
            chosen,
            query: query.with(&[("by", Some(name)), ("sort", None), ("skip", None)]),
        });
        let choices: Vec<RowsChoice> = choices.collect();
        let to = |at: usize| query.with(&[("skip", Some(&at.to_string()))]);
        TableView {
            choices,
            columns,
            rows: rows.collect(),
            all,
            calls: questions,
            from,
            first: (from > 0).then(|| query.with(&[("skip", None)])),
            previous: (from > 0).then(|| to(from.saturating_sub(most))),
            next: (from + most < all).then(|| to(from + most)),
            csv: self
                .href(&format!("/table.csv{}", query.with(&[("skip", None), ("format", None)]))),
            in_file: all.min(MOST_IN_FILE),
            by,
        }
    }
}

/// The rows of the table as a file: those of all pages, in the order in which they are shown.
pub(super) fn csv(mut of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = of.asked.query.clone();
    let filter = super::timeline::filter(&query)?;
    let hits = of.hits(&query)?;
    let slot = of.asked.site.roll(&of.head);
    let roll = slot.roll();
    let asked = TableQuery::new(&query, &roll, MOST_IN_FILE)?;
    let (found, _, are_joined) = of.table(&roll, &filter, hits.found.as_deref(), &asked)?;
    if !slot.is_read(&of.head) || !are_joined || hits.indexed.is_some() {
        return Err(PageError::NotFound(
            "the run is still being read: load the page of the run until it is complete".to_owned(),
        ));
    }
    let headings: Vec<&str> = found.columns.iter().map(|column| &*column.heading).collect();
    let mut table = Table::new("table", &headings);
    for row in &found.rows {
        table.row(row.cells.iter().map(crate::table::TableCell::plain));
    }
    let bytes = table.csv().bytes().map_err(|error| PageError::NotFound(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let name = format!("table-{}.csv", part(&of.info.short));
    Ok(PageReply::Text { name, text })
}
