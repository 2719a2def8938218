//! From a config file to complete settings.

use super::NAME;
use super::config::{Config, Settings};
use super::prompts::built_in;
use retold_study::config::{ConfigError, ConfigFile, Runtime};
use retold_study::study::Study;

/// The version of the parsers for new runs.
const LATEST: u32 = 2;

/// Reads a config file and everything it names.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let mut config: Config = file.read(NAME)?;
    // Runs without it are older, and used version 1.
    config.parser_version = config.parser_version.or(Some(LATEST));
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
