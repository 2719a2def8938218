//! Who chooses.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config::Settings;

/// The name of the model in requests that a person at the terminal answers.
pub const HUMAN: &str = "human";

/// Who chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Always the first option.
    First,
    /// Any option, by the run's seed.
    #[default]
    Random,
    /// A model that is told the story and the options.
    Model,
    /// A person at the terminal: a model by the name of [`HUMAN`].
    Human,
}

/// Whether the recorded settings of an adventure need a person at the terminal.
pub fn is_human(settings: &Value) -> bool {
    Settings::deserialize(settings).is_ok_and(|s| s.config.player == Policy::Human)
}
