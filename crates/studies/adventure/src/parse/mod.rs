//! The adventure: the story that a game master tells, and the characters in it.
//!
//! The formats come from the source document "AI Response Formats": prose with markers
//! (`LOCATION:`, `SUGGESTED_ACTIONS: [..]`), JSON inside it or around it, and characters as JSON.
//! The document gives formats and variations, but no procedure.
//!
//! - `narrative@1` ([`narrative_parser`]): story, markers, decision, dialogue. The story keeps its white
//!   space byte for byte, and a character's speech is separate from its actions.
//! - `character@1` ([`character_parser`]): a name and seven attributes.
//! - [`clean_text`]: prose for display, without markers and dice.

mod bounds;
mod character;
mod clean;
mod decision;
mod dialogue;
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

use retold::parse::{ParserFamily, StrategyParser, thinking};
use retold::prompt::CanonicalError;

pub use character::{Attributes, Character};
pub use clean::clean_text;
pub use model::{
    ActionKind, DecisionOption, DialogueLine, Importance, Narrative, StoryDecision, SuggestedAction,
};

/// The parsers' settings: there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdventureParams {}

/// A parser of the game master's answers.
pub type NarrativeParser = StrategyParser<AdventureParams, Narrative>;
/// A parser of characters.
pub type CharacterParser = StrategyParser<AdventureParams, Character>;

/// The parser of narratives.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn narrative_parser() -> Result<NarrativeParser, CanonicalError> {
    let (strategies, last) = (narrative::STRATEGIES, narrative::LAST);
    StrategyParser::new("narrative", 1, AdventureParams {}, strategies, last, None)
}

/// The parser of characters.
///
/// # Errors
/// [`CanonicalError`], as for narratives.
pub fn character_parser() -> Result<CharacterParser, CanonicalError> {
    let (strategies, last) = (character::STRATEGIES, character::LAST);
    StrategyParser::new("character", 1, AdventureParams {}, strategies, last, None)
}

/// The model's reasoning, separate from its answer. If the reasoning is not closed, or nothing
/// follows it, there is no answer.
fn split_reasoning(text: &str) -> (Option<&str>, &str) {
    let (reasoning, answer) = thinking::split(text);
    match answer.strip_prefix("<think>") {
        None => (reasoning, answer),
        Some(thought) => (Some(thought.trim_end().trim_end_matches("</think>").trim()), ""),
    }
}

/// Like [`split_reasoning`], but keeps white space if there is no reasoning.
fn split_exactly(text: &str) -> (Option<&str>, &str) {
    let is_thought = text.trim_start().starts_with("<think>") || text.contains("</think>");
    if is_thought { split_reasoning(text) } else { (None, text) }
}

/// `narrative`.
pub static NARRATIVE: ParserFamily = ParserFamily {
    name: "narrative",
    versions: &[1],
    make: |spec| {
        let AdventureParams {} = spec.settings()?;
        Ok(Box::new(narrative_parser()?))
    },
};

/// `character`.
pub static CHARACTER: ParserFamily = ParserFamily {
    name: "character",
    versions: &[1],
    make: |spec| {
        let AdventureParams {} = spec.settings()?;
        Ok(Box::new(character_parser()?))
    },
};
