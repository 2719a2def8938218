//! The settings that are recorded when such a run starts: everything in its log except the answers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::facts::Holdings;
use retold_study::config::ConfigProblem;

/// Everything that is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalSettings {
    /// The log's name, without its folder.
    pub source: String,
    /// The number of agents in it.
    pub agents: u32,
    /// `action@VERSION`.
    pub parser: String,
    /// The replacement for the prompts.
    pub template: String,
    /// The log, line by line.
    pub entries: Vec<OriginalTurn>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalTurn {
    /// The run within the log.
    pub run: u32,
    /// The epoch.
    pub epoch: u32,
    /// The turn in the epoch.
    pub turn: u32,
    /// The agent.
    pub agent_id: String,
    /// Its role.
    pub persona: String,
    /// The agent's location when it was asked.
    pub location: String,
    /// The model that answered, from the log's run id.
    pub model: String,
    /// The action as logged; JSON if it was not a text.
    pub action_type: String,
    /// The agent's holdings before.
    pub before: Holdings,
    /// Its holdings afterwards.
    pub after: Holdings,
    /// The outcome in that world.
    pub there: There,
}

/// The outcome of a turn in the world of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum There {
    /// The action was done.
    Done,
    /// It was refused.
    Refused,
    /// Not a turn: the agent died.
    Died,
}

impl OriginalTurn {
    /// The call of its question.
    pub(super) fn call(&self) -> String {
        format!("run/{}/epoch/{}/agent/{}", self.run, self.epoch, self.agent_id)
    }
}

/// Checks the settings of a fork; there are no configs for such a run.
pub(crate) fn check(settings: &OriginalSettings) -> Result<(), ConfigProblem> {
    let named: BTreeSet<&str> =
        settings.entries.iter().map(|entry| entry.agent_id.as_str()).collect();
    if settings.agents as usize != named.len() {
        let (agents, named) = (settings.agents, named.len());
        let message = format!("the recorded log names {named}, not {agents}");
        return Err(ConfigProblem::new("agents", message));
    }
    Ok(())
}
