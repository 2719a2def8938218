//! Finds invalid values in a config.

use std::collections::BTreeSet;

use super::avatars::AVATARS;
use super::config::{Config, PlayerConfig};
use retold_study::config::{ConfigProblem, figure, names_folder, within};

fn wrong(key: &str, message: impl Into<String>) -> ConfigProblem {
    ConfigProblem::new(key, message)
}

/// Checks every value of a config for a new run.
pub(super) fn check(config: &Config) -> Result<(), ConfigProblem> {
    check_values(config)?;
    // Some original runs had both, with one array of units for the two: its meaning would be
    // unknown.
    if config.punishment_enabled && config.reward_enabled {
        let message = "not together with punishment_enabled: an answer has one number of units for \
                       each player, which cannot be both";
        return Err(wrong("reward_enabled", message));
    }
    Ok(())
}

/// Checks every value by itself, also for original runs.
pub(crate) fn check_values(config: &Config) -> Result<(), ConfigProblem> {
    names_folder("experiment_id", &config.experiment_id)?;
    ranges(config)?;
    if let Some(multiplier) = config.multiplier {
        let product = config.multiplier();
        if (multiplier - product).abs() > 1e-9 {
            let message = format!(
                "it is mpcr x group_size = {} x {} = {}, not {}",
                figure(config.mpcr),
                config.group_size,
                figure(product),
                figure(multiplier)
            );
            return Err(wrong("multiplier", message));
        }
    }
    for (key, enabled, cost) in [
        ("punishment", config.punishment_enabled, config.punishment_cost()),
        ("reward", config.reward_enabled, config.reward_cost()),
    ] {
        if enabled && cost.is_none() {
            let message = format!("{key} has a price: give {key}_cost or peer_incentive_cost");
            return Err(wrong(&format!("{key}_enabled"), message));
        }
    }
    if config.llm_model.trim().is_empty() {
        return Err(wrong("llm_model", "a model has a name"));
    }
    if !(1..=2).contains(&config.parser_version) {
        let message = format!("the parsers have versions 1 and 2, not {}", config.parser_version);
        return Err(wrong("parser_version", message));
    }
    if config.reasoning.embedding_model.as_ref().is_some_and(|model| model.trim().is_empty()) {
        return Err(wrong("reasoning.embedding_model", "a model has a name"));
    }
    players(config)?;
    avatars(config)
}

/// Checks the numbers of repetitions and players. Nothing else checks these numbers in recorded
/// settings.
pub(crate) fn check_counts(config: &Config) -> Result<(), ConfigProblem> {
    within(&[
        ("games", Some(config.games.into()), 1.0, 1000.0),
        ("group_size", Some(config.group_size.into()), 2.0, 20.0),
        ("game_length", Some(config.game_length.into()), 1.0, 30.0),
        ("endowment", Some(config.endowment.into()), 1.0, 1e6),
        ("max_parse_retries", Some(config.max_parse_retries.into()), 0.0, 100.0),
        ("max_message_chars", Some(config.max_message_chars as f64), 1.0, 1e6),
        ("reasoning.max_clusters", Some(config.reasoning.max_clusters.into()), 1.0, 100.0),
    ])
}

fn ranges(config: &Config) -> Result<(), ConfigProblem> {
    check_counts(config)?;
    within(&[
        ("mpcr", Some(config.mpcr), 0.06, 0.7),
        ("peer_incentive_cost", config.peer_incentive_cost, 0.0, 1000.0),
        ("punishment_cost", config.punishment_cost, 0.0, 1000.0),
        ("reward_cost", config.reward_cost, 0.0, 1000.0),
        ("punishment_impact", Some(config.punishment_impact), 0.0, 1000.0),
        ("reward_impact", Some(config.reward_impact), 0.0, 1000.0),
        ("llm_temperature", config.llm_temperature, 0.0, 2.0),
        ("max_tokens", config.max_tokens.map(f64::from), 1.0, 1e6),
    ])
}

fn players(config: &Config) -> Result<(), ConfigProblem> {
    let (named, size) = (config.players.len(), config.group_size);
    if named > size as usize {
        return Err(wrong("players", format!("{named} players in a group of {size}")));
    }
    for (number, player) in config.players.iter().enumerate() {
        let PlayerConfig { llm_model, llm_temperature, persona } = player;
        let wrong =
            |key: &str, message: String| wrong(&format!("players[{number}].{key}"), message);
        let empty = |text: &Option<String>| text.as_ref().is_some_and(|t| t.trim().is_empty());
        if empty(llm_model) {
            return Err(wrong("llm_model", "a model has a name".to_owned()));
        }
        if empty(persona) {
            let message = "a persona has words; leave the key out for a player without one";
            return Err(wrong("persona", message.to_owned()));
        }
        if let Some(temperature) = llm_temperature.filter(|t| !(0.0..=2.0).contains(t)) {
            return Err(wrong(
                "llm_temperature",
                format!("must be from 0 to 2, not {}", figure(temperature)),
            ));
        }
    }
    Ok(())
}

fn avatars(config: &Config) -> Result<(), ConfigProblem> {
    let Some(avatars) = &config.avatars else {
        return Ok(());
    };
    let (size, games) = (config.group_size as usize, config.games as usize);
    if avatars.len() != size && avatars.len() != size * games {
        let of_all = match games {
            1 => String::new(),
            _ => format!("; {} would be those of all {games} games", size * games),
        };
        let message = format!("{} avatars for {size} players{of_all}", avatars.len());
        return Err(wrong("avatars", message));
    }
    let mut seen = BTreeSet::new();
    for (at, avatar) in avatars.iter().enumerate() {
        if at % size == 0 {
            seen.clear();
        }
        if avatar.is_empty() || !avatar.chars().all(char::is_alphanumeric) {
            let example = AVATARS[0];
            let message = format!("an avatar is one word, such as {example}, not {avatar:?}");
            return Err(wrong("avatars", message));
        }
        if !seen.insert(avatar.to_lowercase()) {
            return Err(wrong("avatars", format!("{avatar:?} is there twice")));
        }
    }
    Ok(())
}
