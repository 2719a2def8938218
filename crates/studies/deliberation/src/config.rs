//! The config file: the source document's YAML, unchanged, with a few keys of our own.
//!
//! The document contradicts itself about `disagreement_threshold`: it is 0.9 in its execution
//! sequence and 0.5 in its example. The default here is 0.9, because a study that ends early by
//! default would miss its purpose.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::Condition;
use super::personas::pool;
use retold::model::Limits;
use retold_stats::Algorithm;
use retold_study::config::{ModelConfig, RequestKeys};

/// The config file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `deliberation`; the document's own files leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// Names the run's output folder.
    pub pilot_id: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pilot_name: Option<String>,
    /// The topic to decide on.
    pub topic: Topic,
    /// A quarter of the number of participants.
    pub participants_per_condition: u32,
    /// The share of votes for one option that ends the experiment early.
    #[serde(default = "defaults::threshold")]
    pub disagreement_threshold: f64,
    /// With fewer votes than this, it never ends early.
    #[serde(default = "defaults::fifty")]
    pub min_responses_for_threshold: u32,
    /// The most questions of a clarification.
    #[serde(default = "defaults::five")]
    pub max_clarification_exchanges: u32,
    /// The most questions of an adversarial dialogue.
    #[serde(default = "defaults::five")]
    pub max_socratic_exchanges: u32,
    /// A name of [`super::opposition::METHODS`].
    #[serde(default = "defaults::opposition")]
    pub opposition_method: String,
    /// For `predefined`: which option opposes which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opposition_mapping: Option<BTreeMap<String, String>>,
    /// Whether the summary for readers has the number of votes for each option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_vote_distribution: Option<bool>,
    /// Legacy: for summaries without clusters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_per_option: Option<u32>,
    /// How summaries are grouped.
    #[serde(default)]
    pub clustering_algorithm: Algorithm,
    /// The most groups per option.
    #[serde(default = "defaults::six")]
    pub max_clusters_per_option: u32,
    /// The model for embeddings.
    #[serde(default = "defaults::embedding_model")]
    pub embedding_model: String,
    /// The time between two calls to a real provider; the simulated model does not wait.
    #[serde(default = "defaults::three")]
    pub api_sleep_seconds: f64,
    /// The chat model.
    #[serde(default = "defaults::model")]
    pub model: String,
    /// The number of attempts after the first.
    #[serde(default = "defaults::five_times")]
    pub max_api_retries: usize,
    /// The first wait before another attempt.
    #[serde(default = "defaults::two")]
    pub api_retry_base_seconds: f64,
    /// Whether personas come from a pool that outlives the run. The pool is filled up to one and a
    /// half times the number of participants, who are drawn from all of it.
    #[serde(default = "defaults::yes")]
    pub use_persona_storage: bool,
    /// The seed of every random choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_seed: Option<u64>,

    /// Ours: how many more answers are asked for if one cannot be parsed.
    #[serde(default = "defaults::parse_retries")]
    pub max_parse_retries: u32,
    /// Ours: the source of new base personas, with one JSON object or text per line; the built-in
    /// set if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personas_file: Option<PathBuf>,
    /// Ours: the URL of such a file, to be used instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personas_url: Option<String>,
    /// Ours: the pool's file, relative to the working directory; the document's
    /// `data/personas.json` if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona_storage: Option<PathBuf>,
    /// Ours: a folder of templates that replace the built-in ones with the same names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// Ours: from 0 to 2; left to the provider if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Ours: the longest answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Ours: the model and its parameters as all studies spell them; they stand for `model`, `temperature` and `max_tokens`.
    #[serde(default, skip_serializing_if = "RequestKeys::is_empty")]
    pub request: RequestKeys,
    /// Ours: whether consecutive messages of one role are sent as one, and a user's message first, for servers that want turns to
    /// alternate. It shapes the prompts, so their hashes.
    #[serde(default, skip_serializing)]
    pub alternate: bool,
    /// Ours: the model that answers. The document's `model` is only a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ModelConfig>,
    /// Ours: how long to wait, and how fast to ask instead of `api_sleep_seconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

impl Config {
    /// The config with what `request` gives in the place of its own keys.
    pub(super) fn with_own_keys(mut self) -> Config {
        self.request.stand_for(&mut self.model, &mut self.temperature, &mut self.max_tokens);
        self
    }
}

impl Config {
    /// The pool's file.
    pub fn pool(&self) -> PathBuf {
        self.persona_storage.clone().unwrap_or_else(|| pool::DEFAULT.into())
    }

    /// The number of participants.
    pub fn participants(&self) -> usize {
        self.participants_per_condition as usize * Condition::ALL.len()
    }
}

/// The topic to decide on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// The situation.
    pub description: String,
    /// The options.
    pub options: Vec<String>,
}

impl Config {
    /// The default of `max_parse_retries`.
    pub(super) const PARSE_RETRIES: u32 = 2;
}

mod defaults {
    pub(super) fn threshold() -> f64 {
        0.9
    }
    pub(super) fn two() -> f64 {
        2.0
    }
    pub(super) fn three() -> f64 {
        3.0
    }
    pub(super) fn parse_retries() -> u32 {
        super::Config::PARSE_RETRIES
    }
    pub(super) fn five() -> u32 {
        5
    }
    pub(super) fn six() -> u32 {
        6
    }
    pub(super) fn fifty() -> u32 {
        50
    }
    pub(super) fn five_times() -> usize {
        5
    }
    pub(super) fn yes() -> bool {
        true
    }
    pub(super) fn opposition() -> String {
        "cluster_embedding".to_owned()
    }
    pub(super) fn embedding_model() -> String {
        "text-embedding-3-small".to_owned()
    }
    pub(super) fn model() -> String {
        "gpt-4o".to_owned()
    }
}
