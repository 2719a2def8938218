//! Anthropic's Messages API, also on Vertex, where the path names the model (docs.claude.com, "Claude on Vertex AI").

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, MessageParts, call, function, list, text_of};
use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in};
use super::ids;
use super::provider::{Provider, VersionPlace};
use super::reply_parts::{append, kind_of};
use super::study::{BatchApi, Inexpressible, ModelList, PostedRequest, StudyAccess};
use super::study_chat::{Chat, ChatSpeaker, object, push_turn};
use super::url_fields::UrlFields;
use crate::model::parts::{leave_out, take_text};
use crate::model::{ExchangeResponse, Response};
use crate::prompt::Api;

const ANTHROPIC: Provider = Provider {
    variables: &["ANTHROPIC_BASE_URL"],
    default: Some("https://api.anthropic.com"),
    // @ai-sdk/anthropic asks /messages below the URL, all others /v1/messages.
    version: VersionPlace::InPath(&["complete", "files", "messages", "models", "skills"]),
    keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    ..Provider::new("anthropic")
};

/// The default of Vertex depends on the region.
const PROVIDERS: &[Provider] = &[
    ANTHROPIC,
    Provider { variables: &["ANTHROPIC_VERTEX_BASE_URL"], ..Provider::new("anthropic-vertex") },
];

static STUDY: StudyAccess = StudyAccess {
    kind: "anthropic",
    help: "Anthropic's Messages API",
    provider: &ANTHROPIC,
    key_header: Some("x-api-key"),
    headers: &[("anthropic-version", "2023-06-01")],
    tier_field: None,
    translation: Some(translate),
    batches: BatchApi::Anthropic,
    names: &["claude-*"],
    list: ModelList { path: &["v1", "models"], page: Some(("limit", "1000")) },
};

/// The Messages API.
#[derive(Debug)]
pub(super) struct Anthropic;

/// The longest answer, in tokens, if a request names none: the API has no default of its own.
const MAX_TOKENS: u64 = 4096;

impl Dialect for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic.messages"
    }

    fn providers(&self) -> &'static [Provider] {
        PROVIDERS
    }

    fn study(&self) -> Option<&'static StudyAccess> {
        Some(&STUDY)
    }

    fn headers(&self) -> &'static [&'static str] {
        &["anthropic-beta", "anthropic-version"]
    }

    fn paths(&self) -> &'static [&'static str] {
        &[
            "/v1/messages",
            "/publishers/anthropic/models/*:rawPredict",
            "/publishers/anthropic/models/*:streamRawPredict",
        ]
    }

    fn is_streamed(&self, path: &str, body: &Map<String, Value>) -> bool {
        path.ends_with(":streamRawPredict")
            || body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("stream", "how the bytes of the answer travel, not what they say"),
            ("metadata", "an id of the user, for the provider's own statistics"),
        ]
    }

    fn credentials(&self) -> &'static [&'static str] {
        &["mcp_servers.*.authorization_token"]
    }

    fn credential_paths(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[("/oauth/claude_cli/create_api_key", &["raw_key"])]
    }

    /// The results of a batch.
    fn url_fields(&self) -> &'static [UrlFields] {
        const FIELDS: &[UrlFields] = &[
            UrlFields::new("/v1/messages/batches", &["results_url", "data.*.results_url"]),
            UrlFields::new("/v1/messages/batches/*", &["results_url"]),
        ];
        FIELDS
    }

    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        ids::at(body, &["messages", "*", "content", "*", "id"], each);
        ids::at(body, &["messages", "*", "content", "*", "tool_use_id"], each);
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        body.get("messages").is_some_and(Value::is_array).then_some((Api::Chat, body))
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
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

    fn is_last(&self, data: &str) -> bool {
        kind_of(data).is_some_and(|kind| kind == "message_stop" || kind == "error")
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let mut message = Map::new();
        let mut blocks: BTreeMap<u64, StreamBlock> = BTreeMap::new();
        for event in events {
            let index = event["index"].as_u64().unwrap_or(0);
            match event["type"].as_str() {
                Some("message_start") => {
                    let error = message.remove("error");
                    message = event["message"].as_object().cloned().unwrap_or_default();
                    message.extend(error.map(|error| ("error".to_owned(), error)));
                }
                Some("content_block_start") => {
                    let fields = event["content_block"].as_object().cloned().unwrap_or_default();
                    blocks.insert(index, StreamBlock { fields, input: String::new() });
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
                Some("error") => drop(message.insert("error".to_owned(), event["error"].clone())),
                _ => {}
            }
        }
        let blocks = blocks.into_values().map(StreamBlock::whole);
        message.insert("content".to_owned(), blocks.collect());
        Value::Object(message)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::by_mark(has_end, "message_stop"))
    }

    fn reply_name(
        &self,
        fields: &Map<String, Value>,
        content: Option<&Value>,
    ) -> Option<&'static str> {
        let is_one = fields.get("type").is_some_and(|kind| kind == "message")
            && content.is_some_and(Value::is_array);
        is_one.then_some("Anthropic's Messages API")
    }

    fn is_pasted(&self) -> bool {
        true
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        if reply["type"] != "message" {
            return Err(NotRead::Missing("\"type\": \"message\""));
        }
        let fields: ExchangeResponse = serde_json::from_value(reply)?;
        Ok(with_usual_names(fields).into_answer()?)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        let Problem { status: _, code, message } = problem;
        json!({"type": "error", "error": {"type": code, "message": message}})
    }
}

