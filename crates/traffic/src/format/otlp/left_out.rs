//! The parts of a span that asks a model that are not in its exchange: every attribute, event and number that an import does
//! not take is named.

use std::collections::BTreeSet;

use serde_json::Value;

use super::captured::{Captured, structure};
use super::spans::{FoundSpan, SpanEvent};
use crate::notes::Notes;
use crate::otlp::names;

/// The lists in which the names of omitted parts are noted.
const ATTRIBUTES: &str = "attributes of spans";
const EVENTS: &str = "events of spans";
const EVENT_ATTRIBUTES: &str = "attributes of events";
pub(super) const RESOURCE_ATTRIBUTES: &str = "attributes of resources and scopes";

/// The attributes that a failed call has no place for.
const OF_ANSWERS: [&str; 8] = [
    names::OUTPUT_MESSAGES,
    names::RESPONSE_ID,
    names::RESPONSE_MODEL,
    names::FINISH_REASONS,
    names::INPUT_TOKENS,
    names::OUTPUT_TOKENS,
    names::CACHED_TOKENS,
    names::REASONING_TOKENS,
];

/// The names of token counts before version 1.27.
pub(super) const EARLIER_TOKENS: [&str; 2] =
    ["gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens"];

/// The fields of a message in an event of versions up to 1.36.
const MESSAGE_FIELDS: [&str; 9] = [
    "role",
    "content",
    "id",
    "tool_calls",
    "message",
    "finish_reason",
    "index",
    "event.name",
    names::SYSTEM,
];

/// Notes the parts of a span and its events that are left out.
pub(super) fn left_out(span: &FoundSpan, captured: &Captured, failed: bool, notes: &mut Notes) {
    let is_left = |(name, value): &(&String, &Value)| {
        let is_of_answer =
            OF_ANSWERS.contains(&name.as_str()) || EARLIER_TOKENS.contains(&name.as_str());
        failed && is_of_answer || !is_taken(name, value, captured)
    };
    let attributes = span.attributes.iter().filter(is_left).map(|(name, _)| name.as_str());
    notes.names(ATTRIBUTES, attributes);
    for event in &span.events {
        of_event(event, captured, notes);
    }
    let place = span.place();
    if span.start <= 0 || span.end < span.start {
        notes.add("the times of a span, which are missing or end before they begin", &place);
    }
    if span.has_links {
        notes.add("links of a span to others", &place);
    }
}

/// Whether an attribute of a span is in the exchange.
fn is_taken(name: &str, value: &Value, captured: &Captured) -> bool {
    let is_text = value.as_str().is_some_and(|text| !text.is_empty());
    match name {
        names::OPERATION
        | names::PROVIDER
        | names::SYSTEM
        | names::UPSTREAM
        | names::REQUEST_MODEL
        | names::RESPONSE_MODEL
        | names::RESPONSE_ID
        | names::CONVERSATION
        | names::AGENT
        | names::ERROR_TYPE => is_text,
        names::OUTPUT_TYPE => value == "json" || value == "text",
        names::FINISH_REASONS => {
            structure(value).is_some_and(|all| all.as_array().is_some_and(|all| all.len() <= 1))
        }
        names::INPUT_TOKENS
        | names::OUTPUT_TOKENS
        | names::CACHED_TOKENS
        | names::REASONING_TOKENS => value.is_u64(),
        names::INPUT_MESSAGES | names::OUTPUT_MESSAGES | names::INSTRUCTIONS | names::TOOLS => {
            structure(value).is_some_and(|all| all.is_array())
        }
        "retold.cost" => value.is_number(),
        super::SIMULATED => value.is_boolean(),
        _ if EARLIER_TOKENS.contains(&name) => value.is_u64(),
        _ if names::PARAMETERS.iter().any(|parameter| parameter.attribute == name) => {
            !value.is_null()
        }
        _ => match name.strip_prefix(names::LABEL) {
            Some(label) => !label.is_empty() && value.is_string(),
            None => captured.is_flattened && is_numbered(name),
        },
    }
}

/// Whether OpenLLMetry has a field of a message in this attribute.
fn is_numbered(name: &str) -> bool {
    let rest = ["gen_ai.prompt.", "gen_ai.completion."].iter().find_map(|it| name.strip_prefix(it));
    let field = rest.and_then(|rest| {
        let (number, field) = rest.split_once('.')?;
        number.parse::<usize>().ok()?;
        Some(field)
    });
    let of_call = |field: &str| {
        let call = field.strip_prefix("tool_calls.").and_then(|rest| rest.split_once('.'));
        call.is_some_and(|(number, field)| {
            number.parse::<usize>().is_ok() && ["id", "name", "arguments"].contains(&field)
        })
    };
    let plain = ["role", "content", "finish_reason", "tool_call_id"];
    field.is_some_and(|field| plain.contains(&field) || of_call(field))
}

fn of_event(event: &SpanEvent, captured: &Captured, notes: &mut Notes) {
    let SpanEvent { name, attributes } = event;
    let whole = [names::INPUT_MESSAGES, names::OUTPUT_MESSAGES, names::INSTRUCTIONS, names::TOOLS];
    let taken: &[&str] = match name.as_str() {
        names::EVALUATION if event.has_decision() => match attributes.get(names::EVALUATION_NUMBER)
        {
            Some(_) => &[names::EVALUATION_NAME, names::EVALUATION_NUMBER, names::EVALUATION_WHY],
            None => &[names::EVALUATION_NAME, names::EVALUATION_LABEL, names::EVALUATION_WHY],
        },
        names::DECISION if event.has_decision() => {
            &[names::DECISION_NAME, names::DECISION_VALUE, names::DECISION_REASONING]
        }
        name if captured.has_message_of(name) => &MESSAGE_FIELDS,
        _ if whole.iter().any(|name| attributes.contains_key(*name)) => &whole,
        "" => return notes.names(EVENTS, ["(without a name)"]),
        name => return notes.names(EVENTS, [name]),
    };
    let left: BTreeSet<&str> =
        attributes.keys().map(String::as_str).filter(|name| !taken.contains(name)).collect();
    notes.names(EVENT_ATTRIBUTES, left);
}
