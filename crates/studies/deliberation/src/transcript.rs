//! Dialogues and votes, as facts have them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Votes by option.
pub type Votes = BTreeMap<String, u32>;

/// A dialogue.
pub type Transcript = Vec<DialogueTurn>;

/// One turn of a dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogueTurn {
    /// The speaker.
    pub role: Speaker,
    /// The text.
    pub content: String,
}

/// The speakers in a dialogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// Asks.
    Moderator,
    /// Answers.
    Participant,
}
