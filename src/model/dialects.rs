//! Replies of APIs other than OpenAI's, recognised when they are pasted into an exchanges file, or
//! sent by a server that was asked for a chat completion.

use serde_json::{Map, Value, json};

use super::exchange_line::ExchangeResponse;
use super::parts::{leave_out, take_text};

/// The name of the API that this reply comes from, if it is one that cannot be read. `fields` are
/// the fields of a response without `content`, `embedding` and `choices`.
pub(super) fn other(fields: &Map<String, Value>) -> Option<&'static str> {
    let is = |name: &str, of: fn(&Value) -> bool| fields.get(name).is_some_and(of);
    if is("object", |object| object == "response") || is("output", Value::is_array) {
        return Some("OpenAI's Responses API");
    }
    if is("candidates", Value::is_array) {
        return Some("the Gemini API");
    }
    if is("output", Value::is_object) && is("stopReason", Value::is_string) {
        return Some("the Converse API of Bedrock");
    }
    let answers = is("message", Value::is_object) || is("response", Value::is_string);
    (answers && is("done", Value::is_boolean)).then_some("Ollama's own API")
}

/// The API whose whole reply an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyOf {
    /// The API, for people.
    pub api: &'static str,
    /// Whether such a reply can be pasted as the `response` of an exchanges file.
    pub is_read: bool,
}

impl ReplyOf {
    /// Recognises the whole reply of an API by its fields.
    pub fn recognised(fields: &Map<String, Value>) -> Option<Self> {
        let is_list = |name: &str| fields.get(name).is_some_and(Value::is_array);
        if is_list("choices") {
            return Some(ReplyOf { api: "the chat completions API", is_read: true });
        }
        if is_list("data") {
            return Some(ReplyOf { api: "the embeddings API", is_read: true });
        }
        if is_anthropic(fields) {
            return Some(ReplyOf { api: ANTHROPIC, is_read: true });
        }
        other(fields).map(|api| ReplyOf { api, is_read: false })
    }
}

const ANTHROPIC: &str = "Anthropic's Messages API";

fn is_anthropic(fields: &Map<String, Value>) -> bool {
    fields.get("type").is_some_and(|kind| kind == "message")
        && fields.get("content").is_some_and(Value::is_array)
}

/// The API that a server's reply belongs to, if it is another than that of chat completions.
#[cfg(feature = "openai")]
pub(super) fn of_server(reply: &Value) -> Option<&'static str> {
    let fields = reply.as_object()?;
    if is_anthropic(fields) { Some(ANTHROPIC) } else { other(fields) }
}

