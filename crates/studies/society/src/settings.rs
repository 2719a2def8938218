//! The settings that are recorded when a run starts: everything that is needed to run it again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::config::{ContextConfig, ModelShare};
use super::personality::Personality;
use super::rules::SocietyRules;
use retold_study::config::RequestConfig;
use retold_study::template::TemplateText;

/// Everything that is needed to run it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of agents.
    pub agents: u32,
    /// The number of days.
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
    pub rules: SocietyRules,
    /// What agents are shown.
    pub context: ContextConfig,
    /// All templates, complete.
    pub prompts: Vec<TemplateText>,
    /// The parameters of every request; each agent's model replaces the model in it.
    pub request: RequestConfig,
}
