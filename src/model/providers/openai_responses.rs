//! OpenAI's Responses API.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, MessageParts, call, function, list, text_of};
use super::dialect::{Dialect, NotRead};
use super::ending::{Ending, error_in, failed_as};
use super::ids;
use super::openai_chat::OPENAI;
use super::reply_parts::{TokenCounts, answer_of, append, kind_of, tool_call};
use super::study::{BatchApi, Inexpressible, ModelList, PostedRequest, StudyAccess};
use super::study_chat::{Chat, ChatSpeaker, object};
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

static STUDY: StudyAccess = StudyAccess {
    kind: "responses",
    help: "OpenAI's Responses API",
    provider: &OPENAI,
    key_header: None,
    headers: &[],
    tier_field: Some("service_tier"),
    translation: Some(translate),
    batches: BatchApi::OpenAi,
    names: &[],
    list: ModelList { path: &["models"], page: None },
};

/// The Responses API.
#[derive(Debug)]
pub(super) struct OpenAiResponses;

/// The events that end a stream; each of the first three has the whole response.
const LAST: &[&str] = &["response.completed", "response.incomplete", "response.failed", "error"];

impl Dialect for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai.responses"
    }

    fn study(&self) -> Option<&'static StudyAccess> {
        Some(&STUDY)
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/responses"]
    }

    fn asking_frame(&self) -> Option<&'static str> {
        Some("response.create")
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("stream", "how the bytes of the answer travel, not what they say"),
            ("stream_options", "how the bytes of the answer travel"),
            ("store", "whether the provider keeps a copy"),
            ("metadata", "labels that the provider stores beside the copy it keeps"),
        ]
    }

    /// The credentials for MCP servers, and those that a shell may send to other servers. Mistral's conversations have an object
    /// with the credential in it, Azure's agents the headers of each server, and evaluations the tools of what they sample.
    fn credentials(&self) -> &'static [&'static str] {
        &[
            "tools.*.authorization",
            "tools.*.authorization.value",
            "tools.*.headers.*",
            "tool_resources.mcp.*.headers.*",
            "data_source.sampling_params.tools.*.authorization",
            "data_source.sampling_params.tools.*.headers.*",
            "tools.*.container.network_policy.domain_secrets.*.value",
            "tools.*.environment.network_policy.domain_secrets.*.value",
        ]
    }

    /// Keys for a browser that speaks with a model, and those that an administrator makes.
    fn credential_paths(&self) -> &'static [(&'static str, &'static [&'static str])] {
        const OF_SESSION: &[&str] =
            &["value", "client_secret.value", "session.client_secret.value"];
        &[
            ("/realtime/client_secrets", OF_SESSION),
            ("/realtime/translations/client_secrets", OF_SESSION),
            ("/realtime/sessions", OF_SESSION),
            ("/realtime/transcription_sessions", OF_SESSION),
            ("/chatkit/sessions", &["client_secret"]),
            ("/organization/admin_api_keys", &["value"]),
            ("/service_accounts", &["api_key.value"]),
        ]
    }

    /// The id of an item that refers to data stored on the server is part of the question, so it is left out here.
    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        ids::at(body, &["messages", "*", "call_id"], each);
        let items = body.get_mut("messages").and_then(Value::as_array_mut);
        for item in items.into_iter().flatten() {
            if !matches!(item["type"].as_str(), Some("item_reference" | "reasoning")) {
                ids::at(item, &["id"], each);
            }
        }
        ids::at(body, &["prompt_cache_key"], each);
        // Of an installation, a session and a turn, as Codex sends them.
        let labels = body.get_mut("client_metadata").and_then(Value::as_object_mut);
        for (name, label) in labels.into_iter().flatten() {
            let is_id = name.ends_with("_id") || name.ends_with("-id");
            if is_id || name == "x-codex-turn-metadata" {
                ids::at(label, &[], each);
            }
        }
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let messages = match body.remove("input") {
            Some(Value::Array(items)) => items,
            // The short form, which is stored as the long one and marked.
            Some(Value::String(text)) => {
                body.insert("input".to_owned(), "text".into());
                vec![json!({"role": "user", "content": text})]
            }
            None if body.contains_key("prompt") => Vec::new(),
            _ => return None,
        };
        if body.insert("messages".to_owned(), Value::Array(messages)).is_some() {
            return None;
        }
        Some((Api::Chat, body))
    }

    fn body(
        &self,
        mut prompt: Map<String, Value>,
        _path: &str,
        is_streamed: bool,
    ) -> Map<String, Value> {
        let mut messages = prompt.remove("messages").unwrap_or_default();
        let is_text = prompt.remove("input").is_some();
        let input = if is_text { messages.take_at("/0/content") } else { messages };
        // One that names a stored prompt may have no input of its own.
        let is_none = prompt.contains_key("prompt") && input.as_array().is_some_and(Vec::is_empty);
        if !is_none {
            prompt.insert("input".to_owned(), input);
        }
        if is_streamed {
            prompt.insert("stream".to_owned(), true.into());
        }
        prompt
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
        if let Some(text) = body.get("instructions").and_then(Value::as_str) {
            chat.messages.push(json!({"role": "system", "content": text}));
        }
        if body.contains_key("previous_response_id") {
            chat.lost.push("the messages before previous_response_id".to_owned());
        }
        for item in messages {
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
                    match last
                        .and_then(|last| last.get_mut("tool_calls"))
                        .and_then(Value::as_array_mut)
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
                true => chat
                    .tools
                    .push(function(&tool["name"], &tool["description"], &tool["parameters"])),
                false => chat.lost.push("a tool of the provider".to_owned()),
            }
        }
    }

    fn is_last(&self, data: &str) -> bool {
        kind_of(data).is_some_and(|kind| LAST.contains(&&*kind))
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let whole = events.iter().rev().find(|event| event["response"].is_object());
        let mut reply = whole.map_or_else(|| json!({}), |event| event["response"].clone());
        if reply["output"].as_array().is_none_or(Vec::is_empty) {
            reply.set("output", as_far_as_it_came(events));
        }
        if let Some(event) = events.iter().find(|event| event["type"] == "error") {
            reply.set(
                "error",
                if event["error"].is_object() { event["error"].clone() } else { event.clone() },
            );
        }
        reply
    }

    /// `incomplete` is an answer that a limit ended.
    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        let word = reply["status"].as_str().filter(|status| *status == "failed");
        let failed = error_in(&reply["error"]).or_else(|| word.map(failed_as));
        Ending::or(failed, || Ending::by_mark(has_end, "response.completed"))
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        let is_one = fields.get("object").is_some_and(|object| object == "response")
            || fields.get("output").is_some_and(Value::is_array);
        is_one.then_some("OpenAI's Responses API")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let Some(output) = reply["output"].as_array() else {
            return Err(NotRead::Missing("output"));
        };
        let (mut text, mut refusal, mut reasoning) = (String::new(), String::new(), String::new());
        let mut calls = Vec::new();
        for item in output {
            match item["type"].as_str() {
                Some("message") => {
                    for part in item["content"].as_array().into_iter().flatten() {
                        text.push_str(part["text"].as_str().unwrap_or(""));
                        refusal.push_str(part["refusal"].as_str().unwrap_or(""));
                    }
                }
                Some("reasoning") => {
                    // Models whose reasoning may be read have it in `content`, others a summary of it.
                    let is_told =
                        |name: &&str| item[*name].as_array().is_some_and(|it| !it.is_empty());
                    let told = ["content", "summary"].into_iter().find(is_told);
                    let parts = told.and_then(|name| item[name].as_array());
                    for part in parts.into_iter().flatten() {
                        reasoning.push_str(part["text"].as_str().unwrap_or(""));
                    }
                }
                Some("function_call") => {
                    calls.push(tool_call(&item["call_id"], &item["name"], &item["arguments"]));
                }
                Some("custom_tool_call") => calls
                    .push(json!({"id": item["call_id"], "type": "custom",
                    "custom": {"name": item["name"], "input": item["input"]}})),
                // Calls of the provider's own tools: their results are in the text.
                _ => {}
            }
        }
        let usage = &reply["usage"];
        let counts = TokenCounts {
            prompt: usage["input_tokens"].as_u64(),
            completion: usage["output_tokens"].as_u64(),
            cached: usage["input_tokens_details"]["cached_tokens"].as_u64(),
            reasoning: usage["output_tokens_details"]["reasoning_tokens"].as_u64(),
            written: usage["input_tokens_details"]["cache_write_tokens"].as_u64(),
        };
        let reason = match (&reply["status"], reply["incomplete_details"]["reason"].as_str()) {
            // The word that means it everywhere else.
            (_, Some("max_output_tokens")) => "length".into(),
            (_, Some(reason)) => reason.into(),
            (status, None) => status.clone(),
        };
        let mut fields = json!({"content": text, "finish_reason": reason, "id": reply["id"], "model": reply["model"],
            "service_tier": reply["service_tier"], "usage": counts.json()});
        for (name, text) in [("refusal", refusal), ("reasoning", reasoning)] {
            if !text.is_empty() {
                fields.set(name, text.into());
            }
        }
        if !calls.is_empty() {
            fields.set("tool_calls", calls.into());
        }
        answer_of(fields)
    }
}

