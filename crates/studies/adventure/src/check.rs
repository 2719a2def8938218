//! Finds invalid values in a config.

use std::collections::BTreeSet;

use super::config::{Config, ForcedChoice};
use super::policy::{HUMAN, Policy};
use retold::parse::vote::comparable;
use retold_study::config::{ConfigProblem, within};

fn wrong(key: &str, message: impl Into<String>) -> ConfigProblem {
    ConfigProblem::new(key, message)
}

/// Checks every value.
pub(super) fn check(config: &Config) -> Result<(), ConfigProblem> {
    within(&[
        ("games", Some(config.games.into()), 1.0, 1_000.0),
        ("turns", Some(config.turns.into()), 1.0, 200.0),
        ("memory", Some(config.memory.into()), 0.0, 200.0),
        ("max_parse_retries", Some(config.max_parse_retries.into()), 0.0, 100.0),
    ])?;
    let texts = [
        ("opening", &config.opening, "the game master needs to know how the story begins"),
        ("hero", &config.hero, "say who the player is"),
        ("location", &config.location, "say where it begins"),
    ];
    if let Some((key, _, message)) = texts.iter().find(|(_, text, _)| text.trim().is_empty()) {
        return Err(wrong(key, *message));
    }
    if let Some(item) = config.inventory.iter().find(|item| !is_line(item)) {
        return Err(wrong("inventory", format!("an item is one line of text, not {item:?}")));
    }
    if config.player == Policy::Human && config.games != 1 {
        let message = format!("a human plays one game at a time, not {}", config.games);
        return Err(wrong("games", message));
    }
    actions(&config.default_actions)?;
    choices(config)?;
    config.request.check()?;
    let Some(player) = &config.player_request else { return Ok(()) };
    player
        .check()
        .map_err(|ConfigProblem { key, message }| wrong(&format!("player_{key}"), message))?;
    if player.model == HUMAN {
        Err(wrong("player_request.model", "if a person plays, write \"player: human\""))
    } else {
        Ok(())
    }
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains('\n')
}

fn actions(actions: &[String]) -> Result<(), ConfigProblem> {
    let key = "default_actions";
    if actions.is_empty() {
        return Err(wrong(
            key,
            "must have at least one action: the player must be able to do something",
        ));
    }
    let mut seen = BTreeSet::from([Vec::new()]);
    for action in actions {
        if !is_line(action) || comparable(action).is_empty() {
            return Err(wrong(key, format!("an action is one line of text, not {action:?}")));
        }
        // Actions that a parser could not distinguish are the same.
        if !seen.insert(comparable(action)) {
            let message = format!("{action:?} is there twice (case and punctuation do not count)");
            return Err(wrong(key, message));
        }
    }
    Ok(())
}

fn choices(config: &Config) -> Result<(), ConfigProblem> {
    let mut seen = BTreeSet::new();
    for ForcedChoice { game, turn, choose } in config.choices.iter().copied() {
        let here = format!("game {game}, turn {turn}");
        if !(1..=config.games).contains(&game) {
            let message = format!("{here}: there are games 1 to {}", config.games);
            return Err(wrong("choices", message));
        }
        if turn == 0 || turn >= config.turns {
            let most = config.turns - 1;
            let message = format!("{here}: a player chooses at turns 1 to {most}");
            return Err(wrong("choices", message));
        }
        if choose == 0 {
            return Err(wrong("choices", format!("{here}: options count from 1")));
        }
        if !seen.insert((game, turn)) {
            return Err(wrong("choices", format!("{here} is there twice")));
        }
    }
    Ok(())
}
