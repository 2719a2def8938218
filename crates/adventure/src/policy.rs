//! Who chooses.

use serde::{Deserialize, Serialize};

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
