//! The recorded settings.

use retold::event::Labels;
use retold::id::{CallPath, RunId, Sample, Seq};
use serde::{Deserialize, Serialize};

/// Everything that is needed to ask again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriftSettings {
    /// The run whose answers were drawn.
    pub of: RunId,
    /// The seed by which they were drawn.
    pub seed: u64,
    /// How often each is asked for again.
    pub times: u32,
    /// The answers.
    pub answers: Vec<DrawnAnswer>,
}

/// A recorded answer that is asked for again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawnAnswer {
    /// Its seq in its run.
    pub seq: Seq,
    /// Its call.
    pub call: CallPath,
    /// Which answer to that call it is.
    pub sample: Sample,
    /// What the call belongs to.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Its request, as canonical text.
    pub request: String,
}
