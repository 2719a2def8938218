//! From a config file to settings that hold everything.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::NAME;
use super::check::check;
use super::config::Config;
use super::experiment::PublicGoods;
use super::prompts::built_in;
use super::settings::Settings;
use retold_study::config::{
    ConfigError, Runtime, Wrong, load as load_yaml, prompts, with_overrides,
};
use retold_study::edition::Edition;
use retold_study::study::{Study, StudySettings};

/// Reads a config file and the templates it names. Paths in it are relative to it, or else to the
/// working directory.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
    let config: Config = with_overrides(load_yaml(path, text)?, overrides)?;
    let wrong = |wrong: Wrong| wrong.at(path);
    if let Some(other) = config.experiment.as_ref().filter(|name| *name != NAME) {
        let message = format!("this is read as {NAME}, and it says {other:?}");
        return Err(wrong(Wrong::new("experiment", message)));
    }
    check(&config).map_err(wrong)?;
    let prompts = prompts(path, config.prompts.as_deref(), built_in())?;
    let seed = config.seed;
    let runtime =
        Runtime { model: config.model.clone(), limits: config.limits, retry: config.retry };
    let edition = Edition::NEWEST;
    let settings = Settings { edition, config: config.without_runtime(), prompts };
    // What cannot be executed is refused before anything is recorded: every prompt is tried out.
    PublicGoods::new(settings.clone())
        .and_then(|game| game.rehearse())
        .map_err(|message| wrong(Wrong::new("prompts", message)))?;
    study(seed, &settings, runtime).map_err(|message| wrong(Wrong::new("settings", message)))
}

/// Checks the settings of a run that a config does not make, as a config is checked.
///
/// # Errors
/// The first value that makes no sense, with its key.
pub fn check_settings(settings: &Value) -> Result<(), String> {
    let settings = Settings::deserialize(settings).map_err(|e| e.to_string())?;
    check(&settings.config).map_err(|wrong| wrong.to_string())
}

/// A run about to be recorded.
pub(super) fn study(seed: u64, settings: &Settings, runtime: Runtime) -> Result<Study, String> {
    let experiment = serde_json::to_value(settings).map_err(|e| e.to_string())?;
    Ok(Study { experiment: NAME.to_owned(), seed, settings: StudySettings { experiment, runtime } })
}
