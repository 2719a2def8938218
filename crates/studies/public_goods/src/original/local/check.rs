//! Finds invalid values in the settings of such a run. There are no configs for it, but a fork may
//! change the settings.

use super::settings::LocalSettings;
use crate::{Config, check_values};
use retold_study::config::{ConfigProblem, figure, within};

/// Checks the settings of a fork.
///
/// # Errors
/// The first invalid value, with its key.
pub(crate) fn check(settings: &LocalSettings) -> Result<(), ConfigProblem> {
    let LocalSettings { config, multiplier, top_p, actions_max_tokens, games, .. } = settings;
    // The other program has no range for it.
    let known = Config { mpcr: 0.5, multiplier: None, ..config.clone() };
    check_values(&known).map_err(|ConfigProblem { key, message }| {
        ConfigProblem::new(&format!("config.{key}"), message)
    })?;
    within(&[
        ("multiplier", Some(*multiplier), 0.0, 1000.0),
        ("top_p", *top_p, 0.0, 1.0),
        ("actions_max_tokens", actions_max_tokens.map(f64::from), 1.0, 1e6),
    ])?;
    let players = games.iter().map(|game| game.players.len()).max().unwrap_or(0);
    let rounds = settings.asked.iter().map(|asked| asked.turn.round).max().unwrap_or(0);
    for (key, value, there) in [
        ("games", config.games as usize, games.len()),
        ("group_size", config.group_size as usize, players),
    ] {
        if value != there {
            let message = format!("the recorded games make it {there}, not {value}");
            return Err(ConfigProblem::new(&format!("config.{key}"), message));
        }
    }
    if config.game_length < rounds {
        let message =
            format!("the recorded games have {rounds} rounds, not {}", config.game_length);
        return Err(ConfigProblem::new("config.game_length", message));
    }
    let product = config.mpcr * f64::from(config.group_size);
    if (multiplier - product).abs() > 1e-9 || product.is_nan() {
        let message = format!(
            "it is config.mpcr x config.group_size = {} x {} = {}, not {}: set both",
            figure(config.mpcr),
            config.group_size,
            figure(product),
            figure(*multiplier)
        );
        return Err(ConfigProblem::new("multiplier", message));
    }
    Ok(())
}
