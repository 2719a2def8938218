//! Messages as OpenLLMetry has them: an attribute for each of their fields, with the number of the message in its name
//! (`gen_ai.prompt.0.role`, `gen_ai.completion.0.content`, `gen_ai.prompt.2.tool_calls.0.name`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::captured::{CapturedChoice, text};

use retold::members::Members;

/// The fields of what has a number, by the number.
type Numbered<'a> = BTreeMap<usize, BTreeMap<&'a str, &'a Value>>;

/// The messages of a request and the choices of its answer.
pub(super) fn messages_and_choices(
    attributes: &Map<String, Value>,
) -> (Vec<Value>, Vec<CapturedChoice>) {
    let prompts = by_number(attributes.iter(), "gen_ai.prompt.");
    let messages = prompts.values().map(|fields| message(fields, "user")).collect();
    let completions = by_number(attributes.iter(), "gen_ai.completion.");
    let choice = |fields: &BTreeMap<&str, &Value>| CapturedChoice {
        message: message(fields, "assistant"),
        finish_reason: fields.get("finish_reason").and_then(|why| text(why)),
    };
    (messages, completions.values().map(choice).collect())
}

/// The fields whose names begin like this and have a number next.
fn by_number<'a>(
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
    prefix: &str,
) -> Numbered<'a> {
    let mut all = Numbered::new();
    for (name, value) in fields {
        let Some((number, field)) = name.strip_prefix(prefix).and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        if let Ok(number) = number.parse() {
            all.entry(number).or_default().insert(field, value);
        }
    }
    all
}

fn message(fields: &BTreeMap<&str, &Value>, role: &str) -> Value {
    let field = |name: &str| fields.get(name).map_or(Value::Null, |value| (*value).clone());
    let role = text(&field("role")).unwrap_or_else(|| role.to_owned());
    let mut message = json!({"role": role, "content": field("content")});
    if !field("tool_call_id").is_null() {
        message.set("tool_call_id", field("tool_call_id"));
    }
    let owned: Vec<(String, &Value)> =
        fields.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let calls = by_number(owned.iter().map(|(name, value)| (name, *value)), "tool_calls.");
    if !calls.is_empty() {
        let call = |fields: &BTreeMap<&str, &Value>| {
            let field = |name: &str| fields.get(name).map_or(Value::Null, |value| (*value).clone());
            json!({"id": field("id"), "type": "function",
                "function": {"name": field("name"), "arguments": field("arguments")}})
        };
        message.set("tool_calls", calls.values().map(call).collect());
    }
    message
}
