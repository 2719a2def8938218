//! `chat@2`: the player's message to the others, without the player's private thoughts.
//!
//! - **The last complete tag outside the reasoning** decides, as for contributions.
//! - **An unclosed tag** has its own method: either the message was cut off, or only its closing
//!   tag is missing. In this case, version 1 sends the whole answer, including the reasoning, to
//!   the other players.
//! - Without a tag, the text outside the reasoning is the message. Reasoning alone is silence.
//! - `nothing`, as the prompt asks for it, is silence with the method `silent`.

use super::ChatParams;
use super::turn::AnswerTurn;
use super::v1::shorten;
use retold::parse::{FoundValue, Strategy};

pub(super) const STRATEGIES: &[Strategy<ChatParams, String>] = &[
    Strategy { method: "silent", find: silent },
    Strategy { method: "message_tag", find: message_tag },
    Strategy { method: "unclosed_message_tag", find: unclosed_tag },
    Strategy { method: "whole_text", find: whole_text },
    Strategy { method: "message_tag_in_reasoning", find: tag_in_reasoning },
];

const TAG: &str = "MESSAGE";

/// The message's location, most explicit first.
fn message<'t>(turn: &AnswerTurn<'t>) -> Option<&'t str> {
    turn.blocks.last().copied().or(turn.unclosed).or_else(|| turn.body())
}

fn silent(text: &str, params: &ChatParams) -> Option<FoundValue<String>> {
    let turn = AnswerTurn::new(text, TAG);
    let said = clean(message(&turn)?);
    let word = said.trim_matches(|c: char| !c.is_alphanumeric());
    let is_silence = ["nothing", "silence", "silent"].iter().any(|w| word.eq_ignore_ascii_case(w));
    (is_silence || said.is_empty()).then(|| found_message("", &turn, params))
}

fn message_tag(text: &str, params: &ChatParams) -> Option<FoundValue<String>> {
    let turn = AnswerTurn::new(text, TAG);
    let mut found = found_message(clean(turn.blocks.last()?), &turn, params);
    if turn.blocks.len() > 1 {
        found.warnings.push("several message tags: the last one counts".to_owned());
    }
    Some(found)
}

fn unclosed_tag(text: &str, params: &ChatParams) -> Option<FoundValue<String>> {
    let turn = AnswerTurn::new(text, TAG);
    let mut found = found_message(clean(turn.unclosed?), &turn, params);
    found.warnings.push("the message tag is not closed: the message may have been cut".to_owned());
    Some(found)
}

fn whole_text(text: &str, params: &ChatParams) -> Option<FoundValue<String>> {
    let turn = AnswerTurn::new(text, TAG);
    let said = turn.body().map(clean)?;
    Some(found_message(said, &turn, params))
}

fn tag_in_reasoning(text: &str, params: &ChatParams) -> Option<FoundValue<String>> {
    let turn = AnswerTurn::new(text, TAG);
    let said = clean(turn.blocks_in_reasoning.last()?);
    Some(found_message(said, &turn, params))
}

/// The last resort: there is only reasoning, or nothing.
pub(super) fn no_message(text: &str, params: &ChatParams) -> FoundValue<String> {
    let turn = AnswerTurn::new(text, TAG);
    let mut found = found_message("", &turn, params);
    found.warnings.push("no message found: silence".to_owned());
    found
}

/// Removes a phrase that announces the message, a code fence, and quotes around the whole message.
fn clean(text: &str) -> &str {
    let mut said = text.trim();
    if let Some(inner) = said.strip_prefix("```").and_then(|t| t.strip_suffix("```")) {
        said = inner.trim();
    }
    for phrase in ["I say:", "I would say:", "My message is:", "I respond:", "I send:", "Message:"]
    {
        if said.get(..phrase.len()).is_some_and(|head| head.eq_ignore_ascii_case(phrase)) {
            said = said.get(phrase.len()..).unwrap_or("").trim_start();
        }
    }
    for (open, close) in [('"', '"'), ('\'', '\''), ('“', '”')] {
        // With quotes inside, the outer two may not belong together: `"Yes" and "no"`.
        let inner = said.strip_prefix(open).and_then(|t| t.strip_suffix(close));
        if let Some(inner) = inner.filter(|t| !t.contains([open, close]) || open == '\'') {
            return inner.trim();
        }
    }
    said
}

fn found_message(said: &str, turn: &AnswerTurn<'_>, params: &ChatParams) -> FoundValue<String> {
    let value = shorten(said, params.max_chars);
    let mut warnings = Vec::new();
    if value.len() != said.len() {
        warnings.push(format!("the message was cut to {} characters", params.max_chars));
    }
    if turn.has_more {
        warnings.push("text after the turn was left out".to_owned());
    }
    FoundValue { value, reasoning: turn.reasoning.map(str::to_owned), warnings }
}
