//! Messages in the form of Inspect (`ChatMessage` of inspect-ai 0.3), from that of chat completions.

use retold::event::ResponseDetails;
use retold::members::Members;
use retold::model::Content;
use retold::model::providers::{CalledTool, reasoning_text};
use serde_json::{Map, Value, json};

/// An answer as a message of chat completions.
pub(super) fn answer_message(content: &Content, details: &ResponseDetails) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    message.insert("content".to_owned(), content.text().into());
    let kept =
        ["tool_calls", "reasoning_content", "reasoning", "thinking", "content_parts", "refusal"];
    for name in kept {
        let part = details.extra.get(name);
        message.extend(part.map(|part| (name.to_owned(), part.clone())));
    }
    Value::Object(message)
}

/// The role, text and calls of a message, by which two messages are compared. A program may send an answer back without its
/// reasoning.
pub(super) fn comparison_text(message: &Value) -> String {
    let calls: Vec<Value> = CalledTool::all(message).map(tool_call).collect();
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        parts => parts.to_string(),
    };
    json!([message["role"], text, calls, message["tool_call_id"]]).to_string()
}

/// A message as Inspect has it.
pub(super) fn inspect_message(chat: &Value) -> Value {
    let role = match chat["role"].as_str() {
        Some("developer" | "system") => "system",
        Some("assistant") => "assistant",
        Some("tool" | "function") => "tool",
        _ => "user",
    };
    let mut message = json!({"role": role, "content": content(chat)});
    if role == "tool" && chat["tool_call_id"].is_string() {
        message.set("tool_call_id", chat["tool_call_id"].clone());
    }
    let calls: Vec<Value> = CalledTool::all(chat).map(tool_call).collect();
    if !calls.is_empty() {
        message.set("tool_calls", calls.into());
    }
    message
}

/// A text alone, or a list of parts.
fn content(chat: &Value) -> Value {
    let mut parts: Vec<Value> = Vec::new();
    parts.extend(
        chat.as_object()
            .and_then(reasoning_text)
            .map(|text| json!({"type": "reasoning", "reasoning": text})),
    );
    match &chat["content"] {
        Value::String(text) if parts.is_empty() && !chat["refusal"].is_string() => {
            return text.as_str().into();
        }
        Value::String(text) if !text.is_empty() => {
            parts.push(json!({"type": "text", "text": text}))
        }
        Value::Array(all) => parts.extend(all.iter().map(part)),
        _ => {}
    }
    let refusal = chat["refusal"].as_str();
    parts.extend(refusal.map(|text| json!({"type": "text", "text": text, "refusal": true})));
    match parts.is_empty() {
        true => "".into(),
        false => parts.into(),
    }
}

fn part(part: &Value) -> Value {
    match part["type"].as_str() {
        Some("text") => json!({"type": "text", "text": part["text"].as_str().unwrap_or("")}),
        Some("image_url") => {
            json!({"type": "image", "image": part["image_url"]["url"].as_str().unwrap_or("")})
        }
        // What Inspect has no form for, or another one than the provider.
        _ => json!({"type": "data", "data": {"part": part}}),
    }
}

/// A call of a tool. Inspect has arguments by name: others are kept as they are, and marked.
fn tool_call(call: CalledTool<'_>) -> Value {
    let CalledTool { id, name, arguments } = call;
    let mut written = json!({"id": id.unwrap_or(""), "type": "function", "function": name});
    match arguments.is_object() {
        true => written.set("arguments", arguments),
        false => {
            written.set("arguments", json!({"arguments": arguments}));
            written.set("parse_error", "the arguments are not an object of JSON".into());
        }
    }
    written
}
