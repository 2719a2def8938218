//! From a config file to settings that hold everything.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::NAME;
use super::check::check;
use super::config::{Config, ModelShare};
use super::experiment::Society;
use super::experiment::version;
use super::prompts::built_in;
use super::settings::Settings;
use crate::parse::ACTION;
use retold_study::config::{
    ConfigError, Runtime, Wrong, load as load_yaml, prompts, with_overrides,
};
use retold_study::study::{Study, StudySettings};

/// Reads a config file and everything it names. Paths in it are relative to it, or else to the
/// working directory.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
    let config: Config = with_overrides(load_yaml(path, text)?, overrides)?;
    let wrong = |key: &str, message: String| Wrong::new(key, message).at(path);
    if let Some(other) = config.experiment.as_ref().filter(|name| *name != NAME) {
        return Err(wrong("experiment", format!("this is read as {NAME}, and it says {other:?}")));
    }
    check(&config).map_err(|(key, message)| wrong(&key, message))?;
    let prompts = prompts(path, config.prompts.as_deref(), built_in())?;
    let version = version(&config.parser).map_err(|e| wrong("parser", e))?;
    let models = match config.models.is_empty() {
        true => vec![ModelShare { model: config.request.model.clone(), share: 1.0 }],
        false => config.models,
    };
    let settings = Settings {
        agents: config.agents,
        days: config.days,
        personalities: config.personalities,
        models,
        parser: format!("{}@{version}", ACTION.name),
        shuffle_actions: config.shuffle_actions,
        rules: config.rules,
        context: config.context,
        prompts,
        request: config.request,
    };
    // What cannot be executed is refused before anything is recorded.
    Society::new(settings.clone()).map_err(|e| wrong("prompts", e))?;
    let experiment = serde_json::to_value(&settings);
    let experiment = experiment.map_err(|e| wrong("settings", e.to_string()))?;
    let runtime = Runtime { model: config.model, limits: config.limits, retry: config.retry };
    let settings = StudySettings { experiment, runtime };
    Ok(Study { experiment: NAME.to_owned(), seed: config.seed, settings })
}

/// Checks the settings of a run that a config does not make, as a config is checked.
///
/// # Errors
/// The first value that makes no sense, with its key.
pub fn check_settings(settings: &Value) -> Result<(), String> {
    let settings = Settings::deserialize(settings).map_err(|e| e.to_string())?;
    check(&settings.into()).map_err(|(key, message)| format!("{key}: {message}"))
}
