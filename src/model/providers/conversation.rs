//! The conversation of a request, in the form of chat completions. Parts that this form cannot hold are listed.

use serde_json::{Map, Value, json};

use crate::members::Members;
use crate::model::parts::CONTENT_PARTS;

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

/// A call of a tool in a message of chat completions.
#[derive(Debug, Clone, PartialEq)]
pub struct CalledTool<'a> {
    /// Its id, which its result names.
    pub id: Option<&'a str>,
    /// The tool.
    pub name: &'a str,
    /// The arguments: the parsed JSON, or the text itself if it is not JSON.
    pub arguments: Value,
}

impl<'a> CalledTool<'a> {
    /// The calls of a message.
    pub fn all(message: &'a Value) -> impl Iterator<Item = Self> {
        message["tool_calls"].as_array().into_iter().flatten().map(Self::new)
    }

    fn new(call: &'a Value) -> Self {
        let function = &call["function"];
        // Logs of Inspect have the name itself.
        let (name, arguments) = match function.is_string() {
            true => (function, &call["arguments"]),
            false => (&function["name"], &function["arguments"]),
        };
        let read = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
        CalledTool {
            id: call["id"].as_str(),
            name: name.as_str().unwrap_or(""),
            arguments: read.unwrap_or_else(|| arguments.clone()),
        }
    }
}

/// The reasoning in the parts of a message beside its text, where its API has it: a text, or parts of Anthropic's content.
pub fn reasoning_text(parts: &Map<String, Value>) -> Option<String> {
    let named = ["reasoning_content", "reasoning", "thinking"];
    let text = named.iter().find_map(|name| parts.get(*name)?.as_str()).map(str::to_owned);
    text.or_else(|| {
        let content = parts.get(CONTENT_PARTS)?.as_array()?.iter();
        let thinking: Vec<&str> = content.filter_map(|part| part["thinking"].as_str()).collect();
        (!thinking.is_empty()).then(|| thinking.concat())
    })
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
            function.set(field, value.clone());
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
            message.set("tool_calls", calls.into());
        }
        Some(message)
    }
}
