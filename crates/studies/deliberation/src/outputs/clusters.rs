//! `cluster_embeddings.json`.

use serde::Serialize;

use super::vectors::Vector;
use crate::state::DeliberationState;

/// A cluster: the document's `ClusterInfo`. Description and vector are null if they could not be
/// obtained.
#[derive(Serialize)]
pub(super) struct ClusterRecord<'a> {
    cluster_id: &'a str,
    pub(super) option: &'a str,
    description: Option<&'a str>,
    embedding: Option<Vector<'a>>,
    member_count: usize,
    member_ids: &'a [String],
}

/// All clusters: by option in the config's order, then by number.
pub(super) fn records(state: &DeliberationState) -> Vec<ClusterRecord<'_>> {
    let record = state.clusters.iter().map(|cluster| ClusterRecord {
        cluster_id: &cluster.cluster_id,
        option: &cluster.option,
        description: cluster.description.as_deref(),
        embedding: state.vectors.descriptions.get(&cluster.cluster_id).map(Vector),
        member_count: cluster.member_ids.len(),
        member_ids: &cluster.member_ids,
    });
    record.collect()
}
