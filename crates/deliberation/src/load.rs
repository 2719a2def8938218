//! From a config file to complete settings.

use super::NAME;
use super::check::check;
use super::config::Config;
use super::personas::{collection, source_key};
use super::prompts::built_in;
use super::settings::Settings;
use retold::model::{Limits, RetryPolicy};
use retold_study::REMARKS;
use retold_study::config::{ConfigError, ConfigFile, ModelKind, Runtime};
use retold_study::edition::Edition;
use retold_study::study::Study;

/// Reads a config file and everything it names.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let config: Config = file.read(NAME)?;
    // Checked before the given number of personas is drawn.
    check(&config).map_err(|wrong| wrong.at(file.path))?;
    warn_of_legacy(&config);
    // Without a seed, 0 is recorded and reported.
    let seed = config.random_seed.unwrap_or(0);
    let prompts = file.prompts(config.prompts.as_deref(), built_in())?;
    // Fetching comes later: reading a config does not open connections.
    let personas = match &config.personas_url {
        Some(_) => Vec::new(),
        None => collection(file.path, &config)
            .and_then(|collection| collection.warned().draw(config.participants(), seed))
            .map_err(|e| file.wrong(source_key(&config), e.to_string()))?,
    };
    let runtime = runtime(&config);
    let (edition, config) = (Edition::NEWEST, config.without_runtime());
    let settings = Settings { edition, config, prompts, personas, pool: None, original: None };
    Ok(Study::new(NAME, seed, settings, runtime))
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

/// Which model answers, and how fast. There is no reason to slow down the simulated model, so it
/// does not wait.
fn runtime(config: &Config) -> Runtime {
    let limits = config.limits.unwrap_or_else(|| match config.provider.kind.api() {
        Some(_) => Limits { min_interval_seconds: config.api_sleep_seconds, ..Limits::default() },
        None => Limits { concurrency: 64, ..Limits::default() },
    });
    let retry = RetryPolicy {
        max_retries: config.max_api_retries,
        base_seconds: match config.provider.kind {
            ModelKind::Simulated => config.api_retry_base_seconds.min(0.01),
            ModelKind::Scripted
            | ModelKind::Openai
            | ModelKind::Anthropic
            | ModelKind::Gemini
            | ModelKind::Responses => config.api_retry_base_seconds,
        },
        ..RetryPolicy::default()
    };
    Runtime { model: config.provider.clone(), limits, retry }
}
