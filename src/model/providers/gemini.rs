//! Gemini's generateContent and streamGenerateContent, also on Vertex.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, MessageParts, call, function, list, text_of};
use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in};
use super::ids;
use super::provider::Provider;
use super::reply_parts::{TokenCounts, answer_of, append, tool_call};
use super::study::{BatchApi, Inexpressible, ModelList, PostedRequest, StudyAccess};
use super::study_chat::{Chat, ChatSpeaker, object, push_turn};
use super::url_fields::UrlFields;
use crate::members::Members;
use crate::model::Response;
use crate::model::parts::OTHER_CHOICES;
use crate::prompt::Api;

const GEMINI: Provider = Provider {
    variables: &["GOOGLE_GEMINI_BASE_URL"],
    default: Some("https://generativelanguage.googleapis.com"),
    keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ..Provider::new("gemini")
};

/// The default of Vertex depends on the region.
const PROVIDERS: &[Provider] =
    &[GEMINI, Provider { variables: &["GOOGLE_VERTEX_BASE_URL"], ..Provider::new("vertex") }];

static STUDY: StudyAccess = StudyAccess {
    kind: "gemini",
    help: "Google's Gemini API",
    provider: &GEMINI,
    key_header: Some("x-goog-api-key"),
    headers: &[],
    tier_field: Some("serviceTier"),
    translation: Some(translate),
    batches: BatchApi::Gemini,
    names: &["gemini-*", "gemma-*", "learnlm-*"],
    list: ModelList { path: &["v1beta", "models"], page: Some(("pageSize", "1000")) },
};

