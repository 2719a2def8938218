//! `action@1`: the document's program.
//!
//! - The first `{..}` without inner braces counts: `\{[^{}]*\}`. For a nested object, the innermost
//!   part is read, which usually fails.
//! - If there is none, the first 2,000 characters are a forum post.
//! - Any error makes the agent idle, with the error as its reasoning.
//!
//! Two answers make the document's program fail with an exception, and the agent idle here: a list
//! as the `action`, which Python cannot look up, and nesting that Python cannot parse.

use serde_json::{Map, Value};

use super::ActionParams;
use super::action::Action;
use super::fields::{Built, NAMES, build};
use super::pydantic::Pydantic;
use retold::parse::python::head;
use retold::parse::{FoundValue, LastResort, Strategy};

pub(super) const STRATEGIES: &[Strategy<ActionParams, Action>] = &[
    Strategy { method: "flat_json", find: flat_json },
    Strategy { method: "forum_post_fallback", find: forum_post_fallback },
    Strategy { method: "idle_unparsable", find: unparsable },
    Strategy { method: "idle_unknown_action", find: unknown_action },
];

pub(super) const LAST: LastResort<ActionParams, Action> = ("idle_invalid_data", invalid);

/// The first pair of braces with no brace in between.
fn flat_braces(text: &str) -> Option<&str> {
    let mut open = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open = Some(at),
            b'}' if open.is_some() => return text.get(open?..=at),
            _ => {}
        }
    }
    None
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(flat_braces(text)?).ok()
}

fn flat_json(text: &str, params: &ActionParams) -> Option<FoundValue<Action>> {
    let fields = object(text)?;
    let name = fields.get("action")?.as_str()?;
    match build(name, &mut Pydantic::new(&fields), params.agents) {
        Built::Action(action) => Some(FoundValue::plain(action)),
        _ => None,
    }
}

fn forum_post_fallback(text: &str, _: &ActionParams) -> Option<FoundValue<Action>> {
    let post = || FoundValue::plain(Action::ForumPost { content: head(text, 2_000).to_owned() });
    flat_braces(text).is_none().then(post)
}

fn unparsable(text: &str, _: &ActionParams) -> Option<FoundValue<Action>> {
    object(text).is_none().then(|| idle("Failed to parse action".to_owned()))
}

fn unknown_action(text: &str, _: &ActionParams) -> Option<FoundValue<Action>> {
    let fields = object(text)?;
    let action = fields.get("action").unwrap_or(&Value::Null);
    if action.as_str().is_some_and(|name| NAMES.contains(&name)) {
        return None;
    }
    let mut found = idle(format!("Unknown action: {}", python_text(action)));
    if action.is_array() || action.is_object() {
        found.warnings.push("the document's program fails here".to_owned());
    }
    Some(found)
}

/// The last resort: a known action with invalid fields.
fn invalid(text: &str, params: &ActionParams) -> FoundValue<Action> {
    let fields = object(text).unwrap_or_default();
    let name = fields.get("action").and_then(Value::as_str).unwrap_or("");
    let mut reader = Pydantic::new(&fields);
    build(name, &mut reader, params.agents);
    idle(format!("Invalid action data: {}", reader.message()))
}

fn idle(reason: String) -> FoundValue<Action> {
    FoundValue::plain(Action::Idle { reasoning: Some(reason) })
}

/// The value as Python prints it, for texts, numbers and the three constants.
fn python_text(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
