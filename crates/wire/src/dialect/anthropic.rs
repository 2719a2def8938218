//! Anthropic's Messages API.

use std::collections::BTreeMap;

use retold::model::Response;
use retold::prompt::Api;
use serde_json::{Map, Value, json};

use super::{Dialect, NotRead, Problem, append, kind_of, read};

#[derive(Debug)]
pub(super) struct Anthropic;

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic.messages"
    }

    fn is_at(&self, path: &str) -> bool {
        path.ends_with("/v1/messages")
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("stream", "how the bytes of the answer travel, not what they say"),
            ("metadata", "an id of the user, for the provider's own statistics"),
        ]
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        body.get("messages").is_some_and(Value::is_array).then_some((Api::Chat, body))
    }

    fn is_last(&self, data: &str) -> bool {
        kind_of(data).is_some_and(|kind| kind == "message_stop" || kind == "error")
    }

    fn assembled(&self, events: &[Value]) -> Value {
        let mut message = Map::new();
        let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
        for event in events {
            let index = event["index"].as_u64().unwrap_or(0);
            match event["type"].as_str() {
                Some("message_start") => {
                    message = event["message"].as_object().cloned().unwrap_or_default();
                }
                Some("content_block_start") => {
                    let fields = event["content_block"].as_object().cloned().unwrap_or_default();
                    blocks.insert(index, Block { fields, input: String::new() });
                }
                Some("content_block_delta") => {
                    blocks.entry(index).or_default().add(&event["delta"]);
                }
                Some("message_delta") => {
                    message.extend(event["delta"].as_object().cloned().unwrap_or_default());
                    let usage = event["usage"].as_object().cloned().unwrap_or_default();
                    let all = message.entry("usage").or_insert_with(|| json!({}));
                    if let Some(all) = all.as_object_mut() {
                        all.extend(usage.into_iter().filter(|(_, count)| !count.is_null()));
                    }
                }
                Some("error") => return event.clone(),
                _ => {}
            }
        }
        let blocks = blocks.into_values().map(Block::whole);
        message.insert("content".to_owned(), blocks.collect());
        Value::Object(message)
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        if reply["type"] != "message" {
            return Err(NotRead::Missing("\"type\": \"message\""));
        }
        read(reply)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        let Problem { status: _, code, message } = problem;
        json!({"type": "error", "error": {"type": code, "message": message}})
    }
}

/// A block of a stream, as far as it has come.
#[derive(Default)]
struct Block {
    fields: Map<String, Value>,
    /// The JSON of a tool's input, which comes in pieces.
    input: String,
}

impl Block {
    fn add(&mut self, delta: &Value) {
        for (name, value) in delta.as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                ("type", _) => {}
                ("partial_json", Value::String(text)) => self.input.push_str(text),
                ("citation", citation) => {
                    let all = self.fields.entry("citations").or_insert_with(|| json!([]));
                    match all {
                        Value::Array(all) => all.push(citation.clone()),
                        other => *other = json!([citation]),
                    }
                }
                (_, Value::String(text)) => append(&mut self.fields, name, text),
                _ => drop(self.fields.insert(name.clone(), value.clone())),
            }
        }
    }

    fn whole(mut self) -> Value {
        if !self.input.is_empty() {
            let input = serde_json::from_str(&self.input).unwrap_or(Value::String(self.input));
            self.fields.insert("input".to_owned(), input);
        }
        Value::Object(self.fields)
    }
}

#[cfg(test)]
mod tests {
    use retold::model::Content;

    use super::*;

    /// Reduced from a stream of the API with thinking, a text and a tool.
    #[test]
    fn a_stream_amounts_to_the_message_that_would_not_have_been_streamed() {
        let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
        let delta = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let events = [
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
                "content": [], "stop_reason": null, "usage": {"input_tokens": 9, "output_tokens": 1}}}),
            start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
            delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
            delta(0, json!({"type": "signature_delta", "signature": "sig"})),
            start(1, json!({"type": "text", "text": ""})),
            json!({"type": "ping"}),
            delta(1, json!({"type": "text_delta", "text": "Let me "})),
            delta(1, json!({"type": "text_delta", "text": "look"})),
            json!({"type": "content_block_stop", "index": 1}),
            start(2, json!({"type": "tool_use", "id": "t", "name": "f", "input": {}})),
            delta(2, json!({"type": "input_json_delta", "partial_json": "{\"x\":"})),
            delta(2, json!({"type": "input_json_delta", "partial_json": "1}"})),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": null},
                "usage": {"output_tokens": 15}}),
            json!({"type": "message_stop"}),
        ];
        let message = Anthropic.assembled(&events);
        let due = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"}, {"type": "text", "text": "Let me look"},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}],
            "stop_reason": "tool_use", "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": 15}});
        assert_eq!(message, due);
        let answer = Anthropic.answer(message).unwrap();
        assert_eq!(answer.content, Content::from("Let me look"));
        assert_eq!(answer.finish_reason.as_deref(), Some("tool_use"));
        assert_eq!(answer.usage.unwrap().completion_tokens, Some(15));
        assert!(Anthropic.is_last(&events[13].to_string()));
    }
}
