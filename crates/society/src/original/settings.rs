//! What is recorded when such a run starts: everything its log says but the answers.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::facts::Holdings;
use retold_study::config::Wrong;

/// Everything that a re-execution needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalSettings {
    /// The log's name, without its folder.
    pub source: String,
    /// How many agents it names.
    pub agents: u32,
    /// `action@VERSION`.
    pub parser: String,
    /// What stands in the place of the prompts.
    pub template: String,
    /// The log, line by line.
    pub entries: Vec<Entry>,
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Which of its runs.
    pub run: u32,
    /// Which epoch.
    pub epoch: u32,
    /// Which turn of it.
    pub turn: u32,
    /// Who.
    pub agent_id: String,
    /// Its role.
    pub persona: String,
    /// Where it was when it was asked.
    pub location: String,
    /// The model that answered, as the log's run id names it.
    pub model: String,
    /// The action as logged; JSON where it was no text.
    pub action_type: String,
    /// What it had before.
    pub before: Holdings,
    /// And after.
    pub after: Holdings,
    /// What became of it.
    pub there: There,
}

/// What became of a turn in the world of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum There {
    /// The action was done.
    Done,
    /// It was refused.
    Refused,
    /// No turn: the agent died.
    Died,
}

impl Entry {
    /// The call of its question.
    pub(super) fn call(&self) -> String {
        format!("run/{}/epoch/{}/agent/{}", self.run, self.epoch, self.agent_id)
    }
}

/// Checks the settings of a fork: there are no configs of such a run.
pub(crate) fn check(settings: &OriginalSettings) -> Result<(), Wrong> {
    let named: BTreeSet<&str> =
        settings.entries.iter().map(|entry| entry.agent_id.as_str()).collect();
    if settings.agents as usize != named.len() {
        let (agents, named) = (settings.agents, named.len());
        let message = format!("the recorded log names {named}, not {agents}");
        return Err(Wrong::new("agents", message));
    }
    Ok(())
}
