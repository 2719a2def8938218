//! The parts of an answer beside its text, and their names.
//!
//! Everything that a provider says of an answer is kept, once. What is known of its form has a field of its own;
//! the parts of the message stand in `extra` by the names that the provider gives them; the rest of what surrounds
//! the message is held by [parts of our own](RESERVED_PARTS). Left out is only what says nothing: null, empty lists,
//! and what is the same in every answer (`"object": "chat.completion"`, `"role": "assistant"`, `"index": 0`).

use serde_json::{Map, Value};

use super::exact::EXACT_INTEGERS;
use super::unreadable::UNREADABLE;

/// What a chat request asked for beside the tokens' text.
pub(super) const LOGPROBS: &str = "logprobs";
/// What else is said of the chosen answer.
pub(super) const CHOICE: &str = "choice";
/// The other answers of a request for several.
pub(super) const OTHER_CHOICES: &str = "other_choices";
/// What else is said of the whole reply.
pub(super) const COMPLETION: &str = "completion";
/// What else is said of tokens and cost.
pub(super) const USAGE: &str = "usage";
/// The parts of a message that have a name of ours.
pub(super) const MESSAGE: &str = "message";
/// The list of parts that a content was, in which each text is replaced by its place in the whole one.
pub(super) const CONTENT_PARTS: &str = "content_parts";

/// The parts that are an answer by themselves: a message with one of them needs no text.
pub const ANSWERING_PARTS: &[&str] = &[
    "refusal",
    "tool_calls",
    "function_call",
    "audio",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "thinking",
    CONTENT_PARTS,
    UNREADABLE,
];

/// The names in `extra` that are ours:
///
/// | name | what it holds |
/// |---|---|
/// | `logprobs` | the log probabilities of the tokens |
/// | `choice` | what else was said of the chosen answer |
/// | `other_choices` | the other answers, if several were asked for |
/// | `completion` | what else was said of the reply, such as `created` or `citations` |
/// | `usage` | what else was said of tokens and cost; counts of zero are left out |
/// | `content_parts` | a content that was a list with more than texts; `text_at` names the bytes of a text in the whole one |
/// | `message` | the parts of a message that bear one of these names, or that of a field |
/// | `unreadable` | what could not be read |
/// | `exact_integers` | where integers beyond 2^53 are, which are kept as strings |
pub const RESERVED_PARTS: &[&str] = &[
    LOGPROBS,
    CHOICE,
    OTHER_CHOICES,
    COMPLETION,
    USAGE,
    CONTENT_PARTS,
    MESSAGE,
    UNREADABLE,
    EXACT_INTEGERS,
];

/// The fields of an answer as a line of an exchanges file has them.
pub(super) const FIELDS: &[&str] = &[
    "content",
    "embedding",
    "finish_reason",
    "model",
    "id",
    "system_fingerprint",
    "service_tier",
    "extra",
    "choices",
    "data",
];

/// Whether a value says nothing.
pub(super) fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// The fields of an object that say something, but for those that are read elsewhere.
pub(super) fn rest(object: &Map<String, Value>, elsewhere: &[&str]) -> Map<String, Value> {
    let is_kept = |name: &str, value: &Value| !elsewhere.contains(&name) && !is_nothing(value);
    let kept = object.iter().filter(|(name, value)| is_kept(name, value));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Takes a field that is a text.
pub(super) fn take_text(object: &mut Map<String, Value>, name: &str) -> Option<String> {
    match object.remove(name)? {
        Value::String(text) => Some(text),
        other => {
            object.insert(name.to_owned(), other);
            None
        }
    }
}

/// Leaves out a field that has the value which it has in every answer.
pub(super) fn leave_out(object: &mut Map<String, Value>, name: &str, usual: &Value) {
    if object.get(name) == Some(usual) {
        object.remove(name);
    }
}

/// Adds what is left of an object, if anything is.
pub(super) fn add_rest(extra: &mut Map<String, Value>, name: &str, rest: Map<String, Value>) {
    if !rest.is_empty() {
        extra.insert(name.to_owned(), Value::Object(rest));
    }
}

/// The deepest nesting of a part that is kept as it is. JSON readers stop at 128 levels, and a log, a recording and a
/// line of exchanges put some more around each part.
const DEEPEST: usize = 100;

/// Makes a text of every part that is nested so deeply that nobody could read the log again.
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

/// The parts of a message, but for its content.
pub(super) fn of_message(message: &Map<String, Value>) -> Map<String, Value> {
    let mut parts = rest(message, &["content"]);
    leave_out(&mut parts, "role", &"assistant".into());
    let is_ours = |name: &str| RESERVED_PARTS.contains(&name) || FIELDS.contains(&name);
    let (ours, mut parts): (Map<String, Value>, Map<String, Value>) =
        parts.into_iter().partition(|(name, _)| is_ours(name));
    // What we say of an answer is not the provider's to say.
    add_rest(&mut parts, MESSAGE, ours);
    parts
}
