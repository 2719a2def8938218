//! From a config file to complete settings.

use super::NAME;
use super::config::{Config, Settings};
use super::prompts::built_in;
use retold_study::config::{ConfigError, ConfigFile, Runtime};
use retold_study::study::Study;

/// Reads a config file and everything it names.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let config: Config = file.read(NAME)?;
    let prompts = file.prompts(config.prompts.as_deref(), built_in())?;
    let seed = config.seed;
    let runtime = Runtime {
        model: config.model.clone().unwrap_or_default(),
        limits: config.limits.unwrap_or_default(),
        retry: config.retry.unwrap_or_default(),
        ..Runtime::default()
    };
    let settings = Settings { config: config.without_runtime(), prompts, shard: None };
    Ok(Study::new(NAME, seed, settings, runtime))
}
