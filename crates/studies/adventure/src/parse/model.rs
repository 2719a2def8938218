//! The contents of a game master's answer.

use serde::{Deserialize, Serialize};

/// A game master's answer, split into its parts. A part that the answer does not mention is empty:
/// a missing marker means that nothing changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Narrative {
    /// The story, free of markers.
    pub narrative: String,
    /// The player's new location; `None` if unchanged.
    pub location: Option<String>,
    /// The items that the player gained.
    pub acquired_items: Vec<String>,
    /// The items that the player lost.
    pub removed_items: Vec<String>,
    /// Suggestions for the player.
    pub suggested_actions: Vec<SuggestedAction>,
    /// The opponent in a fight; `None` without a fight.
    pub opponent: Option<String>,
    /// The decision for the player.
    pub player_decision: Option<StoryDecision>,
    /// Why a decision in the answer is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_decision: Option<String>,
    /// The characters' speech, from `Name: ".."` lines. It also remains in the story.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialogue: Vec<DialogueLine>,
}

/// A possible action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuggestedAction {
    /// The text that the player reads.
    pub text: String,
    /// Its type; `basic` if the answer has none or an unknown one.
    #[serde(rename = "type")]
    pub kind: ActionKind,
}

/// The types of suggested actions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActionKind {
    /// Movement and the like.
    #[default]
    Basic,
    /// Fighting.
    Combat,
    /// With other characters.
    Interaction,
}

/// A decision point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoryDecision {
    /// The question.
    pub prompt: String,
    /// At least two choices.
    pub options: Vec<DecisionOption>,
    /// How important it is.
    pub importance: Importance,
    /// Other relevant information.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The characters involved.
    pub characters: Vec<String>,
}

/// A choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionOption {
    /// The text that the player reads.
    pub text: String,
    /// Its consequences.
    pub impact: String,
    /// Categories.
    pub tags: Vec<String>,
}

/// The importance of a decision; moderate if the answer has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    /// Hardly.
    Minor,
    /// Somewhat.
    #[default]
    Moderate,
    /// A lot.
    Significant,
    /// Everything hangs on it.
    Critical,
}

/// Something that a character says or does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogueLine {
    /// The character.
    pub speaker: String,
    /// The speech.
    pub text: String,
    /// The character's actions meanwhile; since version 2, which separates them from the speech.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}
