//! From a config file to settings that hold everything.

use std::path::{Path, PathBuf};

use super::NAME;
use super::check::{Wrong, check};
use super::config::{Config, Settings};
use super::experiment::Adventure;
use super::prompts::{NAMES, built_in};
use crate::config::{ConfigError, Runtime, load as load_yaml, read_text, with_overrides};
use crate::experiments::registry::{Study, StudySettings};

/// Reads a config file and everything it names. Paths in it are relative to it, or else to the
/// working directory.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
    let config: Config = with_overrides(load_yaml(path, text)?, overrides)?;
    let value = |key: &str, message: String| ConfigError::Value {
        path: path.display().to_string(),
        key: key.to_owned(),
        message,
    };
    if let Some(other) = config.experiment.as_ref().filter(|name| *name != NAME) {
        return Err(value("experiment", format!("this is read as {NAME}, and it says {other:?}")));
    }
    check(&config).map_err(|Wrong { key, message }| value(&key, message))?;
    let mut prompts = built_in();
    if let Some(folder) = &config.prompts {
        let folder = beside(path, folder);
        let file = |name: &str| folder.join(format!("{name}.txt"));
        if !NAMES.iter().any(|name| file(name).exists()) {
            let message = format!("no template in it; the templates are {}", NAMES.join(", "));
            return Err(value("prompts", message));
        }
        for prompt in prompts.iter_mut().filter(|prompt| file(&prompt.name).exists()) {
            prompt.text = read_text(&file(&prompt.name))?;
        }
    }
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

/// A path in a config: relative to the config if there is such a folder, else as it is.
fn beside(config: &Path, path: &Path) -> PathBuf {
    let near = config.parent().map(|folder| folder.join(path)).filter(|near| near.exists());
    near.unwrap_or_else(|| path.to_owned())
}
