//! The output files of the games.

use serde_json::json;

use super::offer::DecisionPoint;
use super::state::{AdventureGame, Games, JournalEntry};
use retold::run::{OutputError, OutputFile};
use retold_study::table::Table;

/// `turns.csv`, `inventory.csv`, `decisions.csv`, `characters.csv` and `journal.json`.
pub(super) fn outputs(state: &Games) -> Result<Vec<OutputFile>, OutputError> {
    let tables = [turns(state), inventory(state), decisions(state), characters(state)];
    let mut files: Vec<OutputFile> = tables.into_iter().map(OutputFile::from).collect();
    files.push(OutputFile::json("journal.json", &state.games)?);
    Ok(files)
}

fn entries(state: &Games) -> impl Iterator<Item = (&u32, &AdventureGame, &JournalEntry)> {
    let games = state.games.iter();
    games.flat_map(|(number, game)| game.journal.iter().map(move |entry| (number, game, entry)))
}

fn number(value: impl ToString) -> String {
    value.to_string()
}

fn word(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or("").to_owned()
}

/// One row per turn: place, opponent, choice.
fn turns(state: &Games) -> Table {
    let columns = [
        "game", "turn", "location", "opponent", "options", "default_options", "decision", "choice",
        "chosen", "by", "unusable_answers", "story",
    ];
    let mut table = Table::new("turns", &columns);
    for (game, _, entry) in entries(state) {
        table.row([
            number(game),
            number(entry.turn),
            entry.location.clone(),
            entry.opponent.clone().unwrap_or_default(),
            number(entry.offer.options.len()),
            number(entry.offer.default),
            number(entry.offer.decision.is_some()),
            entry.choice.map_or_else(String::new, number),
            entry.chosen_option().map_or_else(String::new, |choice| choice.text.clone()),
            entry.by.map_or_else(String::new, |by| word(&by)),
            number(entry.unusable),
            entry.story.clone(),
        ]);
    }
    table
}

/// One row per change: the items at turn 0, and those that were gained, lost, or should have been
/// lost but were not there.
fn inventory(state: &Games) -> Table {
    let mut table = Table::new("inventory", &["game", "turn", "item", "change"]);
    for (game, own) in &state.games {
        for item in &own.brought {
            table.row([number(game), number(0), item.clone(), "brought".to_owned()]);
        }
        for entry in &own.journal {
            let changes =
                [("lost", &entry.lost), ("gained", &entry.gained), ("not_there", &entry.not_there)];
            for (change, items) in changes {
                for item in items {
                    table.row([number(game), number(entry.turn), item.clone(), change.to_owned()]);
                }
            }
        }
    }
    table
}

/// One row per option of a decision point.
fn decisions(state: &Games) -> Table {
    let columns = [
        "game", "turn", "importance", "prompt", "context", "characters", "option", "text",
        "impact", "tags", "chosen", "by",
    ];
    let mut table = Table::new("decisions", &columns);
    for (game, _, entry) in entries(state) {
        let Some(DecisionPoint { prompt, importance, context, characters }) = &entry.offer.decision
        else {
            continue;
        };
        for (place, option) in (1..).zip(&entry.offer.options) {
            table.row([
                number(game),
                number(entry.turn),
                word(importance),
                prompt.clone(),
                context.clone().unwrap_or_default(),
                characters.join("; "),
                number(place),
                option.text.clone(),
                option.impact.clone().unwrap_or_default(),
                option.tags.join("; "),
                number(entry.choice == Some(place)),
                entry.by.map_or_else(String::new, |by| word(&by)),
            ]);
        }
    }
    table
}

/// One row per character: the hero, and all opponents.
fn characters(state: &Games) -> Table {
    let columns = [
        "game", "role", "name", "speed", "gun_accuracy", "throwing_accuracy", "strength",
        "base_strength", "bravery", "experience",
    ];
    let mut table = Table::new("characters", &columns);
    for (game, own) in &state.games {
        let hero = own.hero.iter().map(|hero| ("hero", hero));
        for (role, character) in hero.chain(own.characters.values().map(|c| ("opponent", c))) {
            let of = &character.attributes;
            let attributes = [
                of.speed, of.gun_accuracy, of.throwing_accuracy, of.strength, of.base_strength,
                of.bravery, of.experience,
            ];
            let names = [number(game), role.to_owned(), character.name.clone()];
            table.row(names.into_iter().chain(attributes.map(number)));
        }
    }
    table
}
