//! The vectors of a run. Facts of the first edition only name them, so they are read from the
//! recorded answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::calls;
use crate::state::Deliberated;
use retold::content::Content;
use retold::id::{CallPath, ContentHash};
use retold::run::{OutputError, RunRecord};

/// All vectors of a run.
pub(super) struct RecordedVectors {
    /// Vectors of summaries, by participant.
    summaries: BTreeMap<String, Vector>,
    /// Vectors of descriptions, by cluster.
    descriptions: BTreeMap<String, Vector>,
}

/// A vector that prints its floats as 64-bit numbers of the same value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vector(Arc<[f32]>);

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|x| f64::from(*x)))
    }
}

impl RecordedVectors {
    /// Reads the vectors that the facts name.
    pub(super) fn read(
        state: &Deliberated,
        options: &[String],
        record: &mut RunRecord<'_>,
    ) -> Result<RecordedVectors, OutputError> {
        let (mut summaries, mut descriptions) = (BTreeMap::new(), BTreeMap::new());
        let folded = state.vectors.get();
        for (id, hash) in state.participants.values().filter_map(|p| {
            let hash = p.summary_vector?;
            Some((&p.participant_id, hash))
        }) {
            let vector = match folded.and_then(|folded| folded.summaries.get(id)) {
                Some(vector) => Vector(vector.floats().clone()),
                None => vector(record, &calls::embedding(id), hash)?,
            };
            summaries.insert(id.clone(), vector);
        }
        for cluster in &state.clusters {
            if let Some(hash) = cluster.vector {
                let id = &cluster.cluster_id;
                let vector = match folded.and_then(|folded| folded.descriptions.get(id)) {
                    Some(vector) => Vector(vector.floats().clone()),
                    None => {
                        let call = calls::cluster_embedding(&calls::cluster(cluster, options));
                        vector(record, &call, hash)?
                    }
                };
                descriptions.insert(id.clone(), vector);
            }
        }
        Ok(RecordedVectors { summaries, descriptions })
    }

    /// The vector of a participant's summary.
    pub(super) fn of_summary(&self, participant_id: &str) -> Option<&Vector> {
        self.summaries.get(participant_id)
    }

    /// The vector of a cluster's description.
    pub(super) fn of_description(&self, cluster_id: &str) -> Option<&Vector> {
        self.descriptions.get(cluster_id)
    }
}

/// The recorded answer of a call, which must be the vector that a fact names by its hash.
fn vector(
    record: &mut RunRecord<'_>,
    call: &str,
    hash: ContentHash,
) -> Result<Vector, OutputError> {
    let missing = || OutputError::Missing { what: format!("vector {hash} of call {call}") };
    let path = CallPath::new(call).map_err(|_| missing())?;
    match record.answer(&path, 0)? {
        Some(content) if content.hash() == hash => match content {
            Content::Vector(floats) => Ok(Vector(floats)),
            Content::Text(_) => Err(missing()),
        },
        _ => Err(missing()),
    }
}
