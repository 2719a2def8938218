//! The results that pages compute in the background and keep between requests.

use std::collections::BTreeMap;

use retold::compare::{CallDifference, CallPlace, Comparison, PromptChange};
use retold::id::{CallPath, Sample};
use retold::totals::Totals;

use crate::figures::FigureTableView;
use crate::job_error::JobError;

/// A call of two runs.
pub(crate) struct CallPair {
    pub(crate) call: CallPath,
    pub(crate) sample: Sample,
    pub(crate) what: Option<CallDifference>,
    pub(crate) places: [Option<CallPlace>; 2],
}

/// What two runs have for every call and sample, as the library compares them for `retold diff`.
pub(crate) struct RunComparison {
    pub(crate) calls: Vec<CallPair>,
    pub(crate) counts: BTreeMap<&'static str, u64>,
    pub(crate) comparison: Comparison,
    /// Each change of prompts.
    pub(crate) changes: Vec<PromptChange>,
    /// The figures that the runs lead with, or why there are none.
    pub(crate) figures: Result<Vec<FigureTableView>, JobError>,
}

/// The numbers of a run, as far as it can be read, and why no further.
pub(crate) struct RunTotals {
    pub(crate) totals: Totals,
    pub(crate) wrong: Option<String>,
}
