//! Changes of which model answers, how fast it is asked and when it is tried again: `KEY=VALUE`, after the config was read.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::common::{ModelConfig, Runtime};
use super::error::ConfigError;
use super::named::{AnswersFile, BaseUrl, KeyVariable};
use super::yaml::with_overrides;
use retold::explain::explain;
use retold::model::{Limits, NamedUrl, RetrySettings};
use retold::run::apply_patch;

/// The limits that follow from a study's settings if none of them is given.
const PACE: [&str; 3] = ["concurrency", "per_minute", "min_interval_seconds"];

impl Runtime {
    /// Whether limits, as somebody gave them, say how fast to ask.
    pub fn is_pace_given(limits: &Value) -> bool {
        PACE.iter().any(|limit| !limits[limit].is_null())
    }

    /// Changes the model; `group` is where its config has it.
    pub(crate) fn change_model(&mut self, group: &str, change: &str) -> Result<(), ConfigError> {
        let GroupChange { given, whole } = GroupChange::new(group, &self.model, change)?;
        let model = ModelConfig::deserialize(whole).map_err(|e| wrong(change, &e))?;
        self.model = model.named_by_change(&self.model, &given).map_err(|wrong| {
            // The value may be a key.
            let setting = change.split('=').next().unwrap_or(change);
            ConfigError::of_override(setting, wrong.to_owned())
        })?;
        Ok(())
    }

    /// Changes one of `limits`. Those that followed from other settings stay as they are if the pace is given.
    pub(crate) fn change_limits(&mut self, change: &str) -> Result<(), ConfigError> {
        let GroupChange { given, whole } = GroupChange::new("limits", &self.limits, change)?;
        self.limits = Limits::deserialize(whole).map_err(|e| wrong(change, &e))?;
        self.limits_follow &= !Self::is_pace_given(&given);
        Ok(())
    }

    /// Changes `retry`, or something in it.
    pub(crate) fn change_retry(&mut self, change: &str) -> Result<(), ConfigError> {
        let GroupChange { whole, .. } = GroupChange::new("retry", &self.retry, change)?;
        let settings = RetrySettings::deserialize(whole).map_err(|e| wrong(change, &e))?;
        self.retry = settings.with_defaults(self.retry);
        Ok(())
    }
}

fn wrong(change: &str, error: &serde_json::Error) -> ConfigError {
    ConfigError::of_override(change, explain(&error.to_string()))
}

/// A group of a config in which something changes.
struct GroupChange {
    /// The changed keys alone.
    given: Value,
    /// The group with the changes.
    whole: Value,
}

impl GroupChange {
    fn new(group: &str, before: &impl Serialize, change: &str) -> Result<Self, ConfigError> {
        let mut config = with_overrides(json!({ group: null }), &[change.to_owned()])?;
        let given = config.get_mut(group).map(Value::take).unwrap_or_default();
        let mut whole = serde_json::to_value(before).map_err(|e| wrong(change, &e))?;
        apply_patch(&mut whole, &given);
        Ok(GroupChange { given, whole })
    }
}

impl ModelConfig {
    /// Marks the given keys as the user's choice. The rest has the marks that it had before.
    fn named_by_change(
        mut self,
        before: &ModelConfig,
        given: &Value,
    ) -> Result<Self, &'static str> {
        let named = |given: &Value| given["base_url"].as_str().map(NamedUrl::from_user);
        self.base_url = match named(given) {
            Some(url) => BaseUrl::Named(url),
            // Another provider is at its own server.
            None if self.kind.api() != before.kind.api() => BaseUrl::BuiltIn,
            None => before.base_url.clone(),
        };
        for (name, endpoint) in &mut self.endpoints {
            let given = &given["endpoints"][name.as_str()];
            match (named(given), before.endpoints.get(name)) {
                // A key variable that was named for another server is not used for this one.
                (Some(url), _) => endpoint.base_url = BaseUrl::Named(url),
                (None, Some(before)) => {
                    (endpoint.base_url, endpoint.key) =
                        (before.base_url.clone(), before.key.clone());
                }
                (None, None) => {}
            }
            if let Some(key) = given["key"].as_str() {
                endpoint.key = KeyVariable::from_name(key)?;
            }
        }
        self.answers = match (given["answers"].as_str(), &before.answers) {
            // A config that says the same is read first, and its paths are relative to it.
            (Some(path), Some(named @ AnswersFile::Named(file))) if file.ends_with(path) => {
                Some(named.clone())
            }
            (Some(path), _) => Some(AnswersFile::Named(path.into())),
            (None, before) => before.clone(),
        };
        Ok(self)
    }

    /// The model of a run that is continued with this config: a value that the config names is the user's choice where the
    /// run has the same, and no more, because a run stays with its servers.
    pub fn continuing(&self, run: &ModelConfig) -> ModelConfig {
        let is_same = |one: &BaseUrl, other: &BaseUrl| json!(one) == json!(other);
        let mut model = run.clone();
        if matches!(self.base_url, BaseUrl::Named(_)) && is_same(&self.base_url, &run.base_url) {
            model.base_url.clone_from(&self.base_url);
        }
        for (name, endpoint) in &mut model.endpoints {
            let named = self.endpoints.get(name);
            if let Some(named) = named.filter(|it| is_same(&it.base_url, &endpoint.base_url)) {
                *endpoint = named.clone();
            }
        }
        let path = |answers: &Option<AnswersFile>| answers.as_ref().map(|it| it.path().to_owned());
        if path(&self.answers) == path(&run.answers) {
            model.answers.clone_from(&self.answers);
        }
        (model.rates, model.latency_ms) = (self.rates.clone(), self.latency_ms);
        model
    }
}
