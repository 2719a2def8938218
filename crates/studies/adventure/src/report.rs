//! The report on the games at the end.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::json;

use super::facts::{ChoiceMaker, GameEnding};
use super::state::{AdventureGame, Games, JournalEntry};
use retold::run::Report;

/// A single game is shown completely, several by their endings.
pub(super) fn report(state: &Games) -> Report {
    let mut text = String::new();
    if let [game] = state.games.values().collect::<Vec<_>>().as_slice() {
        text = journal(game);
    } else if !state.games.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "game  turns  decisions  items  ends at");
        for (number, game) in &state.games {
            let _ = writeln!(
                text,
                "{number:>4}  {:>5}  {:>9}  {:>5}  {}{}",
                game.journal.len(),
                decisions(game).count(),
                game.inventory.len(),
                game.location,
                failure(game).map_or_else(String::new, |reason| format!(": {reason}"))
            );
        }
    }
    let games: BTreeMap<u32, _> =
        state.games.iter().map(|(number, game)| (*number, summary(game))).collect();
    Report { json: json!({ "games": games }), text, ..Report::default() }
}

/// The story of one game: `1`, or `game/1`.
pub(super) fn story(state: &Games, part: &str) -> Option<Report> {
    let number = part.strip_prefix("game/").unwrap_or(part).parse().ok()?;
    let game = state.games.get(&number)?;
    Some(Report { json: serde_json::json!(game), text: journal(game), ..Report::default() })
}

fn summary(game: &AdventureGame) -> serde_json::Value {
    let mut by_importance: BTreeMap<String, u32> = BTreeMap::new();
    for (_, importance) in decisions(game) {
        *by_importance.entry(importance).or_default() += 1;
    }
    let mut by: BTreeMap<String, u32> = BTreeMap::new();
    for who in game.journal.iter().filter_map(|entry| entry.by) {
        *by.entry(name(who)).or_default() += 1;
    }
    json!({
        "hero": game.name(),
        "turns": game.journal.len(),
        "location": game.location,
        "inventory": game.inventory,
        "fights": game.characters.keys().collect::<Vec<_>>(),
        "decisions": by_importance,
        "choices": by,
        "unusable_answers": game.journal.iter().map(|entry| entry.unusable).sum::<u32>(),
        "ending": game.ending,
    })
}

/// The turns with a decision point, and its importance.
fn decisions(game: &AdventureGame) -> impl Iterator<Item = (&JournalEntry, String)> {
    game.journal.iter().filter_map(|entry| {
        let importance = entry.offer.decision.as_ref()?.importance;
        Some((entry, json!(importance).as_str().unwrap_or("").to_owned()))
    })
}

fn name(by: ChoiceMaker) -> String {
    json!(by).as_str().unwrap_or("").to_owned()
}

fn failure(game: &AdventureGame) -> Option<&str> {
    match &game.ending {
        Some(GameEnding::Failed { reason }) => Some(reason),
        _ => None,
    }
}

/// The journal of a game, and its current state.
fn journal(game: &AdventureGame) -> String {
    let mut text = format!("The adventure of {}\n", game.name());
    for entry in &game.journal {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}. {}\n{}\n", entry.turn, entry.location, entry.story);
        for (what, items) in [("gained", &entry.gained), ("lost", &entry.lost)] {
            if !items.is_empty() {
                let _ = writeln!(text, "  {what}: {}", items.join(", "));
            }
        }
        if let Some(opponent) = &entry.opponent {
            let _ = writeln!(text, "  fight: {opponent}");
        }
        if let (Some(choice), Some(by)) = (entry.chosen_option(), entry.by) {
            let of = entry.offer.options.len();
            let number = entry.choice.unwrap_or(0);
            let _ = writeln!(text, "  > {} ({number} of {of}, {})", choice.text, name(by));
        }
    }
    let _ = writeln!(text, "\nLocation: {}\nInventory: {}", game.location, game.inventory_text());
    if let Some(reason) = failure(game) {
        let _ = writeln!(text, "The game ended early: {reason}");
    }
    text
}
