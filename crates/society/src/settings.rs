//! What is recorded when a run starts: everything that a re-execution needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::config::{Config, ContextConfig, ModelShare};
use super::personality::Personality;
use super::rules::Rules;
use retold::model::{Limits, RetryPolicy};
use retold_study::config::{ModelConfig, RequestConfig};
use retold_study::template::TemplateText;

/// Everything that a re-execution needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How many agents.
    pub agents: u32,
    /// How many days.
    pub days: u32,
    /// The share of each personality.
    pub personalities: BTreeMap<Personality, f64>,
    /// The models and their shares: at least one.
    pub models: Vec<ModelShare>,
    /// `action@VERSION`.
    pub parser: String,
    /// Whether actions are applied in an order drawn each day.
    pub shuffle_actions: bool,
    /// The rules.
    pub rules: Rules,
    /// What agents are shown.
    pub context: ContextConfig,
    /// All templates, whole.
    pub prompts: Vec<TemplateText>,
    /// The parameters of every request; each agent's model takes the place of its model.
    pub request: RequestConfig,
}

impl From<Settings> for Config {
    /// A config of the same values; what settings do not hold is as if it were not given.
    fn from(settings: Settings) -> Config {
        let Settings {
            agents,
            days,
            personalities,
            models,
            parser,
            shuffle_actions,
            rules,
            context,
            prompts: _,
            request,
        } = settings;
        Config {
            experiment: None,
            seed: 0,
            agents,
            days,
            personalities,
            models,
            parser,
            shuffle_actions,
            rules,
            context,
            prompts: None,
            request,
            model: ModelConfig::default(),
            limits: Limits::default(),
            retry: RetryPolicy::default(),
        }
    }
}
