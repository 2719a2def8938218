//! The config file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::personality::Personality;
use super::rules::SocietyRules;
use retold::model::{Limits, RetryPolicy, RetrySettings};
use retold_study::config::{ModelConfig, RequestConfig, drawn_if_left_out};

/// The config file. Everything that the document does not specify has a default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `society`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// The seed of every random choice. Drawn at random and recorded if left out.
    #[schemars(transform = drawn_if_left_out)]
    #[serde(default)]
    pub seed: u64,
    /// The number of agents: 100 in the document.
    #[serde(default = "defaults::agents")]
    pub agents: u32,
    /// The number of days that they live together.
    #[serde(default = "defaults::days")]
    pub days: u32,
    /// The share of each personality: a fifth in the document.
    #[serde(default = "defaults::personalities")]
    #[schemars(schema_with = "shares")]
    pub personalities: BTreeMap<Personality, f64>,
    /// The models that answer, each for its share of the agents; `request.model` for all if not
    /// given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelShare>,
    /// `action@VERSION`, or `action` for the latest.
    #[serde(default = "defaults::parser")]
    pub parser: String,
    /// Whether the actions of a day are applied in an order drawn for each day, rather than in the
    /// order of the agents' numbers.
    #[serde(default)]
    pub shuffle_actions: bool,
    /// The rules of the world.
    #[serde(default)]
    pub rules: SocietyRules,
    /// What agents are shown.
    #[serde(default)]
    pub context: ContextConfig,
    /// A folder of templates that replace the built-in ones with the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// The parameters of every request; the defaults are temperature 0.7 and 500 tokens, as in the
    /// document's program. `null` leaves a parameter to the provider.
    #[serde(with = "RequestOfDocument")]
    pub request: RequestConfig,
    /// Whether consecutive messages of one role are sent as one, and a user's message first, for servers that want turns to
    /// alternate. It shapes the prompts, so their hashes.
    #[serde(default, skip_serializing)]
    pub alternate: bool,
    /// The model that answers.
    #[serde(default)]
    pub model: ModelConfig,
    /// How fast to ask.
    #[serde(default)]
    pub limits: Limits,
    /// When to try again; the defaults are three attempts and a first wait of one second, as in the
    /// document's program.
    #[serde(default = "defaults::retry", deserialize_with = "retry_of_document")]
    #[schemars(with = "RetrySettings")]
    pub retry: RetryPolicy,
}

/// The schema of shares by personality.
fn shares(generator: &mut SchemaGenerator) -> Schema {
    let names = Personality::json_schema(generator);
    json_schema!({"type": "object", "propertyNames": names, "additionalProperties": {"type": "number"}})
}

/// [`RequestConfig`] with the defaults of the document's program.
#[derive(Serialize, Deserialize, JsonSchema)]
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
fn retry_of_document<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RetryPolicy, D::Error> {
    let settings = RetrySettings::deserialize(deserializer)?;
    Ok(settings.with_defaults(defaults::retry()))
}

/// A model and its share of the agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelShare {
    /// The model's name, as the provider spells it.
    pub model: String,
    /// Its share, from 0 to 1.
    pub share: f64,
}

/// What agents are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ContextConfig {
    /// The most posts: 20 in the document.
    pub posts: usize,
    /// The most events.
    pub events: usize,
    /// Whether the context is sent as one text, for servers that do not accept a list of text
    /// parts. The log then stores what agents share once per agent.
    pub one_text: bool,
}

impl Default for ContextConfig {
    fn default() -> Self {
        ContextConfig { posts: 20, events: 20, one_text: false }
    }
}

mod defaults {
    use super::{BTreeMap, Personality, RetryPolicy};

    // Null leaves these two to the provider, so they are options.
    pub(super) fn temperature() -> Option<f64> {
        Some(0.7)
    }
    pub(super) fn max_tokens() -> Option<u32> {
        Some(500)
    }
    /// Three attempts in all, and a first wait of one second.
    pub(super) fn retry() -> RetryPolicy {
        RetryPolicy { max_retries: 2, base_seconds: 1.0, ..RetryPolicy::default() }
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