/// The Gemini API.
#[derive(Debug)]
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini.content"
    }

    fn providers(&self) -> &'static [Provider] {
        PROVIDERS
    }

    fn hosts(&self) -> &'static [&'static str] {
        &[
            // Of a region, of all regions, and of the regions of a continent.
            "*-aiplatform.googleapis.com",
            "aiplatform.googleapis.com",
            "aiplatform.*.rep.googleapis.com",
        ]
    }

    fn study(&self) -> Option<&'static StudyAccess> {
        Some(&STUDY)
    }

    fn paths(&self) -> &'static [&'static str] {
        &[":generateContent", ":streamGenerateContent"]
    }

    /// Of MCP servers, and of Vertex's grounding in other services; the API reads names in both spellings.
    fn credentials(&self) -> &'static [&'static str] {
        &[
            "tools.*.mcpServers.*.streamableHttpTransport.headers.*",
            "tools.*.mcp_servers.*.streamable_http_transport.headers.*",
            "tools.*.retrieval.externalApi.apiAuth.apiKeyConfig.apiKeyString",
            "tools.*.retrieval.external_api.api_auth.api_key_config.api_key_string",
            "tools.*.googleMaps.authConfig.apiKeyConfig.apiKeyString",
            "tools.*.google_maps.auth_config.api_key_config.api_key_string",
            "tools.*.parallelAiSearch.apiKey",
            "tools.*.parallel_ai_search.api_key",
        ]
    }

    /// The name of a token is the token.
    fn credential_paths(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[("/auth_tokens", &["name"])]
    }

    /// Files, and videos of operations. Google's SDKs read the name of a file out of its URL, which must begin with https. The `uri` of a
    /// file is what a prompt refers to.
    fn url_fields(&self) -> &'static [UrlFields] {
        const FIELDS: &[UrlFields] = &[
            UrlFields::new("/files", &["file.downloadUri", "files.*.downloadUri"]),
            UrlFields::new("/files/*", &["downloadUri"]),
            UrlFields {
                path: "/operations/*",
                fields: &[
                    "response.generateVideoResponse.generatedSamples.*.video.uri",
                    "response.generatedVideos.*.video.uri",
                ],
                unless: Some("x-goog-api-client"),
            },
        ];
        FIELDS
    }

    fn is_streamed(&self, path: &str, _body: &Map<String, Value>) -> bool {
        path.ends_with(":streamGenerateContent")
    }

    /// The API gives calls no ids, or clients do not send back those that it gave: they count them, or invent some.
    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        for part in ["functionCall", "function_call", "functionResponse", "function_response"] {
            ids::at(body, &["messages", "*", "parts", "*", part, "id"], each);
        }
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let contents = body.remove("contents").filter(Value::is_array)?;
        // The conversation has one name in a log.
        body.insert("messages".to_owned(), contents).is_none().then_some((Api::Chat, body))
    }

    fn body(
        &self,
        mut prompt: Map<String, Value>,
        _path: &str,
        _is_streamed: bool,
    ) -> Map<String, Value> {
        if let Some(contents) = prompt.remove("messages") {
            prompt.insert("contents".to_owned(), contents);
        }
        prompt
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
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
            let declared = tool["functionDeclarations"]
                .as_array()
                .or(tool["function_declarations"].as_array());
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

    /// The last event is the one that says why the answer ended.
    fn is_last(&self, data: &str) -> bool {
        (data.contains("\"finishReason\"") || data.contains("\"error\""))
            && serde_json::from_str(data).is_ok_and(|event: Value| {
                first_of(&event)["finishReason"].is_string() || error_in(&event["error"]).is_some()
            })
    }

    /// A stream that was not asked for as events.
    fn streams_lists(&self) -> bool {
        true
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let mut reply = Map::new();
        let mut candidates: BTreeMap<u64, (Map<String, Value>, Vec<Value>)> = BTreeMap::new();
        // A stream that says nothing is an empty answer.
        candidates.entry(0).or_default();
        for event in events {
            let fields = event.as_object().into_iter().flatten();
            reply.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
            for more in event["candidates"].as_array().into_iter().flatten() {
                let (candidate, parts) = candidates.entry(index_of(more)).or_default();
                for (name, value) in more.as_object().into_iter().flatten() {
                    if name != "content" {
                        candidate.insert(name.clone(), value.clone());
                    }
                }
                for part in more["content"]["parts"].as_array().into_iter().flatten() {
                    add_part(parts, part);
                }
            }
        }
        let candidates = candidates.into_values().map(|(mut candidate, parts)| {
            candidate.insert("content".to_owned(), json!({"role": "model", "parts": parts}));
            Value::Object(candidate)
        });
        let candidates: Vec<Value> = candidates.collect();
        reply.insert("candidates".to_owned(), candidates.into());
        Value::Object(reply)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        let has_reason = first_of(reply)["finishReason"].is_string()
            || reply["promptFeedback"]["blockReason"].is_string();
        Ending::or(error_in(&reply["error"]), || {
            Ending::by_mark(has_end || has_reason, "a finishReason")
        })
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        fields.get("candidates").is_some_and(Value::is_array).then_some("the Gemini API")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let candidate = first_of(&reply);
        let blocked = reply["promptFeedback"]["blockReason"].as_str();
        if !candidate.is_object() && blocked.is_none() {
            return Err(NotRead::Missing("candidates"));
        }
        let usage = &reply["usageMetadata"];
        let count = |name: &str| usage[name].as_u64();
        let thoughts = count("thoughtsTokenCount");
        let counts = TokenCounts {
            prompt: count("promptTokenCount"),
            // Gemini counts them apart; a usage has all tokens of the answer in one count.
            completion: count("candidatesTokenCount")
                .map(|said| said.saturating_add(thoughts.unwrap_or(0))),
            cached: count("cachedContentTokenCount"),
            reasoning: thoughts,
            written: None,
        };
        let reason = candidate["finishReason"].as_str().or(blocked);
        let mut fields = message_of(candidate);
        fields.set("finish_reason", reason.into());
        fields.set("id", reply["responseId"].clone());
        fields.set("model", reply["modelVersion"].clone());
        fields.set("usage", counts.json());
        let all = reply["candidates"].as_array().into_iter().flatten();
        let mut others: Vec<&Value> =
            all.filter(|other| !std::ptr::eq(*other, candidate)).collect();
        others.sort_by_key(|other| index_of(other));
        if !others.is_empty() {
            let choice = |other: &&Value| {
                json!({"index": index_of(other), "finish_reason": other["finishReason"],
                    "message": message_of(other)})
            };
            fields.set(OTHER_CHOICES, others.iter().map(choice).collect());
        }
        answer_of(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        let Problem { status, code, message } = problem;
        json!({"error": {"code": status, "message": message, "status": code}})
    }
}

/// The first candidate of a reply or an event. Events of a stream may have the others alone.
fn first_of(reply: &Value) -> &Value {
    let all = reply["candidates"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().find(|candidate| index_of(candidate) == 0).unwrap_or(&Value::Null)
}

/// The place of a candidate among those of its reply; the first one may have no index.
fn index_of(candidate: &Value) -> u64 {
    candidate["index"].as_u64().unwrap_or(0)
}

/// What a candidate says, as a message of chat completions.
fn message_of(candidate: &Value) -> Value {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        let said = part["text"].as_str().unwrap_or("");
        if part["thought"] == true {
            reasoning.push_str(said)
        } else {
            text.push_str(said)
        }
        let call = &part["functionCall"];
        if call.is_object() {
            calls.push(tool_call(&call["id"], &call["name"], &call["args"]));
        }
    }
    let mut message = json!({"content": text});
    if !reasoning.is_empty() {
        message.set("reasoning", reasoning.into());
    }
    if !calls.is_empty() {
        message.set("tool_calls", calls.into());
    }
    message
}

/// Adds a part of an event: a text that goes on is one part, as in a reply that is not streamed.
fn add_part(parts: &mut Vec<Value>, part: &Value) {
    let is_text = |part: &Value| {
        part["text"].is_string()
            && part
                .as_object()
                .is_some_and(|fields| fields.keys().all(|name| name == "text" || name == "thought"))
    };
    if let Some(last) = parts.last_mut()
        && is_text(last)
        && is_text(part)
        && last["thought"] == part["thought"]
        && let Some(last) = last.as_object_mut()
    {
        append(last, "text", part["text"].as_str().unwrap_or(""));
        return;
    }
    parts.push(part.clone());
}

/// What is posted for a chat of a study.
fn translate(chat: &Map<String, Value>) -> Result<PostedRequest, Inexpressible> {
    let mut chat = Chat::new(chat)?.with_a_user_first()?;
    chat.without(&["logit_bias", "n", "tool_choice"])?;
    let text = |text: &String| json!({"text": text});
    let mut contents: Vec<Value> = Vec::new();
    for turn in &chat.turns {
        let (role, parts) = match &turn.speaker {
            ChatSpeaker::User => ("user", turn.texts.iter().map(text).collect::<Vec<_>>()),
            ChatSpeaker::Assistant => {
                let calls = turn.calls.iter();
                let calls = calls
                    .map(|(_, name, args)| json!({"functionCall": {"name": name, "args": args}}));
                ("model", turn.texts.iter().map(text).chain(calls).collect())
            }
            ChatSpeaker::Tool(id) => {
                let calls = chat.turns.iter().flat_map(|turn| &turn.calls);
                let Some((_, name, _)) = calls.into_iter().find(|(call, ..)| call == id) else {
                    let what = "is the result of a call that no message makes";
                    return Err(Inexpressible::Message { number: turn.number, what });
                };
                let response = json!({"result": turn.texts.concat()});
                ("user", vec![json!({"functionResponse": {"name": name, "response": response}})])
            }
        };
        push_turn(&mut contents, role, "parts", parts);
    }
    let (model, stop, max_tokens) = (chat.model(), chat.stop(), chat.max_tokens());
    let (kind, schema) = match chat.take("response_format") {
        None => (Value::Null, Value::Null),
        Some(format) => match format["type"].as_str() {
            Some("text") => (Value::Null, Value::Null),
            Some("json_object") => ("application/json".into(), Value::Null),
            Some("json_schema") => {
                ("application/json".into(), format["json_schema"]["schema"].clone())
            }
            _ => {
                let what = "its type is none of text, json_object and json_schema";
                return Err(Inexpressible::Value { field: "response_format", what });
            }
        },
    };
    let mut config = object(
        json!({"temperature": chat.take("temperature"), "topP": chat.take("top_p"),
        "maxOutputTokens": max_tokens, "stopSequences": stop, "seed": chat.take("seed"),
        "presencePenalty": chat.take("presence_penalty"), "frequencyPenalty": chat.take("frequency_penalty"),
        "responseLogprobs": chat.take("logprobs"), "logprobs": chat.take("top_logprobs"),
        "responseMimeType": kind, "responseJsonSchema": schema}),
    );
    // Settings of its own, as the provider spells them.
    if let (Some(Value::Object(more)), Some(config)) =
        (chat.take("generationConfig"), config.as_object_mut())
    {
        config.extend(more);
    }
    let (mut functions, mut tools) = (Vec::new(), Vec::new());
    for tool in chat.tools() {
        match tool {
            Ok(function) => {
                functions.push(object(json!({"name": function.name,
                "description": function.description, "parametersJsonSchema": function.parameters})))
            }
            Err(own) => tools.push(own),
        }
    }
    if !functions.is_empty() {
        tools.push(json!({"functionDeclarations": functions}));
    }
    let given = |list: Vec<Value>| if list.is_empty() { Value::Null } else { list.into() };
    let instructions: Vec<Value> = chat.instructions.iter().map(text).collect();
    let instructions = match given(instructions) {
        Value::Null => Value::Null,
        parts => json!({"parts": parts}),
    };
    let config = if config == json!({}) { Value::Null } else { config };
    let own = object(json!({"contents": contents, "systemInstruction": instructions,
        "generationConfig": config, "tools": given(tools)}));
    let mut body = chat.fields;
    body.extend(own.as_object().cloned().unwrap_or_default());
    let path = vec!["v1beta".to_owned(), "models".to_owned(), format!("{model}:generateContent")];
    Ok(PostedRequest { path, body: Value::Object(body) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;

    #[test]
    fn a_stream_amounts_to_one_reply() {
        let event = |parts: Value| {
            json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
            "modelVersion": "m", "responseId": "r"})
        };
        let mut last = event(json!([{"functionCall": {"name": "f", "args": {"x": 1}}}]));
        last["candidates"][0]["finishReason"] = "STOP".into();
        last["usageMetadata"] = json!({"promptTokenCount": 5, "candidatesTokenCount": 3, "thoughtsTokenCount": 2,
            "totalTokenCount": 10});
        let events = [
            event(json!([{"text": "hm", "thought": true}])),
            event(json!([{"text": "One "}])),
            event(json!([{"text": "two"}])),
            last,
        ];
        assert!(Gemini.is_last(&events[3].to_string()) && !Gemini.is_last(&events[2].to_string()));
        let answer = Gemini.answer(Gemini.assemble(&events)).unwrap();
        assert_eq!(answer.content, Content::from("One two"));
        assert_eq!(answer.finish_reason.as_deref(), Some("STOP"));
        assert_eq!(answer.extra["reasoning"], "hm");
        assert_eq!(answer.extra["tool_calls"][0]["function"]["arguments"], "{\"x\":1}");
        let usage = answer.usage.unwrap();
        assert_eq!((usage.completion_tokens, usage.reasoning_tokens), (Some(5), Some(2)));
    }

    #[test]
    fn a_filter_of_the_answer_or_of_the_prompt_is_the_finish_reason() {
        for (reply, reason) in [
            (json!({"candidates": [{"finishReason": "SAFETY"}]}), "SAFETY"),
            (json!({"promptFeedback": {"blockReason": "BLOCKLIST"}}), "BLOCKLIST"),
        ] {
            let answer = Gemini.answer(reply).unwrap();
            assert_eq!(answer.finish_reason.as_deref(), Some(reason));
            assert_eq!(answer.content, Content::from(""));
        }
    }

    #[test]
    fn candidates_are_choices_in_their_order_wherever_they_stand() {
        let of = |index: u64, text: &str, reason: Value| json!({"candidates": [{"index": index, "content": {"parts": [{"text": text}]}, "finishReason": reason}]});
        let events = [
            of(0, "One", json!(null)),
            of(1, "Oth", json!(null)),
            of(1, "er", json!("MAX_TOKENS")),
            of(0, " two", json!("STOP")),
        ];
        assert!(!Gemini.is_last(&events[2].to_string()) && Gemini.is_last(&events[3].to_string()));
        let streamed = Gemini.assemble(&events);
        let mut whole = streamed.clone();
        whole["candidates"].as_array_mut().unwrap().reverse();
        for reply in [streamed, whole] {
            let answer = Gemini.answer(reply).unwrap();
            assert_eq!(answer.content, Content::from("One two"));
            assert_eq!(answer.finish_reason.as_deref(), Some("STOP"));
            let other =
                json!({"index": 1, "finish_reason": "MAX_TOKENS", "message": {"content": "Other"}});
            assert_eq!(answer.extra["other_choices"], json!([other]));
        }
    }

    #[test]
    fn a_chat_of_ours_is_asked_in_its_form() {
        let chat = json!({"model": "gemini-2", "temperature": 0.5, "max_tokens": 9, "stop": ["END"], "seed": 3, "messages": [
                {"role": "system", "content": "Be short."}, {"role": "user", "content": "a"},
                {"role": "assistant", "content": "b", "tool_calls": [
                    {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]},
                {"role": "tool", "tool_call_id": "t1", "content": "one"}],
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
            "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}],
            "safetySettings": [], "generationConfig": {"topK": 4}});
        let PostedRequest { path, body } = translate(chat.as_object().unwrap()).unwrap();
        let due = json!({"contents": [{"role": "user", "parts": [{"text": "a"}]},
                {"role": "model", "parts": [{"text": "b"}, {"functionCall": {"name": "f", "args": {"x": 1}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"result": "one"}}}]}],
            "systemInstruction": {"parts": [{"text": "Be short."}]},
            "generationConfig": {"temperature": 0.5, "maxOutputTokens": 9, "stopSequences": ["END"], "seed": 3, "topK": 4,
                "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
            "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": {"type": "object"}}]}],
            "safetySettings": []});
        assert_eq!(
            (path.join("/"), body),
            ("v1beta/models/gemini-2:generateContent".to_owned(), due)
        );
        let plain = json!({"model": "m", "messages": [{"role": "user", "content": "a"}]});
        let due = json!({"contents": [{"role": "user", "parts": [{"text": "a"}]}]});
        assert_eq!(translate(plain.as_object().unwrap()).unwrap().body, due);
        // No user begins this conversation, and one message says nothing.
        let asks = json!({"model": "m", "messages": [{"role": "system", "content": "Ask."},
            {"role": "assistant", "content": "Why?"}, {"role": "user", "content": ""}, {"role": "user", "content": "So."}]});
        let due = json!({"contents": [{"role": "user", "parts": [{"text": "Ask."}]},
            {"role": "model", "parts": [{"text": "Why?"}]}, {"role": "user", "parts": [{"text": "So."}]}]});
        assert_eq!(translate(asks.as_object().unwrap()).unwrap().body, due);
    }
}
