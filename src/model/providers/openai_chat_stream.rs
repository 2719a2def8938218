//! The pieces of a streamed chat completion, put together.

use data_encoding::BASE64;
use serde_json::{Map, Value, json};

use super::reply_parts::append;

use crate::members::Members;

/// One answer of a stream, as far as it has come.
#[derive(Default)]
pub(super) struct StreamChoice {
    fields: Map<String, Value>,
    message: Map<String, Value>,
    /// In order, each with the index that its pieces have.
    calls: Vec<(u64, Map<String, Value>)>,
    /// The bytes of spoken words.
    sound: Vec<u8>,
}

impl StreamChoice {
    /// The call to which a piece belongs: the last one with its index, unless the piece has another id. Some servers give all
    /// calls one index, or none.
    fn call_at(&mut self, index: u64, id: &Value) -> Option<&mut Map<String, Value>> {
        let is_new = |call: &Map<String, Value>| {
            let (known, id) = (call.get("id").and_then(Value::as_str), id.as_str());
            let (known, id) = (known.unwrap_or_default(), id.unwrap_or_default());
            !known.is_empty() && !id.is_empty() && known != id
        };
        let calls = self.calls.iter().enumerate();
        let last = calls.rev().find(|(_, (at, _))| *at == index);
        let at = match last.filter(|(_, (_, call))| !is_new(call)) {
            Some((at, _)) => at,
            None => {
                // Those with their own indices are in the order of these.
                let at = self.calls.iter().rposition(|(at, _)| *at <= index).map_or(0, |at| at + 1);
                self.calls.insert(at, (index, Map::new()));
                at
            }
        };
        self.calls.get_mut(at).map(|(_, call)| call)
    }

    pub(super) fn add(&mut self, choice: &Value) {
        for (name, value) in choice.as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                ("delta" | "index", _) | (_, Value::Null) => {}
                ("logprobs", Value::Object(parts)) => add_logprobs(&mut self.fields, parts),
                _ => drop(self.fields.insert(name.clone(), value.clone())),
            }
        }
        for (name, value) in choice["delta"].as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                (_, Value::Null) => {}
                ("tool_calls", Value::Array(calls)) => {
                    for (at, call) in calls.iter().enumerate() {
                        let index = call["index"].as_u64().unwrap_or(at as u64);
                        if let Some(begun) = self.call_at(index, &call["id"]) {
                            add_call(begun, call);
                        }
                    }
                }
                ("role", role) => drop(self.message.insert("role".to_owned(), role.clone())),
                ("content", content)
                    if content.is_array()
                        || self.message.get("content").is_some_and(Value::is_array) =>
                {
                    add_content(&mut self.message, content);
                }
                (_, Value::String(text)) => append(&mut self.message, name, text),
                (_, Value::Array(more)) => match self.message.get_mut(name) {
                    Some(Value::Array(items)) => items.extend(more.iter().cloned()),
                    _ => drop(self.message.insert(name.clone(), value.clone())),
                },
                ("audio", Value::Object(parts)) => self.add_audio(parts),
                ("function_call", Value::Object(_)) => {
                    let call = self.message.entry(name.clone()).or_insert_with(|| json!({}));
                    if let Some(call) = call.as_object_mut() {
                        add_function(call, value);
                    }
                }
                _ => drop(self.message.insert(name.clone(), value.clone())),
            }
        }
    }

    /// Its transcript comes in pieces, and its sound in packets, each in a base64 of its own.
    fn add_audio(&mut self, parts: &Map<String, Value>) {
        let audio = self.message.entry("audio").or_insert_with(|| json!({}));
        let Some(audio) = audio.as_object_mut() else { return };
        for (name, value) in parts {
            match (name.as_str(), value) {
                (_, Value::Null) => {}
                ("transcript", Value::String(text)) => append(audio, name, text),
                ("data", Value::String(packet)) => {
                    match BASE64.decode(packet.as_bytes()) {
                        Ok(sound) => self.sound.extend(sound),
                        // Kept as it came.
                        Err(_) => append(audio, name, packet),
                    }
                }
                _ => drop(audio.insert(name.clone(), value.clone())),
            }
        }
    }

    pub(super) fn whole(mut self, index: u64) -> Value {
        if let (Some(audio), false) = (self.message.get_mut("audio"), self.sound.is_empty()) {
            audio.set("data", BASE64.encode(&self.sound).into());
        }
        if !self.calls.is_empty() {
            let calls = std::mem::take(&mut self.calls).into_iter();
            let calls = calls.map(|(_, call)| Value::Object(call));
            self.message.insert("tool_calls".to_owned(), calls.collect());
        }
        self.message.entry("content").or_insert(Value::Null);
        self.fields.insert("index".to_owned(), index.into());
        self.fields.insert("message".to_owned(), Value::Object(self.message));
        Value::Object(self.fields)
    }
}

/// Adds to a content of parts. A part continues the one before it if that has the same type and only texts.
fn add_content(message: &mut Map<String, Value>, more: &Value) {
    let text = |text: &str| json!({"type": "text", "text": text});
    let mut parts = match message.remove("content") {
        Some(Value::Array(parts)) => parts,
        Some(Value::String(said)) if !said.is_empty() => vec![text(&said)],
        _ => Vec::new(),
    };
    let more = match more {
        Value::Array(more) => more.clone(),
        Value::String(said) => vec![text(said)],
        _ => Vec::new(),
    };
    for part in more {
        let last = parts.last_mut().filter(|last| last["type"] == part["type"]);
        match (last, &part["text"], &part["thinking"]) {
            (Some(last), Value::String(more), _) if last["text"].is_string() => {
                last.set("text", format!("{}{more}", last["text"].as_str().unwrap_or("")).into());
            }
            (Some(last), _, Value::Array(more)) if last["thinking"].is_array() => {
                if let Some(thinking) = last.get_mut("thinking").and_then(Value::as_array_mut) {
                    thinking.extend(more.iter().cloned());
                }
            }
            _ => parts.push(part),
        }
    }
    message.insert("content".to_owned(), Value::Array(parts));
}

fn add_logprobs(fields: &mut Map<String, Value>, parts: &Map<String, Value>) {
    let all = fields.entry("logprobs").or_insert_with(|| json!({}));
    for (name, value) in parts {
        match (all.get_mut(name), value) {
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more.iter().cloned()),
            (_, Value::Null) => {}
            _ => all.set(name, value.clone()),
        }
    }
}

fn add_call(call: &mut Map<String, Value>, more: &Value) {
    for (name, value) in more.as_object().into_iter().flatten() {
        match name.as_str() {
            "index" => {}
            _ if value.is_null() => {}
            "function" | "custom" => {
                let function = call.entry(name.clone()).or_insert_with(|| json!({}));
                if let Some(function) = function.as_object_mut() {
                    add_function(function, value);
                }
            }
            _ => drop(call.insert(name.clone(), value.clone())),
        }
    }
}

/// Its arguments come in pieces, its name as a whole.
fn add_function(function: &mut Map<String, Value>, more: &Value) {
    for (name, value) in more.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            (_, Value::Null) => {}
            ("arguments" | "input", Value::String(text)) => append(function, name, text),
            ("name", Value::String(text)) if text.is_empty() => {}
            _ => drop(function.insert(name.clone(), value.clone())),
        }
    }
}
