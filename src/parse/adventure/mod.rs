//! The adventure: the story a game master tells, and the characters in it.
//!
//! The formats come from the source document "AI Response Formats": prose with markers
//! (`LOCATION:`, `SUGGESTED_ACTIONS: [..]`), JSON inside it or around it, and characters as JSON.
//! The document gives formats and variations, but no procedure that could be wrong: there is one
//! version of each parser.
//!
//! - `narrative@1` ([`narrative_parser`]): story, markers, decision, dialogue.
//! - `character@1` ([`character_parser`]): a name and seven attributes.
//! - [`clean_text`]: prose for showing, without markers and dice.

mod bounds;
mod character;
mod clean;
mod decision;
mod items;
mod json;
mod markers;
mod model;
mod names;
mod narrative;
mod scan;
mod speech;
mod story;
mod suggested;
mod values;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chain::{AnyParser, ChainParser};
use super::thinking;
use crate::prompt::CanonicalError;

pub use character::{Attributes, Character};
pub use clean::clean_text;
pub use model::{
    ActionKind, Decision, DecisionOption, Dialogue, Importance, Narrative, SuggestedAction,
};

/// What the parsers are told: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// A parser of the game master's answers.
pub type NarrativeParser = ChainParser<Params, Narrative>;
/// A parser of characters.
pub type CharacterParser = ChainParser<Params, Character>;

/// The parser of narratives.
///
/// # Errors
/// [`CanonicalError`] never in practice: there are no settings.
pub fn narrative_parser() -> Result<NarrativeParser, CanonicalError> {
    ChainParser::new("narrative", 1, Params {}, narrative::STRATEGIES, narrative::LAST, None)
}

/// The parser of characters.
///
/// # Errors
/// [`CanonicalError`] never in practice.
pub fn character_parser() -> Result<CharacterParser, CanonicalError> {
    ChainParser::new("character", 1, Params {}, character::STRATEGIES, character::LAST, None)
}

/// What the model thought aloud, apart from what it answered. Where the thinking is not closed, or nothing is
/// behind it, there is no answer.
fn answered(text: &str) -> (Option<&str>, &str) {
    let (reasoning, answer) = thinking::split(text);
    match answer.strip_prefix("<think>") {
        None => (reasoning, answer),
        Some(thought) => (Some(thought.trim_end().trim_end_matches("</think>").trim()), ""),
    }
}

/// A parser of this game, from recorded settings, which are none.
pub(super) fn from_params(name: &str, params: &Value) -> Result<Box<dyn AnyParser>, String> {
    if !params.is_null() {
        Params::deserialize(params).map_err(|e| e.to_string())?;
    }
    Ok(if name == "character" {
        Box::new(character_parser().map_err(|e| e.to_string())?)
    } else {
        Box::new(narrative_parser().map_err(|e| e.to_string())?)
    })
}