/// The request that is posted for a chat of a study.
fn translate(chat: &Map<String, Value>) -> Result<PostedRequest, Inexpressible> {
    let mut chat = Chat::new(chat)?.with_a_user_first()?;
    if chat.fields.get("temperature").and_then(Value::as_f64).is_some_and(|t| t > 1.0) {
        let what = "this API allows 0 to 1";
        return Err(Inexpressible::Value { field: "temperature", what });
    }
    chat.without(&[
        "frequency_penalty", "logit_bias", "logprobs", "n", "presence_penalty", "response_format",
        "seed", "top_logprobs",
    ])?;
    let text = |text: &String| json!({"type": "text", "text": text});
    let mut messages: Vec<Value> = Vec::new();
    for turn in &chat.turns {
        let (role, content) = match &turn.speaker {
            ChatSpeaker::User => ("user", turn.texts.iter().map(text).collect::<Vec<_>>()),
            ChatSpeaker::Assistant => {
                let calls = turn.calls.iter().map(|(id, name, input)| {
                    json!({"type": "tool_use", "id": id, "name": name, "input": input})
                });
                ("assistant", turn.texts.iter().map(text).chain(calls).collect())
            }
            ChatSpeaker::Tool(id) => {
                let said: Vec<Value> = turn.texts.iter().map(text).collect();
                ("user", vec![json!({"type": "tool_result", "tool_use_id": id, "content": said})])
            }
        };
        push_turn(&mut messages, role, "content", content);
    }
    let (model, stop) = (chat.model(), chat.stop());
    let max_tokens = chat.max_tokens().unwrap_or_else(|| MAX_TOKENS.into());
    let tools: Vec<Value> = chat
        .tools()
        .into_iter()
        .map(|tool| match tool {
            Ok(function) => {
                object(json!({"name": function.name, "description": function.description,
                "input_schema": function.parameters}))
            }
            Err(own) => own,
        })
        .collect();
    let choice = match chat.take("tool_choice") {
        Some(Value::String(word)) => match word.as_str() {
            "required" => json!({"type": "any"}),
            word => json!({"type": word}),
        },
        Some(choice) if choice["function"]["name"].is_string() => {
            json!({"type": "tool", "name": choice["function"]["name"]})
        }
        other => other.unwrap_or_default(),
    };
    let system: Vec<Value> = chat.instructions.iter().map(text).collect();
    let given = |list: Vec<Value>| if list.is_empty() { Value::Null } else { list.into() };
    let own = object(
        json!({"model": model, "messages": messages, "max_tokens": max_tokens, "system": given(system),
        "stop_sequences": stop, "tools": given(tools), "tool_choice": choice}),
    );
    let mut body = chat.fields;
    body.extend(own.as_object().cloned().unwrap_or_default());
    let path = ["v1", "messages"].map(str::to_owned).to_vec();
    Ok(PostedRequest { path, body: Value::Object(body) })
}

