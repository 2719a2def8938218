//! From a config file to settings that hold everything.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::NAME;
use super::check::check;
use super::config::Config;
use super::personas::{collection, source_key};
use super::prompts::built_in;
use super::settings::Settings;
use super::tryout::try_out;
use retold::model::{Limits, RetryPolicy};
use retold_study::REMARKS;
use retold_study::config::{
    ConfigError, ModelKind, Runtime, Wrong, load as load_yaml, prompts, with_overrides,
};
use retold_study::edition::Edition;
use retold_study::study::{Study, StudySettings};

/// Reads a config file and everything it names. Paths in it are relative to it, or else to the
/// working directory.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
    let config: Config = with_overrides(load_yaml(path, text)?, overrides)?;
    let wrong = |wrong: Wrong| wrong.at(path);
    if let Some(other) = config.experiment.as_ref().filter(|name| *name != NAME) {
        let message = format!("this is read as {NAME}, and it says {other:?}");
        return Err(value(path, "experiment", message));
    }
    check(&config).map_err(wrong)?;
    warn_of_legacy(&config);
    let seed = config.random_seed.unwrap_or_default();
    let prompts = prompts(path, config.prompts.as_deref(), built_in())?;
    // What is fetched comes later: reading a config opens no connection.
    let personas = match &config.personas_url {
        Some(_) => Vec::new(),
        None => collection(path, &config)
            .and_then(|collection| collection.warned().draw(config.participants(), seed))
            .map_err(|e| value(path, source_key(&config), e.to_string()))?,
    };
    let runtime = runtime(&config);
    let config = config.without_runtime();
    let edition = Edition::NEWEST;
    let settings = Settings { edition, config, prompts, personas, pool: None, original: None };
    // What cannot be executed is refused before anything is recorded.
    try_out(&settings).map_err(|message| value(path, "prompts", message))?;
    let experiment = serde_json::to_value(&settings);
    let experiment = experiment.map_err(|e| value(path, "settings", e.to_string()))?;
    Ok(Study { experiment: NAME.to_owned(), seed, settings: StudySettings { experiment, runtime } })
}

/// Checks the settings of a run that a config does not make, as a config is checked.
///
/// # Errors
/// The first value that makes no sense, with its key.
pub fn check_settings(settings: &Value) -> Result<(), String> {
    let settings = Settings::deserialize(settings).map_err(|e| e.to_string())?;
    check(&settings.config).map_err(|wrong| wrong.to_string())
}

fn warn_of_legacy(config: &Config) {
    if config.arguments_per_option.is_some() {
        tracing::warn!(
            target: REMARKS,
            "arguments_per_option is legacy and has no effect: summaries are made of clusters"
        );
    }
    if config.random_seed.is_none() {
        tracing::info!(target: REMARKS, "random_seed is not given: it is 0");
    }
}

/// Who answers, and how fast. The simulated model has nobody to spare, so it does not wait.
fn runtime(config: &Config) -> Runtime {
    let limits = config.limits.unwrap_or_else(|| match config.provider.kind {
        ModelKind::Openai => {
            Limits { min_interval_seconds: config.api_sleep_seconds, ..Limits::default() }
        }
        ModelKind::Simulated | ModelKind::Scripted => {
            Limits { concurrency: 64, ..Limits::default() }
        }
    });
    let retry = RetryPolicy {
        max_retries: config.max_api_retries,
        base_seconds: match config.provider.kind {
            ModelKind::Simulated => config.api_retry_base_seconds.min(0.01),
            ModelKind::Openai | ModelKind::Scripted => config.api_retry_base_seconds,
        },
        ..RetryPolicy::default()
    };
    Runtime { model: config.provider.clone(), limits, retry }
}

fn value(path: &Path, key: &str, message: String) -> ConfigError {
    ConfigError::Value { path: path.display().to_string(), key: key.to_owned(), message }
}
