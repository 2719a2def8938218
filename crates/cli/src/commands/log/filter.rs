//! Which events are listed.

use retold::event::kind_from_words;
use retold::id::{CallPath, Time};
use retold::log::{EventFilter, MOMENTS, moment};

use crate::label_argument;

/// Which events of a run to list; an event has to meet all of them.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ListingFilter {
    /// Only events of this kind, as the list has it (decision) or as the log does (DecisionMade). Can be repeated.
    #[arg(long = "kind", value_name = "KIND", requires = "run")]
    kinds: Vec<String>,
    /// Only what belongs to calls whose names have these parts, in any order: `final_vote/p_0012`.
    #[arg(long, value_name = "CALL", requires = "run")]
    call: Option<CallPath>,
    /// Only what belongs to calls with this label, as in participant=p7. Can be repeated: a call must have all.
    #[arg(long = "label", value_name = "NAME=VALUE", requires = "run", value_parser = label_argument::label)]
    labels: Vec<(String, String)>,
    /// Only decisions that were made by this method.
    #[arg(long, value_name = "METHOD", requires = "run")]
    method: Option<String>,
    /// Only answers of this model: the name in the request, or the one that the server reported.
    #[arg(long, value_name = "MODEL", requires = "run")]
    model: Option<String>,
    /// Only attempts that failed, whether the call was given up or asked again.
    #[arg(long, requires = "run")]
    failed: bool,
    /// Only events from this time on: 2026-11-22, or 2026-11-22T17:04:00Z.
    #[arg(long, value_name = "TIME", requires = "run", value_parser = since)]
    since: Option<Time>,
}

/// As clap wants it.
fn since(text: &str) -> Result<Time, &'static str> {
    moment(text).ok_or(MOMENTS)
}

impl From<&ListingFilter> for EventFilter {
    fn from(given: &ListingFilter) -> Self {
        let ListingFilter { kinds, call, labels, method, model, failed, since } = given.clone();
        let named = |kind: String| kind_from_words(&kind).map_or(kind, str::to_owned);
        let kinds = kinds.into_iter().map(named).collect();
        EventFilter { kinds, call, labels, method, model, failed, since }
    }
}
