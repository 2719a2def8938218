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
use retold_study::study::Study;
use serde_json::Value;

/// Reads a config file and everything it names.
///
/// # Errors
/// [`ConfigError`] with file, line or key.
pub fn load(file: &ConfigFile<'_>) -> Result<Study, ConfigError> {
    let config = file.read::<Config>(NAME)?.with_own_keys();
    // Checked before the given number of personas is drawn.
    check(&config).map_err(|wrong| wrong.at(file.path))?;
    warn_of_legacy(&config);
    let seed = config.random_seed.unwrap_or(0);
    let prompts = file.prompts(config.prompts.as_deref(), built_in())?;
    // Fetching comes later: reading a config does not open connections.
    let personas_file = config.personas_file.as_deref();
    let personas_file = personas_file.map(|named| file.place_of(named)).transpose()?;
    let personas = match &config.personas_url {
        Some(_) => Vec::new(),
        None => collection(personas_file.as_deref(), &config)
            .and_then(|collection| collection.warn().draw(config.participants(), seed))
            .map_err(|e| file.wrong(source_key(&config), e.to_string()))?,
    };
    let given: Value = file.read(NAME)?;
    let runtime = runtime(&config, Runtime::is_pace_given(&given["limits"]));
    let config = config.without_runtime();
    let settings = Settings { config, prompts, personas, pool: None, original: None, shard: None };
    Ok(Study::new(NAME, seed, settings, runtime))
}

fn warn_of_legacy(config: &Config) {
    if config.arguments_per_option.is_some() {
        tracing::warn!(
            target: REMARKS,
            "arguments_per_option is legacy and has no effect: summaries are made of clusters"
        );
    }
}

/// The most calls at once if no server answers them.
const AT_ONCE: usize = 64;

/// Which model answers, and how fast.
fn runtime(config: &Config, is_pace_given: bool) -> Runtime {
    let model = config.provider.clone().unwrap_or_default();
    let (kind, mut limits) = (model.kind, config.limits.unwrap_or_default());
    if !is_pace_given {
        limits.concurrency = at_once(kind);
    }
    let retry = RetryPolicy::default();
    let mut runtime = Runtime { model, limits, retry, limits_follow: !is_pace_given };
    pace(config, &mut runtime, kind);
    runtime
}

fn at_once(kind: ModelKind) -> usize {
    kind.api().map_or(AT_ONCE, |_| Limits::default().concurrency)
}

/// Sets how fast to ask, unless the config or a flag gives it, and when to try again. Only servers
/// need a pause between calls. `before` is the kind of model without the flags.
pub(super) fn pace(config: &Config, runtime: &mut Runtime, before: ModelKind) {
    let Runtime { model, limits, retry, limits_follow } = runtime;
    if *limits_follow {
        if limits.concurrency == at_once(before) {
            limits.concurrency = at_once(model.kind);
        }
        limits.min_interval_seconds = model.kind.api().map_or(0.0, |_| config.api_sleep_seconds);
    }
    retry.max_retries = config.max_api_retries;
    retry.base_seconds = config.api_retry_base_seconds;
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use retold_study::config::ApiKind;

    use super::*;

    /// The limits and the first wait after the file's kind is replaced by another.
    fn paced(overrides: &[&str], kind: ModelKind, flag: Option<usize>) -> (usize, f64, f64) {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../config/deliberation_small.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
        let file =
            ConfigFile { path: &path, text: &text, overrides: &overrides, is_trusted: false };
        let study = load(&file).unwrap();
        let settings = study.settings.experiment.read::<Settings>().unwrap().into_owned();
        let mut runtime = study.settings.runtime;
        runtime.limits.concurrency = flag.unwrap_or(runtime.limits.concurrency);
        let before = std::mem::replace(&mut runtime.model.kind, kind);
        // As a log has it: a fork changes the kind of a recorded run.
        let mut runtime: Runtime =
            serde_json::from_value(serde_json::to_value(runtime).unwrap()).unwrap();
        pace(&settings.config, &mut runtime, before);
        (
            runtime.limits.concurrency,
            runtime.limits.min_interval_seconds,
            runtime.retry.base_seconds,
        )
    }

    #[test]
    fn what_follows_from_the_kind_follows_from_the_last_one() {
        let scripted = ["provider.kind=scripted", "provider.answers=a.jsonl"];
        for file in [&[][..], &scripted] {
            for kind in
                ["openai", "anthropic", "gemini"].map(|name| ModelKind::from_name(name).unwrap())
            {
                assert_eq!(paced(file, kind, None), (8, 3.0, 2.0), "{kind:?}");
                assert_eq!(paced(file, kind, Some(5)), (5, 3.0, 2.0), "a flag of the recorded run");
            }
            assert_eq!(paced(file, ModelKind::Scripted, None), (64, 0.0, 2.0));
        }
        assert_eq!(paced(&["provider.kind=openai"], ModelKind::Scripted, None), (64, 0.0, 2.0));
        let own = ["limits.concurrency=64"];
        assert_eq!(
            paced(&own, ModelKind::Server(ApiKind::default()), None),
            (64, 0.0, 2.0),
            "the config's limits"
        );
    }
}
