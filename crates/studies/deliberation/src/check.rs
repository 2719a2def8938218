//! Finds invalid values in a config.

use std::collections::BTreeSet;

use super::config::Config;
use super::opposition;
use retold::fetch::{PublicUrl, PublicUrlError};
use retold::parse::vote::comparable;
use retold_study::config::{ConfigProblem, figure, names_folder, within};

fn wrong(key: &str, message: impl Into<String>) -> ConfigProblem {
    ConfigProblem::new(key, message)
}

/// Checks every value.
pub(super) fn check(config: &Config) -> Result<(), ConfigProblem> {
    names_folder("pilot_id", &config.pilot_id)?;
    options(config)?;
    if let Some(seed) = config.random_seed.filter(|seed| *seed > 1 << 53) {
        return Err(wrong("random_seed", format!("must be at most 2^53, not {seed}")));
    }
    if let Some(url) = &config.personas_url {
        url.parse::<PublicUrl>().map_err(|error| match error {
            PublicUrlError::MayHaveKey => wrong(
                "personas_url",
                format!("{error}, and configs are recorded: fetch the file by other means and name it as personas_file"),
            ),
            error => wrong("personas_url", error.to_string()),
        })?;
        if config.personas_file.is_some() {
            return Err(wrong("personas_url", "personas come from a file or a URL, not both"));
        }
    }
    let file = config.personas_file.as_deref().and_then(|file| file.to_str()).unwrap_or("");
    if file.starts_with("http://") || file.starts_with("https://") {
        let message = "this is a URL, not a file: personas_url is the key for it";
        return Err(wrong("personas_file", message));
    }
    check_counts(config)?;
    within(&[
        ("min_responses_for_threshold", Some(config.min_responses_for_threshold.into()), 0.0, 1e9),
        ("max_api_retries", Some(config.max_api_retries as f64), 0.0, 1000.0),
        ("api_sleep_seconds", Some(config.api_sleep_seconds), 0.0, 86_400.0),
        ("api_retry_base_seconds", Some(config.api_retry_base_seconds), 0.0, 86_400.0),
    ])?;
    let threshold = config.disagreement_threshold;
    if !(threshold > 0.0 && threshold <= 1.0) {
        let message = format!("a share above 0, at most 1, not {}", figure(threshold));
        return Err(wrong("disagreement_threshold", message));
    }
    for (key, value) in [("model", &config.model), ("embedding_model", &config.embedding_model)] {
        if value.trim().is_empty() {
            return Err(wrong(key, "a model has a name"));
        }
    }
    if let Some(temperature) = config.temperature.filter(|t| !(0.0..=2.0).contains(t)) {
        return Err(wrong(
            "temperature",
            format!("must be from 0 to 2, not {}", figure(temperature)),
        ));
    }
    mapping(config)
}

/// Checks the numbers of repetitions and participants. Nothing else checks these numbers in
/// recorded settings.
pub(super) fn check_counts(config: &Config) -> Result<(), ConfigProblem> {
    within(&[
        (
            "participants_per_condition",
            Some(config.participants_per_condition.into()),
            1.0,
            100_000.0,
        ),
        (
            "max_clarification_exchanges",
            Some(config.max_clarification_exchanges.into()),
            1.0,
            100.0,
        ),
        ("max_socratic_exchanges", Some(config.max_socratic_exchanges.into()), 1.0, 100.0),
        ("max_clusters_per_option", Some(config.max_clusters_per_option.into()), 1.0, 100.0),
        ("max_parse_retries", Some(config.max_parse_retries.into()), 0.0, 100.0),
    ])
}

fn options(config: &Config) -> Result<(), ConfigProblem> {
    let options = &config.topic.options;
    if options.len() < 2 {
        let message = format!("must have at least 2 options, not {}", options.len());
        return Err(wrong("topic.options", message));
    }
    let mut seen = BTreeSet::new();
    for (number, option) in options.iter().enumerate() {
        let key = format!("topic.options[{number}]");
        if option.trim().is_empty() || option.contains('\n') {
            let message = format!("an option is one line of text, not {option:?}");
            return Err(wrong(&key, message));
        }
        // Options that a parser could not distinguish are the same.
        if !seen.insert(comparable(option)) {
            let message = format!("{option:?} is there twice (case and punctuation do not count)");
            return Err(wrong(&key, message));
        }
    }
    if config.topic.description.trim().is_empty() {
        return Err(wrong(
            "topic.description",
            "the participants need to know what they are deciding about",
        ));
    }
    Ok(())
}

fn mapping(config: &Config) -> Result<(), ConfigProblem> {
    let method = &config.opposition_method;
    if opposition::method(method).is_none() {
        let known = opposition::METHODS.iter().map(|m| m.name()).collect::<Vec<_>>().join(", ");
        let message = format!("there is no method {method:?}; the methods are {known}");
        return Err(wrong("opposition_method", message));
    }
    let key = "opposition_mapping";
    let Some(mapping) = &config.opposition_mapping else {
        if method == opposition::PREDEFINED {
            return Err(wrong("opposition_method", "predefined needs an opposition_mapping"));
        }
        return Ok(());
    };
    let known = |option: &String| config.topic.options.contains(option);
    for (option, opposite) in mapping {
        let key = format!("{key}.{option}");
        if let Some(unknown) = [option, opposite].into_iter().find(|o| !known(o)) {
            return Err(wrong(&key, format!("{unknown:?} is not one of the options")));
        }
        if option == opposite {
            return Err(wrong(&key, format!("{option:?} cannot oppose itself")));
        }
    }
    match config.topic.options.iter().find(|o| !mapping.contains_key(*o)) {
        Some(missing) => Err(wrong(key, format!("it does not say what opposes {missing:?}"))),
        None => Ok(()),
    }
}