/// The output of a stream whose last event has none, because it failed or was cut off: the items that are
/// whole, and the texts of the others.
fn as_far_as_it_came(events: &[Value]) -> Value {
    let mut items: BTreeMap<u64, Value> = BTreeMap::new();
    for event in events {
        let at = event["output_index"].as_u64().unwrap_or(0);
        let kind = event["type"].as_str().unwrap_or("");
        match kind {
            // Of a call, the first event has the name, and the others its arguments.
            "response.output_item.added" if is_call(&event["item"]) => {
                drop(items.insert(at, event["item"].clone()));
            }
            "response.output_item.done" => drop(items.insert(at, event["item"].clone())),
            _ => {
                let piece = PIECES.iter().find_map(|(name, piece)| {
                    let form = kind.strip_prefix("response.")?.strip_prefix(name)?;
                    Some((*piece, form))
                });
                let part = event["content_index"].as_u64().or(event["summary_index"].as_u64());
                let part = part.and_then(|part| usize::try_from(part).ok()).unwrap_or(0);
                let part = part.min(MOST_PARTS - 1);
                match piece {
                    Some((piece, ".delta")) => {
                        piece.add(&mut items, (at, part), event["delta"].as_str().unwrap_or(""));
                    }
                    // The whole, of which there need not have been pieces.
                    Some((piece, ".done")) if piece.text(items.get(&at), part).is_empty() => {
                        let whole = event[piece.field].as_str().unwrap_or("");
                        piece.add(&mut items, (at, part), whole);
                    }
                    _ => {}
                }
            }
        }
    }
    items.into_values().collect()
}