/// Renames the fields of a reply of Anthropic's Messages API to the usual names; any other response
/// is returned unchanged.
///
/// Anthropic reports the tokens read from or written to its cache separately from `input_tokens`; a
/// [`Usage`](super::Usage) has all tokens of the request in one count.
pub(super) fn of_anthropic(mut line: ExchangeResponse) -> ExchangeResponse {
    let fields = &mut line.extra;
    let is_one = fields.get("type").is_some_and(|kind| kind == "message")
        && line.content.as_ref().is_some_and(Value::is_array);
    if !is_one {
        return line;
    }
    leave_out(fields, "type", &"message".into());
    if line.finish_reason.is_none() {
        line.finish_reason = take_text(fields, "stop_reason");
    }
    if let Some(Value::Object(usage)) = &mut line.usage {
        let count = |name: &str| usage.get(name).and_then(Value::as_u64);
        let (input, output) = (count("input_tokens"), count("output_tokens"));
        let (read, written) =
            (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        let all =
            input.and_then(|n| n.checked_add(read.unwrap_or(0))?.checked_add(written.unwrap_or(0)));
        let named = [
            ("input_tokens", "prompt_tokens", all),
            ("output_tokens", "completion_tokens", output),
            ("cache_read_input_tokens", "cached_tokens", read),
        ];
        for (theirs, ours, count) in named {
            if let Some(count) = count
                && !usage.contains_key(ours)
            {
                usage.remove(theirs);
                usage.insert(ours.to_owned(), json!(count));
            }
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, ExchangeResponseError, Response, Usage};

    fn read(reply: Value) -> Result<Response, ExchangeResponseError> {
        let line: ExchangeResponse = serde_json::from_value(reply).unwrap();
        Response::try_from(line)
    }

    #[test]
    fn a_reply_of_anthropic_is_read() {
        let reply = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
            "content": [{"type": "text", "text": "4 * 6"}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}],
            "stop_reason": "max_tokens", "stop_sequence": null,
            "usage": {"input_tokens": 10, "cache_creation_input_tokens": 3, "cache_read_input_tokens": 20,
                "output_tokens": 7, "service_tier": "standard"},
        });
        let Response { content, finish_reason, usage, model, id, extra, .. } = read(reply).unwrap();
        assert_eq!(content, Content::from("4 * 6"));
        assert_eq!(finish_reason.as_deref(), Some("max_tokens"));
        assert_eq!((model.as_deref(), id.as_deref()), (Some("claude"), Some("msg_1")));
        let due = Usage {
            prompt_tokens: Some(33),
            completion_tokens: Some(7),
            cached_tokens: Some(20),
            ..Usage::default()
        };
        assert_eq!(usage, Some(due));
        let due = json!({
            "content_parts": [{"type": "text", "text_at": [0, 5]}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}],
            "usage": {"cache_creation_input_tokens": 3, "service_tier": "standard"},
        });
        assert_eq!(Value::Object(extra), due);
    }

    #[test]
    fn a_whole_reply_is_recognised() {
        let of = |reply: Value| ReplyOf::recognised(reply.as_object().unwrap());
        let read = |api| Some(ReplyOf { api, is_read: true });
        assert_eq!(of(json!({"choices": [{"message": {}}]})), read("the chat completions API"));
        assert_eq!(of(json!({"data": [{"embedding": [1]}]})), read("the embeddings API"));
        let message = json!({"type": "message", "content": [{"type": "text", "text": "x"}]});
        assert_eq!(of(message), read("Anthropic's Messages API"));
        let gemini = Some(ReplyOf { api: "the Gemini API", is_read: false });
        assert_eq!(of(json!({"candidates": []})), gemini);
        for other in [json!({}), json!({"txt": "a"}), json!({"content": "a", "type": "message"})] {
            assert_eq!(of(other.clone()), None, "{other}");
        }
    }

    #[test]
    fn other_apis_are_named() {
        let replies = [
            json!({"id": "resp_1", "object": "response", "output": [{"type": "message"}],
                "reasoning": {"effort": null}}),
            json!({"output": [{"type": "message"}]}),
            json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}]}),
            json!({"model": "m", "message": {"role": "assistant", "content": "x"}, "done": true}),
            json!({"model": "m", "response": "x", "thinking": "t", "done": true}),
            json!({"output": {"message": {"content": [{"text": "x"}]}}, "stopReason": "end_turn"}),
        ];
        let apis = [
            "OpenAI's Responses API",
            "OpenAI's Responses API",
            "the Gemini API",
            "Ollama's own API",
            "Ollama's own API",
            "the Converse API of Bedrock",
        ];
        for (reply, api) in replies.into_iter().zip(apis) {
            let error = read(reply).unwrap_err().to_string();
            assert!(error.starts_with(&format!("\"response\" is a reply of {api}, ")), "{error}");
        }
        // What only looks like one is an answer.
        for answer in [
            json!({"content": "x", "output": [1], "done": true}),
            json!({"tool_calls": [{"id": "c"}], "message": {"id": 7}}),
            json!({"content": "x", "type": "message", "stop_reason": "end_turn"}),
        ] {
            read(answer.clone()).unwrap_or_else(|e| panic!("{answer}: {e}"));
        }
    }
}
