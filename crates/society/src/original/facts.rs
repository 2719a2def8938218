//! What happened in the society of a log.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What an agent has.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Holdings {
    /// Energy: at 0 an agent dies.
    pub energy: f64,
    /// Influence.
    pub influence: f64,
}

/// A fact. Runs, epochs and turns are numbered as in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum OriginalFact {
    /// An agent took a turn, and its answer is an action of ours.
    Acted {
        /// Which run.
        run: u32,
        /// Which epoch.
        epoch: u32,
        /// Who.
        agent_id: String,
        /// The action, as logged.
        action_type: String,
        /// Whether that world did it.
        done_there: bool,
        /// What the agent had before.
        before: Holdings,
        /// And after.
        after: Holdings,
    },
    /// An agent took a turn, and its answer is no action of ours.
    InvalidAction {
        /// Which run.
        run: u32,
        /// Which epoch.
        epoch: u32,
        /// Who.
        agent_id: String,
        /// The action, as logged.
        action_type: String,
        /// Whether that world did it.
        done_there: bool,
        /// Why it is none of ours.
        reason: String,
        /// The answer, as it names the action; since `action@3`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Value>,
        /// What the agent had before.
        before: Holdings,
        /// And after.
        after: Holdings,
    },
    /// An agent died.
    Died {
        /// Which run.
        run: u32,
        /// Which epoch.
        epoch: u32,
        /// Who.
        agent_id: String,
    },
}
