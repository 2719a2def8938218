//! The parts of an answer other than its text, and their names.
//!
//! Everything that a provider says about an answer is kept once. What has a known form has a field
//! of its own; the parts of the message are in `extra` under the provider's names; whatever else
//! surrounds the message is in [parts of our own](RESERVED_PARTS). Only fields that carry no
//! information are left out: null, empty lists, and values that are the same in every answer
//! (`"object": "chat.completion"`, `"role": "assistant"`, `"index": 0`).

use serde_json::{Map, Value};

use super::unreadable::UNREADABLE;
use crate::exact::EXACT_INTEGERS;

/// The log probabilities of the tokens, if the request asked for them.
pub(super) const LOGPROBS: &str = "logprobs";
/// The other fields of the chosen answer.
pub(super) const CHOICE: &str = "choice";
/// The other answers, if the request asked for several.
pub(super) const OTHER_CHOICES: &str = "other_choices";
/// The other fields of the whole reply.
pub(super) const COMPLETION: &str = "completion";
/// The other fields of the usage.
pub(super) const USAGE: &str = "usage";
/// The parts of a message that have one of our names.
pub(super) const MESSAGE: &str = "message";
/// The list of parts of a content, with each text replaced by its position in the joined text.
pub(super) const CONTENT_PARTS: &str = "content_parts";

/// How many vectors the content has, if it has several.
pub(super) const VECTORS: &str = "vectors";

/// The parts that are answers by themselves: a message with one of them does not need a text.
pub const ANSWERING_PARTS: &[&str] = &[
    "refusal", "tool_calls", "function_call", "audio", "images", "reasoning_content", "reasoning",
    "reasoning_details", "thinking", CONTENT_PARTS, UNREADABLE,
];

/// How an answer travelled to a program that retold recorded: status, headers, body, chunks.
pub const HTTP: &str = "http";

/// Why an answer of a recorded program lacks its end, if its stream was closed before it.
pub const UNENDED: &str = "unended";

/// The names in `extra` that retold reserves:
///
/// - `logprobs`: the log probabilities of the tokens
/// - `choice`: the other fields of the chosen answer
/// - `other_choices`: the other answers, if several were asked for
/// - `completion`: the other fields of the reply, such as `created` or `citations`
/// - `usage`: the other fields of the usage; counts of zero are left out
/// - `content_parts`: a content list that has other parts than texts; `text_at` has the byte range
///   of each text
/// - `message`: the parts of a message that have one of these names or the name of a field
/// - `unreadable`: what could not be read
/// - `http`: the answer as it travelled to a recorded program; parsers never see it
/// - `unended`: the ending that the stream of the answer lacked when it was closed, if it lacked one
/// - `vectors`: how many vectors of one length the content has, one after the other, if it has several
/// - `exact_integers`: where integers beyond 2^53 are, which are kept as strings
pub const RESERVED_PARTS: &[&str] = &[
    LOGPROBS, CHOICE, OTHER_CHOICES, COMPLETION, USAGE, CONTENT_PARTS, MESSAGE, UNREADABLE, HTTP,
    UNENDED, VECTORS, EXACT_INTEGERS,
];

/// The names of an answer's fields in a line of an exchanges file.
pub(super) const FIELDS: &[&str] = &[
    "content", "embedding", "finish_reason", "model", "id", "system_fingerprint", "service_tier",
    "extra", "choices", "data",
];

/// Whether a value carries no information.
pub(super) fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The informative fields of an object, except those that are read elsewhere.
pub(super) fn rest(object: &Map<String, Value>, elsewhere: &[&str]) -> Map<String, Value> {
    let is_kept = |name: &str, value: &Value| !elsewhere.contains(&name) && !is_nothing(value);
    let kept = object.iter().filter(|(name, value)| is_kept(name, value));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Takes out a field that is a text.
pub(super) fn take_text(object: &mut Map<String, Value>, name: &str) -> Option<String> {
    match object.remove(name)? {
        Value::String(text) => Some(text),
        other => {
            object.insert(name.to_owned(), other);
            None
        }
    }
}

/// Leaves out a field if it has its usual value.
pub(super) fn leave_out(object: &mut Map<String, Value>, name: &str, usual: &Value) {
    if object.get(name) == Some(usual) {
        object.remove(name);
    }
}

/// Adds the remaining fields of an object, if there are any.
pub(super) fn add_rest(extra: &mut Map<String, Value>, name: &str, rest: Map<String, Value>) {
    if !rest.is_empty() {
        extra.insert(name.to_owned(), Value::Object(rest));
    }
}

/// The deepest nesting of a part that is kept unchanged. JSON readers stop at 128 levels, and a
/// log, a recording and a line of exchanges add some levels around each part.
const DEEPEST: usize = 100;

/// Turns every part that is nested too deeply to be read again into a text.
pub(super) fn keep_readable(extra: &mut Map<String, Value>) {
    for part in extra.values_mut().filter(|part| is_deeper(part, DEEPEST)) {
        *part = Value::String(part.to_string());
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|it| is_deeper(it, levels - 1)),
        Value::Object(fields) => levels == 0 || fields.values().any(|it| is_deeper(it, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The parts of a message, except its content.
pub(super) fn of_message(message: &Map<String, Value>) -> Map<String, Value> {
    let mut parts = rest(message, &["content"]);
    leave_out(&mut parts, "role", &"assistant".into());
    let is_ours = |name: &str| RESERVED_PARTS.contains(&name) || FIELDS.contains(&name);
    let (ours, mut parts): (Map<String, Value>, Map<String, Value>) =
        parts.into_iter().partition(|(name, _)| is_ours(name));
    // Names reserved for retold must not be set by the provider.
    add_rest(&mut parts, MESSAGE, ours);
    parts
}
