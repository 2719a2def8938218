//! `narrative@1`: the game master's answer.
//!
//! - An answer that is one JSON object, in a fence or not, is read as such. If there are words
//!   around the object, they are the story if it has none, and are otherwise left out with a
//!   warning.
//! - Otherwise `playerDecision` (or `PLAYER_DECISION`) is removed first, because it is the only
//!   JSON with prose inside, then the markers; the rest is the story.
//! - The model's reasoning (`<think>`) is not parsed, and if there is nothing else, there is no
//!   story.
//! - Missing markers have defaults: no change of place, no items, no suggestions, no fight.

use super::model::Narrative;
use super::{AdventureParams, decision, dialogue, json, markers, split_exactly, split_reasoning};
use retold::parse::{FoundValue, LastResort, Strategy};

pub(super) const STRATEGIES: &[Strategy<AdventureParams, Narrative>] = &[
    Strategy { method: "json_object", find: json_object },
    Strategy { method: "markers_and_decision", find: story_with_decision },
    Strategy { method: "markers", find: story_with_markers },
];

/// The last resort: the whole text is the story.
pub(super) const LAST: LastResort<AdventureParams, Narrative> =
    ("plain_text", |text, _| story(text));

/// An answer that is one object, or has one with words around it.
fn json_object(text: &str, _: &AdventureParams) -> Option<FoundValue<Narrative>> {
    let (reasoning, answer) = split_reasoning(text);
    let mut warnings = Vec::new();
    let (object, around) = json::whole(without_fence(answer), &mut warnings)
        .map(|object| (object, String::new()))
        .or_else(|| json::inside(answer, &mut warnings))?;
    if json::tells(&object) && !around.is_empty() {
        warnings.push("there are words around the JSON object: left out".to_owned());
    }
    let mut narrative = json::read(&object, &mut warnings);
    let story = std::mem::take(&mut narrative.narrative);
    let story = if json::tells(&object) { story } else { around };
    markers::take(&story, &mut narrative, &mut warnings);
    Some(found_value(reasoning, narrative, warnings))
}

fn story_with_decision(text: &str, _: &AdventureParams) -> Option<FoundValue<Narrative>> {
    if !decision::any(split_reasoning(text).1) {
        return None;
    }
    let found = story(text);
    let narrative = &found.value;
    (narrative.player_decision.is_some() || narrative.rejected_decision.is_some()).then_some(found)
}

fn story_with_markers(text: &str, _: &AdventureParams) -> Option<FoundValue<Narrative>> {
    markers::any(split_reasoning(text).1).then(|| story(text))
}

fn story(text: &str) -> FoundValue<Narrative> {
    let mut narrative = Narrative::default();
    let mut warnings = Vec::new();
    let (reasoning, answer) = split_exactly(text);
    let rest = decision::take(answer, &mut narrative, &mut warnings);
    let is_fenced = rest.trim_start().starts_with("```");
    let told = if is_fenced { without_fence(&rest) } else { &rest };
    markers::take(told, &mut narrative, &mut warnings);
    found_value(reasoning, narrative, warnings)
}

fn found_value(
    reasoning: Option<&str>,
    mut narrative: Narrative,
    mut warnings: Vec<String>,
) -> FoundValue<Narrative> {
    narrative.dialogue = dialogue::blocks(&narrative.narrative);
    if let Some(reason) = &narrative.rejected_decision {
        warnings.push(reason.clone());
    }
    // A repair in several places is reported once.
    let mut said: Vec<String> = Vec::new();
    for warning in warnings {
        if said.len() < 40 && !said.contains(&warning) {
            said.push(warning);
        }
    }
    FoundValue { value: narrative, reasoning: reasoning.map(str::to_owned), warnings: said }
}

/// The text without a code fence around all of it.
pub(super) fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(rest) = text.strip_prefix("```") else {
        return text;
    };
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start();
    let inner = rest.strip_suffix("```").unwrap_or(rest).trim_end();
    // A fence that ends earlier surrounds only a part.
    if inner.lines().any(|line| line.trim_end() == "```") { text } else { inner }
}
