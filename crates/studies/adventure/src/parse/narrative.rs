//! `narrative@1`, `narrative@2`: the game master's answer.
//!
//! - An answer that is one JSON object, in a fence or not, is read as such. If there are words
//!   around the object, they are the story if it has none, and are otherwise left out with a
//!   warning.
//! - Otherwise `playerDecision` (or `PLAYER_DECISION`) is removed first, because it is the only
//!   JSON with prose inside, then the markers; the rest is the story.
//! - The model's reasoning (`<think>`) is not parsed, and if there is nothing else, there is no
//!   story.
//! - Missing markers have defaults: no change of place, no items, no suggestions, no fight.

use super::model::{DialogueLine, Narrative};
use super::{
    AdventureParams, ParserRules, answered_by, decision, dialogue, json, markers, split_reasoning,
};
use retold::parse::{FoundValue, LastResort, Strategy};

/// The strategies by the rules of a version.
macro_rules! strategies {
    ($rules:expr) => {
        &[
            Strategy { method: "json_object", find: |text, _| json_object(text, $rules) },
            Strategy {
                method: "markers_and_decision",
                find: |text, _| story_with_decision(text, $rules),
            },
            Strategy { method: "markers", find: |text, _| with_markers(text, $rules) },
        ]
    };
}

pub(super) const STRATEGIES: &[Strategy<AdventureParams, Narrative>] =
    strategies!(ParserRules::First);
pub(super) const STRATEGIES_2: &[Strategy<AdventureParams, Narrative>] =
    strategies!(ParserRules::Second);

/// The last resort: the whole text is the story.
pub(super) const LAST: LastResort<AdventureParams, Narrative> =
    ("plain_text", |text, _| story(text, ParserRules::First));
pub(super) const LAST_2: LastResort<AdventureParams, Narrative> =
    ("plain_text", |text, _| story(text, ParserRules::Second));

/// Whether the whole answer is one object, or contains one with words around it.
fn json_object(text: &str, rules: ParserRules) -> Option<FoundValue<Narrative>> {
    let (reasoning, answer) = split_reasoning(text);
    let mut warnings = Vec::new();
    let (object, around) = json::whole(without_fence(answer), &mut warnings, rules)
        .map(|object| (object, String::new()))
        .or_else(|| json::inside(answer, &mut warnings, rules))?;
    if json::tells(&object) && !around.is_empty() {
        warnings.push("there are words around the JSON object: left out".to_owned());
    }
    let mut narrative = json::read(&object, &mut warnings, rules);
    let story = std::mem::take(&mut narrative.narrative);
    let story = if json::tells(&object) { story } else { around };
    markers::take(&story, &mut narrative, &mut warnings, rules);
    Some(found_value(reasoning, narrative, warnings, rules))
}

fn story_with_decision(text: &str, rules: ParserRules) -> Option<FoundValue<Narrative>> {
    if !decision::any(split_reasoning(text).1) {
        return None;
    }
    let found = story(text, rules);
    let narrative = &found.value;
    (narrative.player_decision.is_some() || narrative.rejected_decision.is_some()).then_some(found)
}

fn with_markers(text: &str, rules: ParserRules) -> Option<FoundValue<Narrative>> {
    markers::any(split_reasoning(text).1).then(|| story(text, rules))
}

fn story(text: &str, rules: ParserRules) -> FoundValue<Narrative> {
    let mut narrative = Narrative::default();
    let mut warnings = Vec::new();
    let (reasoning, answer) = answered_by(text, rules);
    let rest = decision::take(answer, &mut narrative, &mut warnings, rules);
    let is_fenced = rest.trim_start().starts_with("```");
    let told = if rules.is_exact() && !is_fenced { &rest } else { without_fence(&rest) };
    markers::take(told, &mut narrative, &mut warnings, rules);
    found_value(reasoning, narrative, warnings, rules)
}

fn found_value(
    reasoning: Option<&str>,
    mut narrative: Narrative,
    mut warnings: Vec<String>,
    rules: ParserRules,
) -> FoundValue<Narrative> {
    narrative.dialogue = match rules {
        ParserRules::First => lines_said(&narrative.narrative),
        ParserRules::Second => dialogue::blocks(&narrative.narrative),
    };
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

/// The lines in which a character speaks: a name of up to four words in capitals, a colon, and text
/// in quotes or after it.
fn lines_said(story: &str) -> Vec<DialogueLine> {
    let lines = story.lines().filter_map(|line| {
        let (speaker, said) = line.split_once(':')?;
        let speaker = speaker.trim().trim_matches('*').trim();
        let words = speaker.split_whitespace();
        let is_name = speaker.chars().count() <= 40
            && words.clone().count() <= 4
            && words.clone().all(|w| w.starts_with(char::is_uppercase) || w == "the" || w == "of")
            && !said.trim_start().starts_with(['{', '[']);
        // The end of the bold around the name.
        let said = said.strip_prefix("**").unwrap_or(said);
        let said = strip_quotes(said.trim());
        let is_said =
            !speaker.is_empty() && !said.is_empty() && is_name && !dialogue::is_label(speaker);
        is_said.then(|| DialogueLine {
            speaker: speaker.to_owned(),
            text: said.to_owned(),
            action: None,
        })
    });
    lines.collect()
}

/// A character's speech, without quotes or asterisks around all of it.
fn strip_quotes(said: &str) -> &str {
    let mut said = said;
    for (open, close) in [('*', '*'), ('*', '*'), ('"', '"'), ('“', '”')] {
        let inner = said.strip_prefix(open).and_then(|t| t.strip_suffix(close));
        said = inner.filter(|inner| !inner.contains([open, close])).unwrap_or(said);
    }
    said.trim()
}
