//! The config file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::personality::Personality;
use super::rules::Rules;
use retold::model::{Limits, RetryPolicy};
use retold_study::config::{ModelConfig, RequestConfig};

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
    /// The parameters of every request; temperature 0.7 and 500 tokens if it does not say, as in the document's
    /// program. `null` leaves one to the provider.
    #[serde(with = "RequestOfDocument")]
    pub request: RequestConfig,
    /// Who answers.
    #[serde(default)]
    pub model: ModelConfig,
    /// How fast to ask.
    #[serde(default)]
    pub limits: Limits,
    /// When to try again: three attempts and a first wait of a second if it does not say, as in the document's
    /// program.
    #[serde(default = "defaults::retry", with = "RetryOfDocument")]
    pub retry: RetryPolicy,
}

/// [`RequestConfig`] with the defaults of the document's program.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "RequestConfig")]
struct RequestOfDocument {
    model: String,
    #[serde(default = "defaults::temperature")]
    temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(default = "defaults::max_tokens")]
    max_tokens: Option<u32>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    extra: Map<String, Value>,
}

/// [`RetryPolicy`] with the defaults of the document's program.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, remote = "RetryPolicy")]
struct RetryOfDocument {
    #[serde(default = "defaults::max_retries")]
    max_retries: usize,
    #[serde(default = "defaults::base_seconds")]
    base_seconds: f64,
    #[serde(default = "defaults::max_seconds")]
    max_seconds: f64,
    #[serde(default = "defaults::quota_seconds")]
    quota_seconds: f64,
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
    use super::{BTreeMap, Personality, RetryPolicy};

    // Null leaves these two to the provider, which is why they are options.
    pub(super) fn temperature() -> Option<f64> {
        Some(0.7)
    }
    pub(super) fn max_tokens() -> Option<u32> {
        Some(500)
    }
    /// Attempts after the first, of three.
    pub(super) fn max_retries() -> usize {
        2
    }
    pub(super) fn base_seconds() -> f64 {
        1.0
    }
    pub(super) fn max_seconds() -> f64 {
        RetryPolicy::default().max_seconds
    }
    pub(super) fn quota_seconds() -> f64 {
        RetryPolicy::default().quota_seconds
    }
    pub(super) fn retry() -> RetryPolicy {
        RetryPolicy {
            max_retries: max_retries(),
            base_seconds: base_seconds(),
            max_seconds: max_seconds(),
            quota_seconds: quota_seconds(),
        }
    }

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
