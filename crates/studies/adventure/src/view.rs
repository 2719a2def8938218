//! What prompts show of a game.

use serde::Serialize;
use serde_json::json;

use super::offer::Offer;
use super::state::{AdventureGame, JournalEntry};
use crate::parse::{Attributes, Character};

/// A character in a prompt.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Someone {
    name: String,
    attributes: String,
}

impl Someone {
    pub(super) fn new(character: &Character) -> Self {
        let attributes = attributes(&character.attributes);
        Someone { name: character.name.clone(), attributes }
    }
}

fn attributes(attributes: &Attributes) -> String {
    let Attributes {
        speed,
        gun_accuracy,
        throwing_accuracy,
        strength,
        base_strength,
        bravery,
        experience,
    } = attributes;
    format!(
        "speed {speed}, gunAccuracy {gun_accuracy}, throwingAccuracy {throwing_accuracy}, strength \
         {strength}, baseStrength {base_strength}, bravery {bravery}, experience {experience}"
    )
}

/// A past turn with its choice, as it is shown to a player.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Past<'a> {
    story: &'a str,
    choice: &'a str,
}

impl AdventureGame {
    pub(super) fn hero(&self) -> Option<Someone> {
        self.hero.as_ref().map(Someone::new)
    }

    /// The player's opponent, whether known or not.
    pub(super) fn opponent(&self) -> Option<Someone> {
        let name = self.opponent.as_ref()?;
        let known = self.characters.get(name).map(Someone::new);
        Some(known.unwrap_or_else(|| Someone { name: name.clone(), attributes: String::new() }))
    }

    /// The player's inventory, on one line.
    pub(super) fn inventory_text(&self) -> String {
        if self.inventory.is_empty() { "nothing".to_owned() } else { self.inventory.join(", ") }
    }

    /// The last turns, up to a number.
    pub(super) fn last_turns(&self, turns: u32) -> &[JournalEntry] {
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        self.journal.get(self.journal.len().saturating_sub(turns)..).unwrap_or(&[])
    }

    /// The last turns in which the player chose, up to a number.
    pub(super) fn past(&self, turns: u32) -> Vec<Past<'_>> {
        let remembered = self.last_turns(turns.saturating_add(1)).iter();
        let past = |entry| {
            Past::new(entry, JournalEntry::chosen_option(entry).map_or("", |c| c.text.as_str()))
        };
        remembered.filter(|entry| entry.choice.is_some()).map(past).collect()
    }
}

impl<'a> Past<'a> {
    fn new(entry: &'a JournalEntry, choice: &'a str) -> Self {
        Past { story: &entry.story, choice }
    }
}

/// A turn as the game master told it, in the requested format.
pub(super) fn written_again(entry: &JournalEntry) -> String {
    let mut text = format!("{}\n\nLOCATION: {}", entry.story, entry.location);
    for (marker, items) in [("ACQUIRED_ITEMS", &entry.gained), ("REMOVED_ITEMS", &entry.lost)] {
        if !items.is_empty() {
            text.push_str(&format!("\n{marker}: {}", json!(items)));
        }
    }
    if let Some(opponent) = &entry.opponent {
        text.push_str(&format!("\nCOMBAT: {opponent}"));
    }
    let Offer { decision, options, .. } = &entry.offer;
    match decision {
        None => {
            let actions = options.iter().map(|o| json!({"text": o.text, "type": o.kind}));
            let actions = actions.collect::<serde_json::Value>();
            text.push_str(&format!("\nSUGGESTED_ACTIONS: {actions}"));
        }
        Some(asked) => {
            let options = options
                .iter()
                .map(|o| json!({"text": o.text, "impact": o.impact, "tags": o.tags}))
                .collect::<serde_json::Value>();
            let decision = json!({"prompt": asked.prompt, "options": options,
                "importance": asked.importance, "context": asked.context,
                "characters": asked.characters});
            text.push_str(&format!("\n\n\"playerDecision\": {decision}"));
        }
    }
    text
}
