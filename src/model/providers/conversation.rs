//! The conversation of a request, as chat completions have it. What they cannot hold is listed.

use serde_json::{Map, Value, json};

/// A conversation, and the tools that were offered.
#[derive(Debug, Default, PartialEq)]
pub struct Conversation {
    /// The messages.
    pub messages: Vec<Value>,
    /// The tools.
    pub tools: Vec<Value>,
    /// What could not be represented, for people.
    pub lost: Vec<String>,
}

/// The items of a list; none if it is absent.
pub(super) fn list<'a>(body: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    body.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a text, or of a list of parts.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// A call of a function.
pub(super) fn call(id: &Value, name: &Value, arguments: &Value) -> Value {
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

/// A function that was offered.
pub(super) fn function(name: &Value, description: &Value, parameters: &Value) -> Value {
    let mut function = json!({"name": name});
    for (field, value) in [("description", description), ("parameters", parameters)] {
        if !value.is_null() {
            function[field] = value.clone();
        }
    }
    json!({"type": "function", "function": function})
}

/// A message that is being put together out of parts.
#[derive(Default)]
pub(super) struct MessageParts {
    pub(super) content: Vec<Value>,
    pub(super) calls: Vec<Value>,
}

impl MessageParts {
    /// Adds a text.
    pub(super) fn text(&mut self, text: &str) {
        self.content.push(json!({"type": "text", "text": text}));
    }

    /// Adds an image.
    pub(super) fn image(&mut self, kind: &Value, base64: &Value) {
        let (kind, data) = (kind.as_str().unwrap_or(""), base64.as_str().unwrap_or(""));
        let url = format!("data:{kind};base64,{data}");
        self.content.push(json!({"type": "image_url", "image_url": {"url": url}}));
    }

    /// The message, unless it is empty.
    pub(super) fn message(self, role: &str) -> Option<Value> {
        let MessageParts { content, calls } = self;
        if content.is_empty() && calls.is_empty() {
            return None;
        }
        let is_text = content.iter().all(|part| part["type"] == "text");
        let content = match (content.as_slice(), is_text) {
            ([], _) => Value::Null,
            (_, true) => text_of(&Value::Array(content)).into(),
            (_, false) => Value::Array(content),
        };
        let mut message = json!({"role": role, "content": content});
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        Some(message)
    }
}
