//! What happened in a session.

use std::collections::{BTreeMap, BTreeSet};

use retold::id::Seq;
use retold::model::Failure;
use retold::run::OverBudget;

use crate::departure::DepartureSummary;
use crate::nearest_match::NearestMatch;
use crate::recorded::ReplayedAttempt;
use crate::wire_request::WireRequest;

/// What happened in a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionSummary {
    /// Requests that arrived.
    pub requests: u64,
    /// Answers that were recorded now.
    pub answers: u64,
    /// How many answers, recorded now or sent again, are streams that were closed without their end.
    pub unended: u64,
    /// How many answers that were recorded now could not be read, or not whole.
    pub unreadable: u64,
    /// The seq of the first of them, and why.
    pub first_unreadable: Option<(Seq, String)>,
    /// Clients that left before they had their whole answers.
    pub departures: DepartureSummary,
    /// Failed attempts that were recorded now.
    pub failed: u64,
    /// How many of them there are of each kind, by its status, or its word if there was no answer.
    pub failures: BTreeMap<String, u64>,
    /// Calls of tools, which are in none of the other numbers but `missed` and `left`.
    pub tools: ToolSummary,
    /// Recorded answers that were sent again.
    pub replayed: u64,
    /// Requests that got the answer of an equal one.
    pub shared: u64,
    /// Recorded failed attempts that were sent again.
    pub replayed_failures: u64,
    /// Requests that are not recorded.
    pub missed: u64,
    /// The first of them.
    pub misses: Vec<NearestMatch>,
    /// Decisions and facts that the program reported.
    pub outcomes: u64,
    /// How many of them differ from the record, or are recorded and were not made again.
    pub differences: u64,
    /// How many are recorded and were not made again.
    pub unreported: u64,
    /// The first difference.
    pub difference: Option<String>,
    /// Requests that were not asked, because of the budget.
    pub unaffordable: u64,
    /// Why the first of them was not asked.
    pub over_budget: Option<OverBudget>,
    /// The hosts to which answers led the program, past the upstreams.
    pub led_to: BTreeSet<String>,
    /// Recorded samples that were never asked for, or not to their end.
    pub left: usize,
    /// The first of their calls.
    pub calls_left: Vec<String>,
}

/// Calls of tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolSummary {
    /// Results and errors of tools that were recorded now.
    pub recorded: u64,
    /// How many of these are errors.
    pub failed: u64,
    /// Recorded results and errors that were given again.
    pub replayed: u64,
}

impl SessionSummary {
    /// Counts a recorded attempt that was sent again; `is_shared` says whether it is the answer of an equal
    /// request.
    pub(crate) fn sent_again(
        &mut self,
        asked: &WireRequest,
        played: &ReplayedAttempt,
        is_shared: bool,
    ) {
        if asked.request.tool().is_some() {
            self.tools.replayed += 1;
            return;
        }
        match played.answer {
            Some(named) => {
                let sent = if is_shared { &mut self.shared } else { &mut self.replayed };
                *sent += 1;
                self.unended += u64::from(named.is_unended);
            }
            None => self.replayed_failures += 1,
        }
    }

    /// Counts a failed attempt.
    pub(crate) fn count_failure(&mut self, asked: &WireRequest, failure: &Failure) {
        if asked.request.tool().is_some() {
            self.tools.recorded += 1;
            self.tools.failed += 1;
            return;
        }
        self.failed += 1;
        let what = match failure.status {
            Some(status @ 200..300) => format!("an error inside HTTP {status}"),
            Some(status) => format!("HTTP {status}"),
            None => failure.kind.as_str().to_owned(),
        };
        *self.failures.entry(what).or_default() += 1;
    }
}
