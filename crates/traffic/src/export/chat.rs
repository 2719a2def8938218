//! Conversations of other APIs, as chat completions have them. What they cannot hold is listed.

use serde_json::{Map, Value, json};

/// A conversation, and the tools that were offered.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Chat {
    pub(super) messages: Vec<Value>,
    pub(super) tools: Vec<Value>,
    /// What could not be represented.
    pub(super) lost: Vec<String>,
}

/// The conversation of a request to an API; `None` if it has none.
pub(super) fn chat(dialect: &str, body: &Map<String, Value>) -> Option<Chat> {
    let mut chat = Chat::default();
    let messages = body.get("messages")?.as_array()?;
    match dialect {
        "openai.chat" => {
            chat.messages =
                messages.iter().map(|message| chat_message(message, &mut chat.lost)).collect();
            chat.tools = list(body, "tools").to_vec();
        }
        "anthropic.messages" => anthropic(body, messages, &mut chat),
        "gemini.content" => gemini(body, messages, &mut chat),
        "openai.responses" => responses(body, messages, &mut chat),
        "ollama" => ollama(body, messages, &mut chat),
        _ => return None,
    }
    (!chat.messages.is_empty()).then_some(chat)
}

/// What is kept of a message in the form of chat completions.
fn chat_message(message: &Value, lost: &mut Vec<String>) -> Value {
    const KNOWN: &[&str] = &["role", "content", "name", "tool_calls", "tool_call_id", "weight"];
    let mut kept = Map::new();
    for (name, value) in message.as_object().into_iter().flatten() {
        match name.as_str() {
            // The format has one role for both.
            "role" if value == "developer" => drop(kept.insert(name.clone(), "system".into())),
            _ if value.is_null() && name != "content" => {}
            known if KNOWN.contains(&known) => drop(kept.insert(name.clone(), value.clone())),
            other => lost.push(format!("{other} of a message")),
        }
    }
    for part in message["content"].as_array().into_iter().flatten() {
        let kind = part["type"].as_str().unwrap_or("");
        if !matches!(kind, "text" | "image_url") {
            lost.push(format!("{kind} in a message"));
        }
    }
    Value::Object(kept)
}

