//! The parts of a config that all experiments have in common.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::kinds::{ApiKind, ModelKind};
use super::named::{AnswersFile, BaseUrl, KeyVariable};
use super::wrong::{ConfigProblem, figure};
use super::yaml::relative_to;
use retold::model::{Limits, NamedUrl, RetryPolicy, ServiceTier};
use retold::prompt::{ChatRequest, Message, Request, Role};

/// How often the simulated model misbehaves: shares from 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Rates {
    /// Answers that break the requested format, in any way, each way equally likely.
    pub malformed: f64,
    /// Of the other answers, those that break the format in a named way; each experiment has its
    /// own kinds. See [`Misbehaviour`](retold::model::simulated::Misbehaviour).
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub malformed_kinds: BTreeMap<String, f64>,
    /// Answers that are cut off before the end: open brackets stay open.
    #[serde(skip_serializing_if = "is_zero")]
    pub truncated: f64,
    /// Attempts that are answered with 429.
    pub rate_limited: f64,
    /// Attempts that are answered with 500.
    pub server_error: f64,
    /// Calls that always fail.
    pub failure: f64,
}

impl Default for Rates {
    fn default() -> Self {
        Rates {
            malformed: 0.05,
            malformed_kinds: BTreeMap::new(),
            truncated: 0.0,
            rate_limited: 0.0,
            server_error: 0.0,
            failure: 0.0,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(rate: &f64) -> bool {
    *rate == 0.0
}

/// A server that answers the requests of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    /// Where the API is.
    pub base_url: BaseUrl,
    /// Which API it is.
    #[serde(default, skip_serializing_if = "ApiKind::is_default")]
    pub kind: ApiKind,
    /// The environment variable with its key, which servers on the local machine do not need. It is
    /// not recorded.
    #[serde(default, skip_serializing)]
    pub key: KeyVariable,
}

/// The model that answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// The kind of model.
    pub kind: ModelKind,
    /// For models at a server: where the API is.
    #[serde(skip_serializing_if = "BaseUrl::is_built_in")]
    pub base_url: BaseUrl,
    /// For models at a server: other servers, by the model name in requests.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub endpoints: BTreeMap<String, EndpointConfig>,
    /// For models at a server: the tier of service, if it is not the usual one. It is not part of any prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<ServiceTier>,
    /// For `scripted`: the exchanges file, relative to the config if such a file exists, otherwise
    /// to the working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<AnswersFile>,
    /// For `simulated`: how often it misbehaves.
    pub rates: Rates,
    /// For `simulated`: the average time that an answer takes, in milliseconds.
    pub latency_ms: f64,
}

impl Default for ModelConfig {
    fn default() -> Self {
        ModelConfig {
            kind: ModelKind::Simulated,
            base_url: BaseUrl::BuiltIn,
            endpoints: BTreeMap::new(),
            tier: None,
            answers: None,
            rates: Rates::default(),
            latency_ms: 0.0,
        }
    }
}

impl ModelConfig {
    /// Marks what the settings choose as the user's choice: they were read from the config at this
    /// path, which the user gave in this invocation. `given` is this group in the config.
    ///
    /// # Errors
    /// The key within the group, and what is wrong with it.
    pub fn named_by_config(&mut self, path: &Path, given: &Value) -> Result<(), ConfigProblem> {
        let named = |given: &Value| given["base_url"].as_str().map(NamedUrl::from_user);
        self.base_url = named(given).map_or(BaseUrl::BuiltIn, BaseUrl::Named);
        for (name, endpoint) in &mut self.endpoints {
            let given = &given["endpoints"][name.as_str()];
            if let Some(url) = named(given) {
                endpoint.base_url = BaseUrl::Named(url);
            }
            if let Some(key) = given["key"].as_str() {
                endpoint.key = KeyVariable::from_name(key)
                    .map_err(|wrong| ConfigProblem::new(&format!("endpoints.{name}.key"), wrong))?;
            }
        }
        let answers = self.answers.take();
        self.answers = answers.map(|file| AnswersFile::Named(relative_to(path, file.path())));
        Ok(())
    }

