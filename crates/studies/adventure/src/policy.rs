//! The policies by which players choose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model name in requests that a person at the terminal answers.
pub const HUMAN: &str = "human";

/// How a player chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Always the first option.
    First,
    /// A random option, by the run's seed.
    #[default]
    Random,
    /// A model that is shown the story and the options.
    Model,
    /// A person at the terminal: a model with the name [`HUMAN`].
    Human,
}
