//! The state folded from the facts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::facts::{ChoiceMaker, Fact, GameEnding, Narration};
use super::offer::{Offer, OfferedOption};
use crate::parse::Character;

/// The state: all games by number.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Games {
    /// By number, from 1.
    pub games: BTreeMap<u32, AdventureGame>,
}

/// One game.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AdventureGame {
    /// The player's character.
    pub hero: Option<Character>,
    /// The player's location.
    pub location: String,
    /// The items that the player had at the beginning.
    pub brought: Vec<String>,
    /// The player's items, in the order in which they were gained.
    pub inventory: Vec<String>,
    /// The player's current opponent.
    pub opponent: Option<String>,
    /// Everyone the player has fought, by name.
    pub characters: BTreeMap<String, Character>,
    /// What happened, turn by turn.
    pub journal: Vec<JournalEntry>,
    /// How it ended, if it has.
    pub ending: Option<GameEnding>,
}

/// A turn in the journal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JournalEntry {
    /// The turn, from 1.
    pub turn: u32,
    /// The player's location at the end of the turn.
    pub location: String,
    /// What happened.
    pub story: String,
    /// The items that the player gained.
    pub gained: Vec<String>,
    /// The items that the player lost.
    pub lost: Vec<String>,
    /// Items that should have been taken away but were not there.
    pub not_there: Vec<String>,
    /// Whom the player fought.
    pub opponent: Option<String>,
    /// The options.
    pub offer: Offer,
    /// The number of the chosen option, from 1.
    pub choice: Option<u32>,
    /// Who or what chose.
    pub by: Option<ChoiceMaker>,
    /// The number of unusable answers before this one.
    pub unusable: u32,
}

impl JournalEntry {
    /// The option that was chosen.
    #[must_use]
    pub fn chosen_option(&self) -> Option<&OfferedOption> {
        self.offer.option(self.choice?)
    }
}

impl Games {
    pub(super) fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::Began { game, hero, location, inventory } => {
                let game = self.game(*game);
                game.hero = Some(hero.clone());
                (game.location, game.inventory) = (location.clone(), inventory.clone());
                game.brought.clone_from(inventory);
            }
            Fact::Told(told) => self.game(told.game).apply_narration(told),
            Fact::Met { game, turn: _, character } => {
                let characters = &mut self.game(*game).characters;
                characters.insert(character.name.clone(), character.clone());
            }
            Fact::Chose { game, turn, choice, by } => {
                let mut entries = self.game(*game).journal.iter_mut();
                if let Some(entry) = entries.find(|entry| entry.turn == *turn) {
                    (entry.choice, entry.by) = (Some(*choice), Some(*by));
                }
            }
            Fact::Ended { game, turn: _, ending } => {
                self.game(*game).ending = Some(ending.clone());
            }
        }
    }

    fn game(&mut self, number: u32) -> &mut AdventureGame {
        self.games.entry(number).or_default()
    }
}

impl AdventureGame {
    /// The name of the hero.
    #[must_use]
    pub fn name(&self) -> &str {
        self.hero.as_ref().map_or("the player", |hero| hero.name.as_str())
    }

    /// The current options.
    #[must_use]
    pub fn options(&self) -> &[OfferedOption] {
        self.journal.last().map_or(&[], |entry| &entry.offer.options)
    }

    fn apply_narration(&mut self, told: &Narration) {
        if let Some(location) = &told.location {
            self.location.clone_from(location);
        }
        for lost in &told.lost {
            if let Some(place) = self.inventory.iter().position(|item| item == lost) {
                self.inventory.remove(place);
            }
        }
        self.inventory.extend(told.gained.iter().cloned());
        self.opponent.clone_from(&told.opponent);
        self.journal.push(JournalEntry {
            turn: told.turn,
            location: self.location.clone(),
            story: told.story.clone(),
            gained: told.gained.clone(),
            lost: told.lost.clone(),
            not_there: told.not_there.clone(),
            opponent: told.opponent.clone(),
            offer: told.offer.clone(),
            choice: None,
            by: None,
            unusable: told.unusable,
        });
    }
}