/// Renames the fields of a message to the usual names. A message whose content is not a list stays as it is.
///
/// Anthropic reports the tokens read from or written to its cache separately from `input_tokens`; a
/// [`Usage`](crate::model::Usage) has all tokens of the request in one count.
fn with_usual_names(mut line: ExchangeResponse) -> ExchangeResponse {
    let fields = &mut line.extra;
    if !line.content.as_ref().is_some_and(Value::is_array) {
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

/// A block of a stream, as far as it has come.
#[derive(Default)]
struct StreamBlock {
    fields: Map<String, Value>,
    /// The JSON of a tool's input, which comes in pieces.
    input: String,
}

impl StreamBlock {
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
    use super::*;
    use crate::model::{Content, Usage};

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
        let message = Anthropic.assemble(&events);
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

    #[test]
    fn a_chat_of_ours_is_asked_in_its_form() {
        let chat = json!({"model": "claude", "temperature": 0.5, "stop": "END", "top_k": 5, "n": 1, "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}},
                    {"id": "t2", "type": "function", "function": {"name": "f", "arguments": ""}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "one"},
                {"role": "tool", "tool_call_id": "t2", "content": "two"},
                {"role": "user", "content": "go on"}],
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
            "tool_choice": "required"});
        let PostedRequest { path, body } = translate(chat.as_object().unwrap()).unwrap();
        let text = |text: &str| json!({"type": "text", "text": text});
        let due = json!({"model": "claude", "temperature": 0.5, "stop_sequences": ["END"], "top_k": 5, "max_tokens": 4096,
            "system": [text("Be short.")],
            "messages": [
                {"role": "user", "content": [text("a"), text("b")]},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}},
                    {"type": "tool_use", "id": "t2", "name": "f", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [text("one")]},
                    {"type": "tool_result", "tool_use_id": "t2", "content": [text("two")]},
                    text("go on")]}],
            "tools": [{"name": "f", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}});
        assert_eq!((path.join("/"), body), ("v1/messages".to_owned(), due));
    }

    #[test]
    fn a_conversation_that_no_user_begins_begins_with_the_instructions() {
        let text = |text: &str| json!([{"type": "text", "text": text}]);
        let posted = |messages: Value| {
            let chat = json!({"model": "m", "messages": messages});
            let body = translate(chat.as_object().unwrap()).unwrap().body;
            (body["system"].clone(), body["messages"].clone())
        };
        let system = json!({"role": "system", "content": "Ask."});
        let first = json!({"role": "user", "content": text("Ask.")});
        assert_eq!(posted(json!([system])), (Value::Null, json!([first])));
        let later = json!([system, {"role": "assistant", "content": "Why?"}, {"role": "user", "content": "So."}]);
        let due = json!([first, {"role": "assistant", "content": text("Why?")}, {"role": "user", "content": text("So.")}]);
        assert_eq!(posted(later), (Value::Null, due));
        // What says nothing is left out, and what is then of one role is one message.
        let silent = json!([system, {"role": "user", "content": "a"}, {"role": "assistant", "content": " "},
            {"role": "user", "content": "b"}]);
        let both = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        assert_eq!(posted(silent), (text("Ask."), json!([{"role": "user", "content": both}])));
    }

    #[test]
    fn what_it_cannot_express_is_refused() {
        let refused = |chat: Value| translate(chat.as_object().unwrap()).unwrap_err().to_string();
        let user = json!({"role": "user", "content": "a"});
        assert_eq!(
            refused(json!({"messages": [user], "seed": 3})),
            "it has no counterpart of \"seed\": leave it out of the request"
        );
        assert_eq!(
            refused(json!({"messages": [user, {"role": "system", "content": "x"}]})),
            "message 2 has instructions, which this API has only at the beginning"
        );
        assert_eq!(
            refused(json!({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]})),
            "message 1 has a part that is not a text"
        );
        assert_eq!(
            refused(
                json!({"messages": [{"role": "system", "content": " "}, {"role": "user", "content": ""}]})
            ),
            "\"messages\": no message has a text"
        );
        let answer = json!({"role": "assistant", "content": "b"});
        assert_eq!(
            refused(json!({"messages": [answer, user]})),
            "message 1 is an answer, and this API needs a message of the user's before it"
        );
        assert_eq!(
            refused(json!({"messages": [user], "temperature": 1.5})),
            "\"temperature\": this API allows 0 to 1"
        );
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
        let Response { content, finish_reason, usage, model, id, extra, .. } =
            Anthropic.answer(reply).unwrap();
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
}
