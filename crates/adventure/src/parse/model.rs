//! What a game master's answer holds.

use serde::{Deserialize, Serialize};

/// A game master's answer, taken apart. What the answer does not say is empty: a missing marker
/// means that nothing changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Narrative {
    /// The story, free of markers.
    pub narrative: String,
    /// Where the player is now; none if unchanged.
    pub location: Option<String>,
    /// What the player gained.
    pub acquired_items: Vec<String>,
    /// What the player lost.
    pub removed_items: Vec<String>,
    /// What the player might do.
    pub suggested_actions: Vec<SuggestedAction>,
    /// Whom a fight begins with; none without a fight.
    pub opponent: Option<String>,
    /// What the player has to decide.
    pub player_decision: Option<Decision>,
    /// Why a decision in the answer is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejected_decision: Option<String>,
    /// What characters say, in `Name: ".."` lines. They stay in the story too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialogue: Vec<Dialogue>,
}

/// A possible action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuggestedAction {
    /// What the player reads.
    pub text: String,
    /// Its type; `basic` if the answer does not say, or says something else.
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
pub struct Decision {
    /// The question.
    pub prompt: String,
    /// At least two choices.
    pub options: Vec<DecisionOption>,
    /// How much it matters.
    pub importance: Importance,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Who is involved.
    pub characters: Vec<String>,
}

/// A choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionOption {
    /// What the player reads.
    pub text: String,
    /// What it leads to.
    pub impact: String,
    /// Categories.
    pub tags: Vec<String>,
}

/// How much a decision matters; moderate if the answer does not say.
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

/// One thing that a character says or does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialogue {
    /// Who.
    pub speaker: String,
    /// What.
    pub text: String,
    /// What it does meanwhile; since version 2, which keeps it out of what is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
}
