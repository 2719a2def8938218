//! From a config file to settings that hold everything.

use std::path::Path;

use super::NAME;
use super::check::check;
use super::config::{Config, Settings};
use super::experiment::Adventure;
use super::prompts::built_in;
use retold_study::config::{
    ConfigError, Runtime, Wrong, load as load_yaml, prompts, with_overrides,
};
use retold_study::study::{Study, StudySettings};

/// The version of the parsers for new runs.
const LATEST: u32 = 2;

/// Reads a config file and everything it names. Paths in it are relative to it, or else to the
/// working directory.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
    let mut config: Config = with_overrides(load_yaml(path, text)?, overrides)?;
    // Runs without it are older, and were read by version 1.
    config.parser_version = config.parser_version.or(Some(LATEST));
    let value = |key: &str, message: String| Wrong::new(key, message).at(path);
    if let Some(other) = config.experiment.as_ref().filter(|name| *name != NAME) {
        return Err(value("experiment", format!("this is read as {NAME}, and it says {other:?}")));
    }
    check(&config).map_err(|wrong| wrong.at(path))?;
    let prompts = prompts(path, config.prompts.as_deref(), built_in())?;
    let seed = config.seed;
    let runtime =
        Runtime { model: config.model.clone(), limits: config.limits, retry: config.retry };
    let settings = Settings { config: config.without_runtime(), prompts };
    let experiment = serde_json::to_value(&settings);
    let experiment = experiment.map_err(|e| value("settings", e.to_string()))?;
    // What cannot be executed is refused before anything is recorded.
    Adventure::new(settings).map_err(|e| value("prompts", e))?;
    Ok(Study { experiment: NAME.to_owned(), seed, settings: StudySettings { experiment, runtime } })
}
