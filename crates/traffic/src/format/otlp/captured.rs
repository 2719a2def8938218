//! The conversation in a span: the attributes of the conventions from version 1.37 on, in the span or in an event of it; the
//! events of earlier versions, one per message; or the numbered attributes of OpenLLMetry.

use serde_json::{Map, Value};

use super::flattened::messages_and_choices;
use super::spans::{FoundSpan, SpanEvent};
use crate::otlp::message::chat;
use crate::otlp::names::{INPUT_MESSAGES, INSTRUCTIONS, OUTPUT_MESSAGES, TOOLS};

/// A choice of an answer.
#[derive(Default)]
pub(super) struct CapturedChoice {
    /// The message, in the form of chat completions.
    pub(super) message: Value,
    pub(super) finish_reason: Option<String>,
}

/// The conversation in a span, in the form of chat completions.
#[derive(Default)]
pub(super) struct Captured {
    pub(super) messages: Vec<Value>,
    pub(super) choices: Vec<CapturedChoice>,
    pub(super) tools: Option<Value>,
    /// True if it is in an event for each message.
    in_events: bool,
    /// True if it is in numbered attributes.
    pub(super) is_flattened: bool,
}

impl Captured {
    pub(super) fn of(span: &FoundSpan) -> Self {
        let events = span.events.iter().map(|event| &event.attributes);
        let places: Vec<&Map<String, Value>> =
            std::iter::once(&span.attributes).chain(events).collect();
        let found =
            |name: &str| places.iter().find_map(|place| place.get(name)).and_then(structure);
        let mut captured = Captured { tools: found(TOOLS), ..Captured::default() };
        if let Some(Value::Array(parts)) = found(INSTRUCTIONS) {
            let system = serde_json::json!({"role": "system", "parts": parts});
            captured.messages.extend(chat(&system));
        }
        let input = found(INPUT_MESSAGES);
        let output = found(OUTPUT_MESSAGES);
        if input.is_some() || output.is_some() {
            captured.messages.extend(list(input).iter().flat_map(chat));
            let choice = |message: &Value| CapturedChoice {
                message: chat(message).pop().unwrap_or_default(),
                finish_reason: text(&message["finish_reason"]),
            };
            captured.choices = list(output).iter().map(choice).collect();
            return captured;
        }
        for event in &span.events {
            captured.event(event);
        }
        captured.in_events = !captured.messages.is_empty() || !captured.choices.is_empty();
        if !captured.in_events {
            let (messages, choices) = messages_and_choices(&span.attributes);
            captured.is_flattened = !messages.is_empty() || !choices.is_empty();
            captured.messages = messages;
            captured.choices = choices;
        }
        captured
    }

    /// Whether the message of an event of this name is among them.
    pub(super) fn has_message_of(&self, event: &str) -> bool {
        let kind = event.strip_prefix("gen_ai.");
        self.in_events && kind.is_some_and(|kind| kind == "choice" || role_of(kind).is_some())
    }

    /// An event with a message, as versions up to 1.36 have it.
    fn event(&mut self, event: &SpanEvent) {
        let SpanEvent { name, attributes } = event;
        let Some(kind) = name.strip_prefix("gen_ai.") else { return };
        if kind == "choice" {
            let message = match attributes.get("message").and_then(structure) {
                Some(message @ Value::Object(_)) => message,
                _ => Value::Object(attributes.clone()),
            };
            let finish_reason = attributes.get("finish_reason").and_then(text);
            let message = of_fields(&message, "assistant");
            self.choices.push(CapturedChoice { message, finish_reason });
            return;
        }
        let Some(role) = role_of(kind) else { return };
        self.messages.push(of_fields(&Value::Object(attributes.clone()), role));
    }
}

/// Whose message an event has, by the end of its name.
fn role_of(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "system.message" => "system",
        "user.message" => "user",
        "assistant.message" => "assistant",
        "tool.message" => "tool",
        _ => return None,
    })
}

/// A message out of the fields of an event.
fn of_fields(fields: &Value, role: &str) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), text(&fields["role"]).unwrap_or(role.to_owned()).into());
    let content = &fields["content"];
    message.insert("content".to_owned(), content.clone());
    if role == "tool" && fields["id"].is_string() {
        message.insert("tool_call_id".to_owned(), fields["id"].clone());
    }
    if let Some(calls) = fields.get("tool_calls").and_then(structure).filter(Value::is_array) {
        message.insert("tool_calls".to_owned(), calls);
    }
    Value::Object(message)
}

/// A value with a structure: itself, or the JSON in a text.
pub(super) fn structure(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok(),
        Value::Null => None,
        value => Some(value.clone()),
    }
}

fn list(value: Option<Value>) -> Vec<Value> {
    match value {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
    }
}

/// A text that is not empty.
pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
