//! Ollama's own API: chat and generate.

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, MessageParts, call, list};
use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in};
use super::ids;
use super::provider::{Provider, RecordedBase};
use super::reply_parts::{TokenCounts, answer_of, append, tool_call};
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

const PROVIDERS: &[Provider] = &[Provider {
    variables: &["OLLAMA_HOST"],
    default: Some("http://127.0.0.1:11434"),
    port: Some(11434),
    recorded_at: &[RecordedBase { host: "http://localhost:11434", path: "/" }],
    ..Provider::new("ollama")
}];

/// Ollama's own API. It is served on machines of one's own, and studies ask it in OpenAI's words.
#[derive(Debug)]
pub(super) struct Ollama;

impl Dialect for Ollama {
    fn name(&self) -> &'static str {
        "ollama"
    }

    fn providers(&self) -> &'static [Provider] {
        PROVIDERS
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/api/chat", "/api/generate"]
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("stream", "how the bytes of the answer travel, not what they say"),
            ("keep_alive", "how long the server keeps the model in memory"),
        ]
    }

    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        ids::at(body, &["messages", "*", "tool_calls", "*", "id"], each);
        ids::at(body, &["messages", "*", "tool_call_id"], each);
    }

    /// Streams unless told otherwise.
    fn is_streamed(&self, _path: &str, body: &Map<String, Value>) -> bool {
        body.get("stream").and_then(Value::as_bool).unwrap_or(true)
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        if body.get("messages").is_some_and(Value::is_array) {
            return Some((Api::Chat, body));
        }
        let prompt = body.remove("prompt").filter(Value::is_string)?;
        let messages = json!([{"role": "user", "content": prompt}]);
        body.insert("messages".to_owned(), messages).is_none().then_some((Api::Chat, body))
    }

    fn body(
        &self,
        mut prompt: Map<String, Value>,
        path: &str,
        is_streamed: bool,
    ) -> Map<String, Value> {
        if path.ends_with("/api/generate")
            && let Some(mut messages) = prompt.remove("messages")
        {
            prompt.insert("prompt".to_owned(), messages.take_at("/0/content"));
        }
        if !is_streamed {
            prompt.insert("stream".to_owned(), false.into());
        }
        prompt
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
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
                    message_made.set("tool_call_id", id.clone());
                }
                chat.messages.push(message_made);
            }
        }
        chat.tools = list(body, "tools").to_vec();
    }

    fn is_last(&self, data: &str) -> bool {
        (data.contains("\"done\"") || data.contains("\"error\""))
            && serde_json::from_str(data).is_ok_and(|event: Value| {
                event["done"] == true || error_in(&event["error"]).is_some()
            })
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let (mut reply, mut message, mut calls) = (Map::new(), Map::new(), Vec::new());
        let mut said = Map::new();
        for event in events {
            for (name, value) in event.as_object().into_iter().flatten() {
                match (name.as_str(), value) {
                    ("message", Value::Object(parts)) => {
                        for (name, value) in parts {
                            match (name.as_str(), value) {
                                ("content" | "thinking", Value::String(text)) => {
                                    append(&mut message, name, text);
                                }
                                ("tool_calls", Value::Array(more)) => calls.extend(more.clone()),
                                _ => drop(message.insert(name.clone(), value.clone())),
                            }
                        }
                    }
                    ("response" | "thinking", Value::String(text)) => append(&mut said, name, text),
                    _ => drop(reply.insert(name.clone(), value.clone())),
                }
            }
        }
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), calls.into());
        }
        reply.extend(said);
        if !message.is_empty() {
            reply.insert("message".to_owned(), Value::Object(message));
        }
        Value::Object(reply)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::by_mark(has_end, "\"done\": true"))
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        let is = |name: &str, of: fn(&Value) -> bool| fields.get(name).is_some_and(of);
        let answers = is("message", Value::is_object) || is("response", Value::is_string);
        (answers && is("done", Value::is_boolean)).then_some("Ollama's own API")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let message = &reply["message"];
        let text = message["content"].as_str().or(reply["response"].as_str());
        let text = text.ok_or(NotRead::Missing("message"))?;
        let counts = TokenCounts {
            prompt: reply["prompt_eval_count"].as_u64(),
            completion: reply["eval_count"].as_u64(),
            ..TokenCounts::default()
        };
        let mut fields = json!({"content": text, "finish_reason": reply["done_reason"], "model": reply["model"],
            "usage": counts.json()});
        if let Some(thinking) = message["thinking"].as_str().or(reply["thinking"].as_str()) {
            fields.set("thinking", thinking.into());
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let calls: Vec<Value> = calls
            .map(|call| {
                tool_call(&call["id"], &call["function"]["name"], &call["function"]["arguments"])
            })
            .collect();
        if !calls.is_empty() {
            fields.set("tool_calls", calls.into());
        }
        answer_of(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        json!({"error": problem.message})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;

    #[test]
    fn chat_and_generate_are_read_streamed_or_not() {
        let chat = [
            json!({"model": "m", "message": {"role": "assistant", "content": "", "thinking": "hm"}, "done": false}),
            json!({"model": "m", "message": {"role": "assistant", "content": "One "}, "done": false}),
            json!({"model": "m", "message": {"role": "assistant", "content": "two", "tool_calls": [
                {"function": {"name": "f", "arguments": {"x": 1}}}]}, "done": false}),
            json!({"model": "m", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
                "prompt_eval_count": 5, "eval_count": 6}),
        ];
        assert!(Ollama.is_last(&chat[3].to_string()) && !Ollama.is_last(&chat[2].to_string()));
        let answer = Ollama.answer(Ollama.assemble(&chat)).unwrap();
        assert_eq!(answer.content, Content::from("One two"));
        assert_eq!(answer.extra["thinking"], "hm");
        assert_eq!(answer.extra["tool_calls"][0]["function"]["name"], "f");
        assert_eq!(answer.usage.unwrap().completion_tokens, Some(6));
        let generate = [
            json!({"model": "m", "response": "One ", "done": false}),
            json!({"model": "m", "response": "two", "done": true, "done_reason": "length"}),
        ];
        let answer = Ollama.answer(Ollama.assemble(&generate)).unwrap();
        assert_eq!(
            (answer.content, answer.finish_reason.as_deref()),
            (Content::from("One two"), Some("length"))
        );
    }
}
