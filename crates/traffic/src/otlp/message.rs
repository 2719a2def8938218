//! Messages as the conventions have them (`gen-ai-input-messages.json` and `gen-ai-output-messages.json`, version 1.41.0),
//! from and to the form of chat completions.

use retold::model::providers::{CalledTool, reasoning_text};
use serde_json::{Map, Value, json};

/// A message with parts.
pub(crate) fn message(chat: &Value) -> Value {
    json!({"role": chat["role"].as_str().unwrap_or("user"), "parts": parts(chat)})
}

/// The parts of a message of chat completions.
pub(crate) fn parts(chat: &Value) -> Vec<Value> {
    let mut parts = Vec::new();
    parts.extend(
        chat.as_object()
            .and_then(reasoning_text)
            .map(|text| json!({"type": "reasoning", "content": text})),
    );
    let content = &chat["content"];
    if chat["role"] == "tool" {
        let response =
            json!({"type": "tool_call_response", "id": chat["tool_call_id"], "response": content});
        parts.push(response);
        return parts;
    }
    match content {
        Value::String(text) if !text.is_empty() => {
            parts.push(json!({"type": "text", "content": text}));
        }
        Value::Array(all) => parts.extend(all.iter().map(part)),
        _ => {}
    }
    let refusal = chat["refusal"].as_str();
    parts.extend(refusal.map(|text| json!({"type": "refusal", "content": text})));
    parts.extend(CalledTool::all(chat).map(tool_call));
    parts
}

fn tool_call(call: CalledTool<'_>) -> Value {
    let CalledTool { id, name, arguments } = call;
    json!({"type": "tool_call", "id": id, "name": name, "arguments": arguments})
}

/// A part of a message's content.
fn part(part: &Value) -> Value {
    match part["type"].as_str() {
        Some("text") => json!({"type": "text", "content": part["text"].as_str().unwrap_or("")}),
        Some("image_url") => {
            let url = part["image_url"]["url"].as_str().unwrap_or("");
            match url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,")) {
                Some((kind, base64)) => {
                    json!({"type": "blob", "modality": "image", "mime_type": kind, "content": base64})
                }
                None => json!({"type": "uri", "modality": "image", "uri": url}),
            }
        }
        Some(_) => part.clone(),
        None => json!({"type": "other", "content": part}),
    }
}

/// The message of chat completions that a message with parts stands for; a message without parts is one already.
pub(crate) fn chat(message: &Value) -> Vec<Value> {
    let Some(parts) = message["parts"].as_array() else { return vec![message.clone()] };
    let mut messages = Vec::new();
    let mut own = Map::new();
    own.insert("role".to_owned(), message["role"].as_str().unwrap_or("user").into());
    let (mut content, mut calls, mut reasoning) = (Vec::new(), Vec::new(), String::new());
    for part in parts {
        match part["type"].as_str() {
            Some("text") => content.push(json!({"type": "text", "text": part_text(part)})),
            Some("reasoning") => reasoning.push_str(part_text(part).as_str().unwrap_or("")),
            Some("refusal") => drop(own.insert("refusal".to_owned(), part_text(part))),
            Some("tool_call") => {
                let arguments = match &part["arguments"] {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                calls.push(json!({"id": part["id"], "type": "function",
                    "function": {"name": part["name"], "arguments": arguments}}));
            }
            Some("tool_call_response") => {
                // Up to version 1.38 it was called `result`.
                let response = part.get("response").unwrap_or(&part["result"]);
                let response =
                    response.as_str().map_or_else(|| response.to_string(), str::to_owned);
                messages
                    .push(json!({"role": "tool", "tool_call_id": part["id"], "content": response}));
            }
            Some("blob") if part["modality"] == "image" => {
                let kind = part["mime_type"].as_str().unwrap_or("");
                let url = format!("data:{kind};base64,{}", part["content"].as_str().unwrap_or(""));
                content.push(json!({"type": "image_url", "image_url": {"url": url}}));
            }
            Some("uri") if part["modality"] == "image" => {
                content.push(json!({"type": "image_url", "image_url": {"url": part["uri"]}}));
            }
            _ => content.push(part.clone()),
        }
    }
    let is_text = content.iter().all(|part| part["type"] == "text");
    let text: String = content.iter().filter_map(|part| part["text"].as_str()).collect();
    let content = match (content.is_empty(), is_text) {
        (true, _) => Value::Null,
        (_, true) => text.into(),
        (_, false) => content.into(),
    };
    let is_empty = content.is_null() && calls.is_empty() && reasoning.is_empty();
    if is_empty && !messages.is_empty() {
        return messages;
    }
    own.insert("content".to_owned(), content);
    if !reasoning.is_empty() {
        own.insert("reasoning_content".to_owned(), reasoning.into());
    }
    if !calls.is_empty() {
        own.insert("tool_calls".to_owned(), calls.into());
    }
    messages.push(Value::Object(own));
    messages
}

/// The text of a part.
fn part_text(part: &Value) -> Value {
    part["content"].as_str().unwrap_or("").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_there_and_back() {
        for chat_message in [
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "user", "content": [{"type": "text", "text": "Look"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}),
            json!({"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "w", "arguments": "{\"x\":1}"}}]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "rain"}),
            json!({"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "A"}}]}),
        ] {
            let written = message(&chat_message);
            assert_eq!(chat(&written), vec![chat_message], "{written}");
        }
    }

    #[test]
    fn a_message_may_have_the_results_of_several_tools() {
        let both = json!({"role": "user", "parts": [{"type": "tool_call_response", "id": "a", "result": {"x": 1}},
            {"type": "tool_call_response", "id": "b", "response": "y"}]});
        let due = [
            json!({"role": "tool", "tool_call_id": "a", "content": "{\"x\":1}"}),
            json!({"role": "tool", "tool_call_id": "b", "content": "y"}),
        ];
        assert_eq!(chat(&both), due);
        assert_eq!(
            chat(&json!({"role": "user", "content": "x"})),
            [json!({"role": "user", "content": "x"})]
        );
    }
}
