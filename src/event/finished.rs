//! The end of a run: how it ended, and the digests that a re-execution is compared with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{EventsRoot, OutcomeDigest, OutputDigest, StateDigest};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum RunOutcome {
    /// The experiment ran to its end.
    Finished,
    /// Somebody ended it for good before it was complete.
    Abandoned,
    /// An outcome that this release does not know; kept as it is.
    Other(String),
}

impl RunOutcome {
    /// Whether the experiment ran to its end.
    pub fn is_finished(&self) -> bool {
        *self == RunOutcome::Finished
    }

    /// The word for it, in logs and in output.
    pub fn as_str(&self) -> &str {
        match self {
            RunOutcome::Finished => "finished",
            RunOutcome::Abandoned => "abandoned",
            RunOutcome::Other(word) => word,
        }
    }
}

impl From<String> for RunOutcome {
    fn from(word: String) -> Self {
        match word.as_str() {
            "finished" => RunOutcome::Finished,
            "abandoned" => RunOutcome::Abandoned,
            _ => RunOutcome::Other(word),
        }
    }
}

impl From<RunOutcome> for String {
    fn from(outcome: RunOutcome) -> Self {
        outcome.as_str().to_owned()
    }
}

/// The run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFinished {
    /// The root of a Merkle tree over the hashes of all events before this one: see
    /// [`MerkleTree`](super::MerkleTree).
    pub events_root: EventsRoot,
    /// How.
    pub outcome: RunOutcome,
    /// The digest of its outcome.
    pub outcome_digest: OutcomeDigest,
    /// The digests of its report and of its output files, by name; only of an experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<BTreeMap<String, OutputDigest>>,
    /// The digests of the state that the experiment folded; only of an experiment that ran to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<FoldedState>,
}

impl RunFinished {
    /// An end without digests of state and outputs.
    pub fn new(
        outcome: RunOutcome,
        outcome_digest: OutcomeDigest,
        events_root: EventsRoot,
    ) -> Self {
        RunFinished { events_root, outcome, outcome_digest, outputs: None, state: None }
    }
}

/// The digests of a state: one for each of its top-level entries, by name.
pub type StateEntries = BTreeMap<String, StateDigest>;

/// The digests of the state that a run's facts fold into.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FoldedState {
    /// The state at the end of the run.
    pub end: StateEntries,
    /// The state at the places that the experiment marked, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<StateMark>,
}

/// The state at a place that the experiment marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateMark {
    /// The digests.
    pub entries: StateEntries,
    /// The mark's name, such as `phase_3`.
    pub name: String,
}
