//! The config file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::personality::Personality;
use super::rules::Rules;
use crate::config::{ModelConfig, RequestConfig};
use crate::model::{Limits, RetryPolicy};

/// The config file. What the document does not say has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `society`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The seed of every random choice.
    #[serde(default)]
    pub seed: u64,
    /// How many agents there are: 100 in the document.
    #[serde(default = "defaults::agents")]
    pub agents: u32,
    /// How many days they live together.
    #[serde(default = "defaults::days")]
    pub days: u32,
    /// The share of each personality: a fifth in the document.
    #[serde(default = "defaults::personalities")]
    pub personalities: BTreeMap<Personality, f64>,
    /// The models that answer, each for its share of the agents; `request.model` for all, if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelShare>,
    /// `action@VERSION`, or `action` for the latest.
    #[serde(default = "defaults::parser")]
    pub parser: String,
    /// Whether actions of a day are applied in an order drawn anew each day, not in the order of the
    /// agents' numbers.
    #[serde(default)]
    pub shuffle_actions: bool,
    /// The rules of the world.
    #[serde(default)]
    pub rules: Rules,
    /// What agents are shown.
    #[serde(default)]
    pub context: ContextConfig,
    /// A folder of templates that take the place of the built-in ones of the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// The parameters of every request.
    pub request: RequestConfig,
    /// Who answers.
    #[serde(default)]
    pub model: ModelConfig,
    /// How fast to ask.
    #[serde(default)]
    pub limits: Limits,
    /// When to try again.
    #[serde(default)]
    pub retry: RetryPolicy,
}

/// A model and its share of the agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelShare {
    /// The model's name, as the provider spells it.
    pub model: String,
    /// Its share, 0 to 1.
    pub share: f64,
}

/// What agents are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ContextConfig {
    /// The most posts: 20 in the document.
    pub posts: usize,
    /// The most events.
    pub events: usize,
    /// Whether the context is sent as one text, for servers that take no list of text parts. The log
    /// then keeps what agents share once an agent.
    pub one_text: bool,
}

impl Default for ContextConfig {
    fn default() -> Self {
        ContextConfig { posts: 20, events: 20, one_text: false }
    }
}

mod defaults {
    use super::{BTreeMap, Personality};

    pub(super) fn agents() -> u32 {
        100
    }
    pub(super) fn days() -> u32 {
        30
    }
    pub(super) fn parser() -> String {
        "action".to_owned()
    }
    pub(super) fn personalities() -> BTreeMap<Personality, f64> {
        Personality::ALL.map(|p| (p, 0.2)).into()
    }
}
