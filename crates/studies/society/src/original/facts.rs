//! The facts of the society in a log.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An agent's holdings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Holdings {
    /// Energy: with 0, an agent dies.
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
        /// The run.
        run: u32,
        /// The epoch.
        epoch: u32,
        /// The agent.
        agent_id: String,
        /// The action, as logged.
        action_type: String,
        /// Whether that world carried it out.
        done_there: bool,
        /// The agent's holdings before.
        before: Holdings,
        /// Its holdings afterwards.
        after: Holdings,
    },
    /// An agent took a turn, and its answer is not one of our actions.
    InvalidAction {
        /// The run.
        run: u32,
        /// The epoch.
        epoch: u32,
        /// The agent.
        agent_id: String,
        /// The action, as logged.
        action_type: String,
        /// Whether that world carried it out.
        done_there: bool,
        /// Why it is not one of our actions.
        reason: String,
        /// The answer with the action's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Value>,
        /// The agent's holdings before.
        before: Holdings,
        /// Its holdings afterwards.
        after: Holdings,
    },
    /// An agent died.
    Died {
        /// The run.
        run: u32,
        /// The epoch.
        epoch: u32,
        /// The agent.
        agent_id: String,
    },
}
