//! From a config file to settings that hold everything.

use std::path::{Path, PathBuf};

use super::check::check;
use super::config::{Config, ModelShare};
use super::experiment::Society;
use super::prompts::{NAMES, PromptText, built_in};
use super::settings::Settings;
use super::{NAME, NAME_OF_PARSER};
use crate::config::{ConfigError, Runtime, load as load_yaml, read_text, with_overrides};
use crate::experiments::registry::{Study, StudySettings};
use crate::parse::registry;

/// Reads a config file and everything it names. Paths in it are relative to it, or else to the
/// working directory.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(path: &Path, text: &str, overrides: &[String]) -> Result<Study, ConfigError> {
    let config: Config = with_overrides(load_yaml(path, text)?, overrides)?;
    let wrong = |key: &str, message: String| ConfigError::Value {
        path: path.display().to_string(),
        key: key.to_owned(),
        message,
    };
    if let Some(other) = config.experiment.as_ref().filter(|name| *name != NAME) {
        return Err(wrong("experiment", format!("this is read as {NAME}, and it says {other:?}")));
    }
    check(&config).map_err(|(key, message)| wrong(&key, message))?;
    let prompts = match &config.prompts {
        None => built_in(),
        Some(folder) => with_folder(path, folder)?,
    };
    let (_, version) =
        registry::resolve(&config.parser).map_err(|e| wrong("parser", e.to_string()))?;
    let models = match config.models.is_empty() {
        true => vec![ModelShare { model: config.request.model.clone(), share: 1.0 }],
        false => config.models,
    };
    let settings = Settings {
        agents: config.agents,
        days: config.days,
        personalities: config.personalities,
        models,
        parser: format!("{NAME_OF_PARSER}@{version}"),
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

/// The built-in templates, with those of a folder in their place.
fn with_folder(config: &Path, folder: &Path) -> Result<Vec<PromptText>, ConfigError> {
    let near: Option<PathBuf> = config.parent().map(|parent| parent.join(folder));
    let folder = near.filter(|near| near.exists()).unwrap_or_else(|| folder.to_owned());
    let mut prompts = built_in();
    let mut found = false;
    for prompt in &mut prompts {
        let file = folder.join(format!("{}.txt", prompt.name));
        if file.exists() {
            prompt.text = read_text(&file)?;
            found = true;
        }
    }
    if found {
        return Ok(prompts);
    }
    Err(ConfigError::Value {
        path: config.display().to_string(),
        key: "prompts".to_owned(),
        message: format!("no template in it; the templates are {}", NAMES.join(", ")),
    })
}