    /// Checks the settings; `group` is where the config has them.
    ///
    /// # Errors
    /// The first invalid setting.
    pub fn check(&self, group: &str) -> Result<(), ConfigProblem> {
        let wrong =
            |key: &str, message: &str| Err(ConfigProblem::new(&format!("{group}.{key}"), message));
        let ModelConfig { kind, base_url: _, endpoints, tier, answers, rates, latency_ms } = self;
        if endpoints.keys().any(|name| name.trim().is_empty()) {
            return wrong("endpoints", "the name of an endpoint is the model that it answers for");
        }
        if let (Some(tier), Some(api)) = (tier, kind.api())
            && tier.asked_for().is_some()
            && api.access().tier_field.is_none()
        {
            let (tier, kind) = (tier.as_str(), kind.as_str());
            return wrong("tier", &format!("{kind} has no tier {tier}: OpenAI and Gemini have"));
        }
        let Rates { malformed, malformed_kinds, truncated, rate_limited, server_error, failure } =
            rates;
        let named = [
            ("malformed", malformed),
            ("truncated", truncated),
            ("rate_limited", rate_limited),
            ("server_error", server_error),
            ("failure", failure),
        ];
        let named = named.map(|(name, rate)| (name.to_owned(), rate));
        let kinds = malformed_kinds.iter();
        let kinds = kinds.map(|(kind, rate)| (format!("malformed_kinds.{kind}"), rate));
        for (name, rate) in named.into_iter().chain(kinds) {
            if !(0.0..=1.0).contains(rate) {
                let message = format!("must be from 0 to 1, not {}", figure(*rate));
                return wrong(&format!("rates.{name}"), &message);
            }
        }
        if !(0.0..=86_400_000.0).contains(latency_ms) {
            let message = format!("must be from 0 to 86400000, not {latency_ms}");
            return wrong("latency_ms", &message);
        }
        if *kind == ModelKind::Scripted && answers.is_none() {
            return wrong("answers", "a scripted model needs a file to answer from");
        }
        Ok(())
    }
}

/// The parameters of every request of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestConfig {
    /// The model's name, as the provider spells it.
    pub model: String,
    /// From 0 to 2; left to the provider if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// From 0 to 1; left to the provider if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The longest answer, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Any other parameter that the provider supports.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl RequestConfig {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The first invalid parameter.
    pub fn check(&self) -> Result<(), ConfigProblem> {
        let RequestConfig { model, temperature, top_p, max_tokens, extra } = self;
        let wrong = |key: &str, message: String| {
            Err(ConfigProblem::new(&format!("request.{key}"), message))
        };
        if model.trim().is_empty() {
            return wrong("model", "the name of the model is empty".to_owned());
        }
        if let Some(t) = temperature.filter(|t| !(0.0..=2.0).contains(t)) {
            return wrong("temperature", format!("must be from 0 to 2, not {}", figure(t)));
        }
        if let Some(p) = top_p.filter(|p| !(0.0..=1.0).contains(p)) {
            return wrong("top_p", format!("must be from 0 to 1, not {}", figure(p)));
        }
        if *max_tokens == Some(0) {
            return wrong("max_tokens", "must be at least 1".to_owned());
        }
        const OWN: [&str; 5] = ["model", "messages", "temperature", "top_p", "max_tokens"];
        match OWN.iter().find(|own| extra.contains_key(**own)) {
            Some(own) => wrong(&format!("extra.{own}"), format!("{own} is not an extra parameter")),
            None => Ok(()),
        }
    }

    /// A request with these parameters and any text.
    pub fn sample(&self) -> Option<Request> {
        self.chat(vec![Message::new(Role::User, "?")]).into_request().ok()
    }

    /// A request with these parameters and the given messages.
    pub fn chat(&self, messages: Vec<Message>) -> ChatRequest {
        let RequestConfig { model, temperature, top_p, max_tokens, extra } = self.clone();
        ChatRequest {
            model,
            messages,
            temperature,
            top_p,
            max_tokens,
            extra,
            ..ChatRequest::default()
        }
    }
}

/// Everything about a run that does not affect its outcome: which model answers, and how fast.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Runtime {
    /// The model that answers.
    pub model: ModelConfig,
    /// How fast to ask.
    pub limits: Limits,
    /// When to try again.
    pub retry: RetryPolicy,
    /// Whether the limits follow from the experiment's settings and the kind of model, because the
    /// config gives none. They follow from the new kind if a flag chooses another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limits_follow: bool,
}

/// The longest first wait before the simulated model is asked again.
const SIMULATED_WAIT: f64 = 0.01;

impl Runtime {
    /// How fast to ask in the tier of service: an attempt in a slow one may take longer, unless the config says how long.
    pub fn limits_in_tier(&self) -> Limits {
        let usual = Limits::default().timeout_seconds;
        match self.model.tier {
            Some(tier) if self.limits.timeout_seconds.total_cmp(&usual).is_eq() => {
                Limits { timeout_seconds: tier.timeout_seconds(), ..self.limits }
            }
            _ => self.limits,
        }
    }

    /// There is no reason to wait for the simulated model, whatever the settings say about a real
    /// one.
    pub(crate) fn without_needless_waits(&mut self) {
        if self.model.kind == ModelKind::Simulated {
            self.retry.base_seconds = self.retry.base_seconds.min(SIMULATED_WAIT);
        }
    }

    /// Checks the settings; `group` is where the config has the model's.
    ///
    /// # Errors
    /// The first invalid setting.
    pub fn check(&self, group: &str) -> Result<(), ConfigProblem> {
        let Runtime { model, limits, retry, limits_follow: _ } = self;
        limits
            .check()
            .map_err(|e| ConfigProblem::new(&format!("limits.{}", e.field), e.to_string()))?;
        retry
            .check()
            .map_err(|e| ConfigProblem::new(&format!("retry.{}", e.field), e.to_string()))?;
        model.check(group)
    }
}
