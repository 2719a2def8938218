//! `checkpoint.json`: how far the run got. Written for programs that read the original's; this
//! program resumes from the log and never reads it.

use serde::Serialize;

use super::clusters::ClusterRecord;
use crate::state::DeliberationState;
use crate::summary::pairs;

/// The keys of the original outputs, in order.
#[derive(Serialize)]
pub(super) struct Checkpoint<'a> {
    last_completed_phase: u8,
    terminated_early: bool,
    termination_reason: Option<&'a str>,
    /// Always null: summaries without clusters, from an older version of the original.
    phase4_summary: (),
    clusters: &'a [ClusterRecord<'a>],
    /// Every option, including those without a cluster.
    #[serde(serialize_with = "pairs")]
    clusters_by_option: Vec<(&'a str, Vec<&'a ClusterRecord<'a>>)>,
    checkpoint_time: &'a str,
}

/// The checkpoint at the end of the record.
pub(super) fn record<'a>(
    state: &'a DeliberationState,
    options: &'a [String],
    clusters: &'a [ClusterRecord<'a>],
    checkpoint_time: &'a str,
) -> Checkpoint<'a> {
    let of_option = |option: &'a String| {
        (option.as_str(), clusters.iter().filter(|c| c.option == option).collect())
    };
    Checkpoint {
        last_completed_phase: state.last_completed_phase,
        terminated_early: state.termination_reason.is_some(),
        termination_reason: state.termination_reason.as_deref(),
        phase4_summary: (),
        clusters,
        clusters_by_option: options.iter().map(of_option).collect(),
        checkpoint_time,
    }
}
