//! What came out of a run, at the top of its page: figures, and a table of its calls or participants.

mod table_query;
mod table_view;

use std::collections::BTreeSet;

use retold::event::Event;
use retold::id::Seq;
use retold::log::{EventFilter, RunHead};
use serde::Serialize;

use super::{RunPageRequest, excerpt};
use crate::decision_columns::plain;
use crate::error::PageError;
use crate::event_columns::EventColumns;
use crate::figures::FiguresView;
use crate::runs::{RunInfo, run_info};
use crate::table::Facet;
use table_query::TableQuery;
use table_view::TableView;

pub(super) use table_query::status;
pub(super) use table_view::csv;

/// Rows on one page.
const MOST: usize = 25;

/// The most runs that are offered for a comparison, and how many are looked at.
const MOST_OTHERS: usize = 4;
const LOOKED_AT: usize = 50;

/// The top of the page of a run.
#[derive(Serialize)]
pub(super) struct Outcome {
    #[serde(flatten)]
    pub(super) figures: FiguresView,
    table: TableView,
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

impl RunPageRequest<'_> {
    /// The figures of the run, and whether they are complete.
    pub(super) fn figures(&self) -> (FiguresView, bool) {
        self.asked.site.figures(&self.head, self.runs, !self.info.can_grow())
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
        let table = self.table_view(roll, found, asked.options);
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
            let info = run_info(self.asked.site, self.reader.as_mut(), head);
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

    /// The value of a decision, which is not in memory.
    pub(super) fn decided(&mut self, seq: Seq) -> Result<String, PageError> {
        let stored = self.event(seq)?;
        Ok(match stored.event() {
            Ok(Event::DecisionMade(made)) if !made.details.value.is_null() => {
                excerpt(&plain(&made.details.value), 160)
            }
            _ => String::new(),
        })
    }
}
