//! The options of a player.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::parse::{ActionKind, Importance, Narrative};
use retold::parse::vote::comparable;

/// The options of a player in a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// The question of a decision point; `None` for suggested actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<DecisionPoint>,
    /// The options; empty in the last turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<OfferedOption>,
    /// Whether these are the default actions, because the game master offered nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
}

/// The question of a decision point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionPoint {
    /// The question.
    pub prompt: String,
    /// How important it is.
    pub importance: Importance,
    /// Other relevant information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The characters involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub characters: Vec<String>,
}

/// An option.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferedOption {
    /// The text that the player reads: one line.
    pub text: String,
    /// Its consequences, for the game master; the player does not see them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<String>,
    /// For a suggested action: its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ActionKind>,
    /// For a decision's option: its categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl Offer {
    /// What an answer offers: its decision, or otherwise its suggested actions. Options that look
    /// alike are merged.
    pub(super) fn new(narrative: &Narrative) -> Offer {
        let Some(decision) = &narrative.player_decision else {
            let actions = narrative.suggested_actions.iter().map(|action| OfferedOption {
                text: one_line(&action.text),
                impact: None,
                kind: Some(action.kind),
                tags: Vec::new(),
            });
            return Offer { options: distinct(actions), ..Offer::default() };
        };
        let options = decision.options.iter().map(|option| OfferedOption {
            text: one_line(&option.text),
            impact: Some(option.impact.clone()),
            kind: None,
            tags: option.tags.clone(),
        });
        Offer {
            options: distinct(options),
            decision: Some(DecisionPoint {
                prompt: decision.prompt.clone(),
                importance: decision.importance,
                context: decision.context.clone(),
                characters: decision.characters.clone(),
            }),
            default: false,
        }
    }

    /// The actions of the config.
    pub(super) fn default_of(actions: &[String]) -> Offer {
        let options = actions.iter().map(|text| OfferedOption {
            text: one_line(text),
            impact: None,
            kind: Some(ActionKind::Basic),
            tags: Vec::new(),
        });
        Offer { options: options.collect(), default: true, decision: None }
    }

    /// The option with a number, from 1.
    #[must_use]
    pub fn option(&self, number: u32) -> Option<&OfferedOption> {
        self.options.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }
}

/// Merges options that a parser could not distinguish; drops those without a letter or digit.
fn distinct(options: impl Iterator<Item = OfferedOption>) -> Vec<OfferedOption> {
    let mut seen = BTreeSet::from([Vec::new()]);
    options.filter(|option| seen.insert(comparable(&option.text))).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