fn list<'a>(body: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    body.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text of a text, or of a list of parts.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn call(id: &Value, name: &Value, arguments: &Value) -> Value {
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn function(name: &Value, description: &Value, parameters: &Value) -> Value {
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
struct MessageParts {
    content: Vec<Value>,
    calls: Vec<Value>,
}

impl MessageParts {
    fn text(&mut self, text: &str) {
        self.content.push(json!({"type": "text", "text": text}));
    }

    fn image(&mut self, kind: &Value, base64: &Value) {
        let (kind, data) = (kind.as_str().unwrap_or(""), base64.as_str().unwrap_or(""));
        let url = format!("data:{kind};base64,{data}");
        self.content.push(json!({"type": "image_url", "image_url": {"url": url}}));
    }

    /// The message, unless it is empty.
    fn message(self, role: &str) -> Option<Value> {
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

fn anthropic(body: &Map<String, Value>, messages: &[Value], chat: &mut Chat) {
    if let Some(system) = body.get("system") {
        chat.messages.push(json!({"role": "system", "content": text_of(system)}));
    }
    for message in messages {
        let role = message["role"].as_str().unwrap_or("user");
        let mut parts = MessageParts::default();
        let one = [json!({"type": "text", "text": message["content"]})];
        for block in message["content"].as_array().map_or(&one[..], Vec::as_slice) {
            match block["type"].as_str().unwrap_or("") {
                "text" => parts.text(block["text"].as_str().unwrap_or("")),
                "tool_use" => parts.calls.push(call(&block["id"], &block["name"], &block["input"])),
                "tool_result" => chat.messages.push(json!({"role": "tool",
                    "tool_call_id": block["tool_use_id"], "content": text_of(&block["content"])})),
                "image" if block["source"]["type"] == "base64" => {
                    parts.image(&block["source"]["media_type"], &block["source"]["data"]);
                }
                other => chat.lost.push(format!("{other} in a message")),
            }
        }
        chat.messages.extend(parts.message(role));
    }
    for tool in list(body, "tools") {
        match tool["input_schema"].is_object() {
            true => chat.tools.push(function(
                &tool["name"],
                &tool["description"],
                &tool["input_schema"],
            )),
            false => chat.lost.push("a tool of the provider".to_owned()),
        }
    }
}

fn gemini(body: &Map<String, Value>, messages: &[Value], chat: &mut Chat) {
    let system = body.get("systemInstruction").or(body.get("system_instruction"));
    if let Some(system) = system {
        chat.messages.push(json!({"role": "system", "content": text_of(&system["parts"])}));
    }
    for content in messages {
        let role = if content["role"] == "model" { "assistant" } else { "user" };
        let mut parts = MessageParts::default();
        for part in content["parts"].as_array().into_iter().flatten() {
            let (called, result) = (&part["functionCall"], &part["functionResponse"]);
            let data = if part["inlineData"].is_object() {
                &part["inlineData"]
            } else {
                &part["inline_data"]
            };
            // Calls without an id are answered by name.
            let id = |call: &Value| {
                if call["id"].is_string() { call["id"].clone() } else { call["name"].clone() }
            };
            if part["thought"] == true {
                chat.lost.push("reasoning in a message".to_owned());
            } else if let Some(text) = part["text"].as_str() {
                parts.text(text);
            } else if called.is_object() {
                parts.calls.push(call(&id(called), &called["name"], &called["args"]));
            } else if result.is_object() {
                chat.messages.push(json!({"role": "tool", "tool_call_id": id(result),
                    "content": result["response"].to_string()}));
            } else if data.is_object() {
                let kind = if data["mimeType"].is_string() {
                    &data["mimeType"]
                } else {
                    &data["mime_type"]
                };
                parts.image(kind, &data["data"]);
            } else {
                chat.lost.push("a part of a message".to_owned());
            }
        }
        chat.messages.extend(parts.message(role));
    }
    for tool in list(body, "tools") {
        let declared =
            tool["functionDeclarations"].as_array().or(tool["function_declarations"].as_array());
        match declared {
            Some(declared) => chat.tools.extend(declared.iter().map(|declared| {
                let schema = match &declared["parameters"] {
                    Value::Null => &declared["parametersJsonSchema"],
                    schema => schema,
                };
                function(&declared["name"], &declared["description"], schema)
            })),
            None => chat.lost.push("a tool of the provider".to_owned()),
        }
    }
}

fn responses(body: &Map<String, Value>, items: &[Value], chat: &mut Chat) {
    if let Some(text) = body.get("instructions").and_then(Value::as_str) {
        chat.messages.push(json!({"role": "system", "content": text}));
    }
    if body.contains_key("previous_response_id") {
        chat.lost.push("the messages before previous_response_id".to_owned());
    }
    for item in items {
        match item["type"].as_str().unwrap_or("message") {
            "message" => {
                let role = match item["role"].as_str() {
                    Some("developer") => "system",
                    Some(role) => role,
                    None => "user",
                };
                let mut parts = MessageParts::default();
                let one = [json!({"type": "input_text", "text": item["content"]})];
                for part in item["content"].as_array().map_or(&one[..], Vec::as_slice) {
                    match part["type"].as_str().unwrap_or("") {
                        "input_text" | "output_text" => {
                            parts.text(part["text"].as_str().unwrap_or(""))
                        }
                        "input_image" if part["image_url"].is_string() => {
                            parts.content.push(json!({"type": "image_url", "image_url": {"url": part["image_url"]}}));
                        }
                        other => chat.lost.push(format!("{other} in a message")),
                    }
                }
                chat.messages.extend(parts.message(role));
            }
            "function_call" => {
                let called = call(&item["call_id"], &item["name"], &item["arguments"]);
                // Calls of one answer are items of their own.
                let last = chat.messages.last_mut().filter(|last| last["role"] == "assistant");
                match last.and_then(|last| last.get_mut("tool_calls")).and_then(Value::as_array_mut)
                {
                    Some(calls) => calls.push(called),
                    None => chat.messages.push(
                        json!({"role": "assistant", "content": null, "tool_calls": [called]}),
                    ),
                }
            }
            "function_call_output" => chat.messages.push(json!({"role": "tool",
                "tool_call_id": item["call_id"], "content": text_of(&item["output"])})),
            other => chat.lost.push(format!("{other} in the conversation")),
        }
    }
    for tool in list(body, "tools") {
        match tool["type"] == "function" {
            true => {
                chat.tools.push(function(&tool["name"], &tool["description"], &tool["parameters"]))
            }
            false => chat.lost.push("a tool of the provider".to_owned()),
        }
    }
}

fn ollama(body: &Map<String, Value>, messages: &[Value], chat: &mut Chat) {
    if let Some(system) = body.get("system").and_then(Value::as_str) {
        chat.messages.push(json!({"role": "system", "content": system}));
    }
    for message in messages {
        let mut parts = MessageParts::default();
        if let Some(text) = message["content"].as_str() {
            parts.text(text);
        }
        if message["images"].is_array() {
            chat.lost.push("an image, of which the kind is not recorded".to_owned());
        }
        for one in message["tool_calls"].as_array().into_iter().flatten() {
            let called = &one["function"];
            let id = if one["id"].is_string() { &one["id"] } else { &called["name"] };
            parts.calls.push(call(id, &called["name"], &called["arguments"]));
        }
        let role = message["role"].as_str().unwrap_or("user");
        if let Some(mut message_made) = parts.message(role) {
            let id = if message["tool_call_id"].is_string() {
                &message["tool_call_id"]
            } else {
                &message["tool_name"]
            };
            if role == "tool" && id.is_string() {
                message_made["tool_call_id"] = id.clone();
            }
            chat.messages.push(message_made);
        }
    }
    chat.tools = list(body, "tools").to_vec();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dialect: &str, body: Value) -> Chat {
        chat(dialect, body.as_object().unwrap()).unwrap()
    }

    /// One conversation with a tool, in the words of each API.
    #[test]
    fn a_conversation_with_a_tool_is_the_same_from_each_api() {
        let schema = json!({"type": "object"});
        let due = vec![
            json!({"role": "system", "content": "Be brief."}),
            json!({"role": "user", "content": "Weather?"}),
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "w", "arguments": "{\"x\":1}"}}]}),
            json!({"role": "tool", "tool_call_id": "c", "content": "rain"}),
        ];
        let tool = json!({"type": "function", "function": {"name": "w", "description": "d", "parameters": schema}});
        let chats = [
            read(
                "openai.chat",
                json!({"messages": [
                {"role": "developer", "content": "Be brief."}, due[1], due[2], due[3]], "tools": [tool]}),
            ),
            read(
                "anthropic.messages",
                json!({"system": [{"type": "text", "text": "Be brief."}], "messages": [
                {"role": "user", "content": "Weather?"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "w", "input": {"x": 1}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "rain"}]}],
                "tools": [{"name": "w", "description": "d", "input_schema": schema}]}),
            ),
            read(
                "openai.responses",
                json!({"instructions": "Be brief.", "messages": [
                {"role": "user", "content": "Weather?"},
                {"type": "function_call", "call_id": "c", "name": "w", "arguments": "{\"x\":1}"},
                {"type": "function_call_output", "call_id": "c", "output": "rain"}],
                "tools": [{"type": "function", "name": "w", "description": "d", "parameters": schema}]}),
            ),
            read(
                "ollama",
                json!({"messages": [due[0], due[1],
                {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "w", "arguments": {"x": 1}}}]},
                {"role": "tool", "tool_call_id": "c", "content": "rain"}], "tools": [tool]}),
            ),
        ];
        for chat in chats {
            assert_eq!(
                (&chat.messages, &chat.tools, chat.lost.len()),
                (&due, &vec![tool.clone()], 0)
            );
        }
        let gemini = read(
            "gemini.content",
            json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}, "messages": [
            {"role": "user", "parts": [{"text": "Weather?"}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "w", "args": {"x": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "w", "response": {"a": 1}}}]}],
            "tools": [{"functionDeclarations": [{"name": "w", "description": "d", "parameters": schema}]}]}),
        );
        assert_eq!((&gemini.messages[..3], &gemini.tools), (&due[..3], &vec![tool]));
        assert_eq!(gemini.messages[3]["content"], "{\"a\":1}");
    }

    #[test]
    fn what_has_no_place_is_listed() {
        let chat = read(
            "anthropic.messages",
            json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "Look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            {"type": "document", "source": {}}]}], "tools": [{"type": "web_search", "name": "s"}]}),
        );
        assert_eq!(chat.lost, ["document in a message", "a tool of the provider"]);
        assert_eq!(
            chat.messages[0]["content"][1]["image_url"]["url"],
            "data:image/png;base64,AAAA"
        );
        assert!(super::chat("http", &Map::new()).is_none());
    }
}
