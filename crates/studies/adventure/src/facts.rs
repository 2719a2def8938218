//! The facts of a game, in the past tense.

use serde::{Deserialize, Serialize};

use super::offer::Offer;
use crate::parse::Character;

/// A fact. Games and turns count from 1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
pub enum Fact {
    /// A game began.
    Began {
        /// The game.
        game: u32,
        /// Who the player is.
        hero: Character,
        /// The place.
        location: String,
        /// The player's items.
        inventory: Vec<String>,
    },
    /// The game master told what happens in a turn.
    Told(Narration),
    /// An opponent was met for the first time.
    Met {
        /// The game.
        game: u32,
        /// The turn.
        turn: u32,
        /// The opponent, with the game master's name.
        character: Character,
    },
    /// The player chose.
    Chose {
        /// The game.
        game: u32,
        /// The turn.
        turn: u32,
        /// The option's number, from 1.
        choice: u32,
        /// Who made the choice.
        by: ChoiceMaker,
    },
    /// A game ended.
    Ended {
        /// The game.
        game: u32,
        /// Its last turn; 0 if it never began.
        turn: u32,
        /// The ending.
        ending: GameEnding,
    },
}

/// The game master's narration of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Narration {
    /// The game.
    pub game: u32,
    /// The turn.
    pub turn: u32,
    /// What happens.
    pub story: String,
    /// The player's location, if it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The items that the player gained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gained: Vec<String>,
    /// The items that the player lost, as listed in the inventory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Items that should have been taken away but are not there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_there: Vec<String>,
    /// The player's opponent; `None` without a fight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opponent: Option<String>,
    /// The player's options.
    pub offer: Offer,
    /// The number of unusable answers before this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unusable: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Who or what made a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceMaker {
    /// The policy `first`.
    First,
    /// The policy `random`.
    Random,
    /// A model.
    Model,
    /// A person.
    Human,
    /// The settings, which a fork uses to take the other option.
    Forced,
    /// No choice was made: none of the player's answers was usable.
    Default,
}

/// How a game ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GameEnding {
    /// All turns were told.
    Told,
    /// The game master could not be asked.
    Failed {
        /// The reason.
        reason: String,
    },
}