fn is_call(item: &Value) -> bool {
    matches!(item["type"].as_str(), Some("function_call" | "custom_tool_call"))
}

/// How many parts of an item are told apart.
const MOST_PARTS: usize = 1024;

/// Where the pieces of a text belong that an item of the output has.
#[derive(Debug, Clone, Copy)]
struct ItemPiece {
    /// The type of the item, if pieces may come before it; those of a call come after its name.
    item: Option<&'static str>,
    /// The list of the item that has it; `None` if it is the item's own.
    list: Option<&'static str>,
    /// The field.
    field: &'static str,
}

/// The events that have pieces of a text, without `response.` and the ending (`.delta`, `.done`).
const PIECES: &[(&str, ItemPiece)] = &[
    ("output_text", ItemPiece { item: Some("message"), list: Some("content"), field: "text" }),
    ("refusal", ItemPiece { item: Some("message"), list: Some("content"), field: "refusal" }),
    ("reasoning_text", ItemPiece { item: Some("reasoning"), list: Some("content"), field: "text" }),
    (
        "reasoning_summary_text",
        ItemPiece { item: Some("reasoning"), list: Some("summary"), field: "text" },
    ),
    ("function_call_arguments", ItemPiece { item: None, list: None, field: "arguments" }),
    ("custom_tool_call_input", ItemPiece { item: None, list: None, field: "input" }),
];

