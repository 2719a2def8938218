//! From a config file to complete settings.

use super::NAME;
use super::config::{Config, ModelShare};
use super::experiment::version;
use super::prompts::built_in;
use super::settings::Settings;
use crate::parse::ACTION;
use retold_study::config::{ConfigError, ConfigFile, Runtime};
use retold_study::study::Study;

/// Reads a config file and everything it names.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let config: Config = file.read(NAME)?;
    let prompts = file.prompts(config.prompts.as_deref(), built_in())?;
    let version = version(&config.parser).map_err(|e| e.at(file.path))?;
    let models = if config.models.is_empty() {
        vec![ModelShare { model: config.request.model.clone(), share: 1.0 }]
    } else {
        config.models
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
    let runtime = Runtime {
        model: config.model,
        limits: config.limits,
        retry: config.retry,
        ..Runtime::default()
    };
    Ok(Study::new(NAME, config.seed, settings, runtime))
}
