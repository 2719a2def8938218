//! What came out of a run, at the top of its page: figures, and a table of its calls or participants.

mod call_words;
mod table_query;
mod table_view;

use std::collections::BTreeSet;
use std::sync::Arc;

use retold::event::Event;
use retold::id::Seq;
use retold::log::{EventFilter, RunHead};
use serde::Serialize;

use super::RunPageRequest;
use crate::decision_columns::{DecisionColumns, plain};
use crate::error::PageError;
use crate::event_columns::EventColumns;
use crate::figures::FiguresView;
use crate::runs::{RunInfo, run_info};
use crate::table::Facet;
use retold::escaping::excerpt;
use table_query::TableQuery;
use table_view::TableView;

pub(super) use table_query::status;
pub(super) use table_view::{MOST_IN_FILE, csv};

/// The key of a query that asks what has come out so far.
pub(super) const SO_FAR: &str = "so_far";

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
    /// The names of decisions that several made, and so may disagree about.
    rated_by_several: Vec<String>,
}

/// The results that are computed in the background. They are requested before the columns of a run are locked: the check of
/// the run reads the columns, too.
pub(super) struct OutcomeJobs {
    figures: FiguresView,
    /// The decisions that are in force, if some were accepted after the run.
    accepted: Option<Arc<DecisionColumns>>,
    /// Of a damaged run, the first event that cannot be trusted.
    untrusted: Option<u64>,
    /// Whether all of it is known.
    pub(super) is_complete: bool,
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
    /// The figures of the run, and whether they are complete. While it goes on, only how many values they have, unless
    /// somebody asks what has come out so far.
    pub(super) fn figures(&self) -> (FiguresView, bool) {
        let is_over = !self.info.can_grow();
        let shows_values = !self.info.is_running() || self.asked.query.get(SO_FAR).is_some();
        self.asked.site.figures(&self.head, self.runs, is_over, shows_values)
    }

    /// The results that are computed in the background.
    pub(super) fn outcome_jobs(&self) -> OutcomeJobs {
        let (figures, are_figured) = self.figures();
        let (accepted, are_joined) = self.asked.site.accepted_decisions(&self.head, self.runs);
        let untrusted = self.asked.site.first_untrusted(&self.head);
        OutcomeJobs { figures, accepted, untrusted, is_complete: are_figured && are_joined }
    }

    /// What came out of the run, of the calls that the filter chooses.
    pub(super) fn outcome(
        &mut self,
        roll: &EventColumns,
        filter: &EventFilter,
        hits: Option<&BTreeSet<Seq>>,
        jobs: OutcomeJobs,
    ) -> Result<Outcome, PageError> {
        let query = self.asked.query.clone();
        let asked = TableQuery::new(&query, roll, MOST)?;
        let (found, facets) = self.table(roll, filter, hits, &asked, &jobs)?;
        let words = self.call_words(roll, &found.rows);
        let table = self.table_view(roll, found, words, asked.options);
        let decisions = jobs.accepted.as_deref().unwrap_or(&roll.questions.decisions);
        let rated_by_several = decisions.rated_by_several().into_iter().map(str::to_owned);
        let rated_by_several = rated_by_several.collect();
        let (figures, others) = (jobs.figures, self.others());
        Ok(Outcome { figures, table, facets, others, rated_by_several })
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
    pub(super) fn decision_value(&mut self, seq: Seq) -> Result<String, PageError> {
        let stored = self.event(seq)?;
        Ok(match stored.event() {
            Ok(Event::DecisionMade(made)) if !made.details.value.is_null() => {
                excerpt(&plain(&made.details.value), 160)
            }
            _ => String::new(),
        })
    }
}