impl ItemPiece {
    /// The text of an item so far.
    fn text(self, item: Option<&Value>, part: usize) -> &str {
        let place = item.map(|item| match self.list {
            Some(list) => &item[list][part],
            None => item,
        });
        place.and_then(|place| place[self.field].as_str()).unwrap_or("")
    }

    /// Adds a piece to the text of an item.
    fn add(self, items: &mut BTreeMap<u64, Value>, (at, part): (u64, usize), piece: &str) {
        if let Some(kind) = self.item {
            items.entry(at).or_insert_with(|| json!({"type": kind}));
        }
        let Some(item) = items.get_mut(&at).and_then(Value::as_object_mut) else { return };
        let Some(list) = self.list else { return append(item, self.field, piece) };
        let parts = item.entry(list).or_insert_with(|| json!([]));
        let Some(parts) = parts.as_array_mut() else { return };
        if parts.len() <= part {
            parts.resize(part + 1, json!({}));
        }
        if let Some(part) = parts.get_mut(part).and_then(Value::as_object_mut) {
            append(part, self.field, piece);
        }
    }
}

/// The request that is posted for a chat of a study.
fn translate(chat: &Map<String, Value>) -> Result<PostedRequest, Inexpressible> {
    let mut chat = Chat::new(chat)?;
    chat.without(&[
        "frequency_penalty", "logit_bias", "logprobs", "n", "presence_penalty", "seed", "stop",
    ])?;
    let said = |kind: &str, texts: &[String]| {
        texts.iter().map(|text| json!({"type": kind, "text": text})).collect::<Vec<_>>()
    };
    let mut input = Vec::new();
    if !chat.instructions.is_empty() {
        input.push(json!({"role": "system", "content": said("input_text", &chat.instructions)}));
    }
    for turn in &chat.turns {
        match &turn.speaker {
            ChatSpeaker::User => {
                input.push(json!({"role": "user", "content": said("input_text", &turn.texts)}));
            }
            ChatSpeaker::Assistant => {
                if !turn.texts.is_empty() {
                    let said = said("output_text", &turn.texts);
                    input.push(json!({"role": "assistant", "content": said}));
                }
                for (id, name, arguments) in &turn.calls {
                    input.push(json!({"type": "function_call", "call_id": id, "name": name,
                        "arguments": arguments.to_string()}));
                }
            }
            ChatSpeaker::Tool(id) => input
                .push(json!({"type": "function_call_output", "call_id": id,
                "output": turn.texts.concat()})),
        }
    }
    let max_tokens = chat.max_tokens();
    // A name, a schema and a strictness are one level further up.
    let format = match chat.take("response_format") {
        Some(mut format) if format["type"] == "json_schema" => {
            let mut schema = format.take_at("/json_schema");
            schema.set("type", "json_schema".into());
            schema
        }
        other => other.unwrap_or_default(),
    };
    let tools: Vec<Value> = chat
        .tools()
        .into_iter()
        .map(|tool| match tool {
            Ok(function) => object(json!({"type": "function", "name": function.name,
                "description": function.description, "parameters": function.parameters})),
            Err(own) => own,
        })
        .collect();
    let tools = if tools.is_empty() { Value::Null } else { tools.into() };
    let choice = match chat.take("tool_choice") {
        Some(choice) if choice["function"]["name"].is_string() => {
            json!({"type": "function", "name": choice["function"]["name"]})
        }
        other => other.unwrap_or_default(),
    };
    let effort = chat.take("reasoning_effort").map(|effort| json!({"effort": effort}));
    let own = object(
        json!({"input": input, "max_output_tokens": max_tokens, "tools": tools, "tool_choice": choice,
        "reasoning": effort}),
    );
    let mut body = chat.fields;
    body.extend(own.as_object().cloned().unwrap_or_default());
    if !format.is_null() {
        let text = body.entry("text").or_insert_with(|| json!({}));
        text.set("format", format);
    }
    Ok(PostedRequest { path: vec!["responses".to_owned()], body: Value::Object(body) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;

    #[test]
    fn a_response_is_read_out_of_its_last_event() {
        let response = json!({"id": "resp_1", "model": "m", "status": "completed", "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two "},
                {"type": "output_text", "text": "parts"}]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}],
            "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7,
                "input_tokens_details": {"cached_tokens": 1}, "output_tokens_details": {"reasoning_tokens": 2}}});
        let events = [
            json!({"type": "response.created", "response": {"id": "resp_1", "output": []}}),
            json!({"type": "response.output_text.delta", "delta": "Two "}),
            json!({"type": "response.completed", "response": response}),
        ];
        assert!(OpenAiResponses.is_last(&events[2].to_string()));
        assert!(!OpenAiResponses.is_last(&events[1].to_string()));
        let answer = OpenAiResponses.answer(OpenAiResponses.assemble(&events)).unwrap();
        assert_eq!(answer.content, Content::from("Two parts"));
        assert_eq!(answer.extra["tool_calls"][0]["function"]["name"], "f");
        assert_eq!(answer.extra["reasoning"], "hm");
        let usage = answer.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(3), Some(4)));
        assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (Some(1), Some(2)));
    }

    #[test]
    fn a_text_and_the_message_that_it_stands_for_are_different_requests() {
        let object = |value: Value| value.as_object().unwrap().clone();
        let short = OpenAiResponses.prompt(object(json!({"model": "m", "input": "hi"}))).unwrap().1;
        let long = json!({"model": "m", "input": [{"role": "user", "content": "hi"}]});
        let long = OpenAiResponses.prompt(object(long)).unwrap().1;
        assert_eq!(short["messages"], long["messages"]);
        assert_ne!(short, long);
    }

    #[test]
    fn a_chat_of_ours_is_asked_in_its_form() {
        let chat = json!({"model": "gpt-5", "temperature": 0.5, "max_tokens": 9, "reasoning_effort": "low", "messages": [
                {"role": "system", "content": "Be short."}, {"role": "user", "content": "a"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "one"}, {"role": "assistant", "content": "b"}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": {}}},
            "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}, {"type": "web_search"}],
            "tool_choice": {"type": "function", "function": {"name": "f"}}});
        let PostedRequest { path, body } = translate(chat.as_object().unwrap()).unwrap();
        let due = json!({"model": "gpt-5", "temperature": 0.5, "max_output_tokens": 9, "reasoning": {"effort": "low"},
            "input": [{"role": "system", "content": [{"type": "input_text", "text": "Be short."}]},
                {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
                {"type": "function_call", "call_id": "t1", "name": "f", "arguments": "{\"x\":1}"},
                {"type": "function_call_output", "call_id": "t1", "output": "one"},
                {"role": "assistant", "content": [{"type": "output_text", "text": "b"}]}],
            "text": {"format": {"type": "json_schema", "name": "n", "strict": true, "schema": {}}},
            "tools": [{"type": "function", "name": "f", "parameters": {}}, {"type": "web_search"}],
            "tool_choice": {"type": "function", "name": "f"}});
        assert_eq!((path.join("/"), body), ("responses".to_owned(), due));
    }
}
