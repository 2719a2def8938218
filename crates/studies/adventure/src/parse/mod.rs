//! The adventure: the story that a game master tells, and the characters in it.
//!
//! The formats come from the source document "AI Response Formats": prose with markers
//! (`LOCATION:`, `SUGGESTED_ACTIONS: [..]`), JSON inside it or around it, and characters as JSON.
//! The document gives formats and variations, but no procedure.
//!
//! - `narrative@1` ([`narrative_parser`]): story, markers, decision, dialogue.
//! - `narrative@2`: the same, but the story keeps its white space byte for byte, a character's
//!   speech is separated from its actions, an unknown importance causes a warning, and every member
//!   of broken JSON is kept.
//! - `character@1`, `character@2` ([`character_parser`]): a name and seven attributes; version 2
//!   keeps every member.
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

use retold::parse::json_repair::RepairEdition;
use retold::parse::thinking;
use retold::parse::{MakeError, ParserFamily, StrategyParser};

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

/// What distinguishes the versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserRules {
    /// Version 1.
    First,
    /// Version 2.
    Second,
}

impl ParserRules {
    /// How malformed JSON is repaired.
    fn json(self) -> RepairEdition {
        if self == ParserRules::First { RepairEdition::First } else { RepairEdition::Second }
    }

    /// Whether the story keeps its white space and the other rules of version 2 apply.
    fn is_exact(self) -> bool {
        self == ParserRules::Second
    }
}

/// The parser of narratives.
///
/// # Errors
/// [`MakeError::NoVersion`] if the version does not exist.
pub fn narrative_parser(version: u32) -> Result<NarrativeParser, MakeError> {
    let (strategies, last) = match version {
        1 => (narrative::STRATEGIES, narrative::LAST),
        2 => (narrative::STRATEGIES_2, narrative::LAST_2),
        _ => return Err(MakeError::NoVersion(version)),
    };
    Ok(StrategyParser::new("narrative", version, AdventureParams {}, strategies, last, None)?)
}

/// The parser of characters.
///
/// # Errors
/// [`MakeError::NoVersion`] if the version does not exist.
pub fn character_parser(version: u32) -> Result<CharacterParser, MakeError> {
    let strategies = match version {
        1 => character::STRATEGIES,
        2 => character::STRATEGIES_2,
        _ => return Err(MakeError::NoVersion(version)),
    };
    Ok(StrategyParser::new(
        "character",
        version,
        AdventureParams {},
        strategies,
        character::LAST,
        None,
    )?)
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
fn answered_by(text: &str, rules: ParserRules) -> (Option<&str>, &str) {
    let is_thought = text.trim_start().starts_with("<think>") || text.contains("</think>");
    if rules.is_exact() && !is_thought { (None, text) } else { split_reasoning(text) }
}

/// `narrative`, in all its versions.
pub static NARRATIVE: ParserFamily = ParserFamily {
    name: "narrative",
    versions: &[1, 2],
    make: |spec| {
        let AdventureParams {} = spec.settings()?;
        Ok(Box::new(narrative_parser(spec.version)?))
    },
};

/// `character`, in all its versions.
pub static CHARACTER: ParserFamily = ParserFamily {
    name: "character",
    versions: &[1, 2],
    make: |spec| {
        let AdventureParams {} = spec.settings()?;
        Ok(Box::new(character_parser(spec.version)?))
    },
};
