//! OpenAI's chat completions, and the many servers that speak them (Azure, vLLM, Groq, Mistral,
//! OpenRouter, Ollama's and Gemini's compatible endpoints).

use std::collections::BTreeMap;

use retold::model::Response;
use retold::prompt::{Api, TRANSPORT_LISTS};
use serde_json::{Map, Value, json};

use super::ending::{error_in, failed_as};
use super::{Dialect, Ending, NotRead, Problem, append, openai_error, read};

#[derive(Debug)]
pub(super) struct OpenAiChat;

impl Dialect for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai.chat"
    }

    fn is_at(&self, path: &str) -> bool {
        path.ends_with("/chat/completions")
    }

    fn is_plain(&self, upstream: &str, path: &str) -> bool {
        upstream == "openai" && path == "/chat/completions"
    }

    /// The first list of our own studies, so that both have the same prompt hash.
    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        TRANSPORT_LISTS[0].fields
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        if !body.get("messages").is_some_and(Value::is_array) {
            return None;
        }
        // As in a study, where it is what a request has if it says nothing.
        if body.get("n").is_some_and(|n| n.as_f64() == Some(1.0)) {
            body.remove("n");
        }
        Some((Api::Chat, body))
    }

    fn is_last(&self, data: &str) -> bool {
        data.trim() == "[DONE]"
            || data.contains("\"error\"")
                && serde_json::from_str(data).is_ok_and(|event: Value| {
                    matches!(self.ending(&self.assembled(&[event]), true), Ending::Failed(_))
                })
    }

    fn assembled(&self, events: &[Value]) -> Value {
        let mut reply = Map::new();
        let mut choices: BTreeMap<u64, StreamChoice> = BTreeMap::new();
        for event in events {
            for (name, value) in event.as_object().into_iter().flatten() {
                match name.as_str() {
                    "choices" => {}
                    "object" if value != "error" => {
                        drop(reply.insert("object".to_owned(), "chat.completion".into()))
                    }
                    // Each event has its own, or null.
                    _ if value.is_null() => {}
                    "obfuscation" => {}
                    _ => drop(reply.insert(name.clone(), value.clone())),
                }
            }
            for choice in event["choices"].as_array().into_iter().flatten() {
                let index = choice["index"].as_u64().unwrap_or(0);
                choices.entry(index).or_default().add(choice);
            }
        }
        let choices = choices.into_iter().map(|(index, choice)| choice.whole(index));
        reply.insert("choices".to_owned(), choices.collect());
        Value::Object(reply)
    }

    /// OpenRouter says in a choice, in an event or by a finish reason that a provider failed; servers on
    /// older vLLM send the error itself as an event.
    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        let choices = reply["choices"].as_array().map_or(&[][..], Vec::as_slice);
        let reason = |choice: &Value| {
            choice["finish_reason"].as_str().filter(|it| !it.is_empty()).map(str::to_owned)
        };
        let failed = error_in(&reply["error"])
            .or_else(|| error_in(if reply["object"] == "error" { reply } else { &Value::Null }))
            .or_else(|| choices.iter().find_map(|choice| error_in(&choice["error"])))
            .or_else(|| {
                let reasons = choices.iter().filter_map(reason);
                reasons.into_iter().find(|reason| reason == "error").map(|it| failed_as(&it))
            });
        let has_reasons = !choices.is_empty() && choices.iter().all(|it| reason(it).is_some());
        Ending::or(failed, || Ending::marked(has_end || has_reasons, "[DONE] or a finish reason"))
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        read(reply)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        openai_error(problem)
    }
}

/// One answer of a stream, as far as it has come.
#[derive(Default)]
struct StreamChoice {
    fields: Map<String, Value>,
    message: Map<String, Value>,
    calls: BTreeMap<u64, Map<String, Value>>,
}

impl StreamChoice {
    fn add(&mut self, choice: &Value) {
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
                        add_call(self.calls.entry(index).or_default(), call);
                    }
                }
                ("role", role) => drop(self.message.insert("role".to_owned(), role.clone())),
                (_, Value::String(text)) => append(&mut self.message, name, text),
                (_, Value::Array(more)) => match self.message.get_mut(name) {
                    Some(Value::Array(items)) => items.extend(more.iter().cloned()),
                    _ => drop(self.message.insert(name.clone(), value.clone())),
                },
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

    fn whole(mut self, index: u64) -> Value {
        if !self.calls.is_empty() {
            let calls = std::mem::take(&mut self.calls).into_values().map(Value::Object);
            self.message.insert("tool_calls".to_owned(), calls.collect());
        }
        self.message.entry("content").or_insert(Value::Null);
        self.fields.insert("index".to_owned(), index.into());
        self.fields.insert("message".to_owned(), Value::Object(self.message));
        Value::Object(self.fields)
    }
}

fn add_logprobs(fields: &mut Map<String, Value>, parts: &Map<String, Value>) {
    let all = fields.entry("logprobs").or_insert_with(|| json!({}));
    for (name, value) in parts {
        match (all.get_mut(name), value) {
            (Some(Value::Array(items)), Value::Array(more)) => items.extend(more.iter().cloned()),
            (_, Value::Null) => {}
            _ => all[name] = value.clone(),
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

#[cfg(test)]
mod tests {
    use retold::model::Content;

    use super::*;

    /// Reduced from what the API sends for two tool calls and for a text with usage.
    #[test]
    fn a_stream_amounts_to_the_reply_that_would_not_have_been_streamed() {
        let chunk = |delta: Value, reason: Value| {
            json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "usage": null,
                "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}]})
        };
        let null = Value::Null;
        let tool = |part: Value| json!({"tool_calls": [part]});
        let mut events = vec![
            chunk(json!({"role": "assistant", "content": null, "refusal": null}), null.clone()),
            chunk(json!({"content": "Two "}), null.clone()),
            chunk(json!({"content": "calls", "reasoning_content": "hm"}), null.clone()),
            chunk(
                tool(
                    json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}),
                ),
                null.clone(),
            ),
            chunk(tool(json!({"index": 0, "function": {"arguments": "{\"x\""}})), null.clone()),
            chunk(
                tool(
                    json!({"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}),
                ),
                null.clone(),
            ),
            chunk(tool(json!({"index": 0, "function": {"arguments": ":1}"}})), null),
            chunk(json!({}), "tool_calls".into()),
        ];
        events.push(json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}));
        let reply = OpenAiChat.assembled(&events);
        let due = json!({
            "id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": "Two calls", "reasoning_content": "hm", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
                    {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
                ]}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
        });
        assert_eq!(reply, due);
        let answer = OpenAiChat.answer(reply).unwrap();
        assert_eq!(answer.content, Content::from("Two calls"));
        assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"));
        assert_eq!(answer.usage.unwrap().completion_tokens, Some(4));
        assert_eq!(answer.extra["tool_calls"][1]["id"], "b");
    }
}
