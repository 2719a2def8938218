//! OpenAI's chat completions, and the many servers that speak them (Azure, vLLM, Groq, Mistral,
//! OpenRouter, Ollama's and Gemini's compatible endpoints).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::conversation::{Conversation, list, text_of};
use super::dialect::{Dialect, NotRead, PlainAddress};
use super::ending::{Ending, error_in, failed_as};
use super::ids;
use super::openai_chat_stream::StreamChoice;
use super::provider::{Provider, RecordedBase, VersionPlace};
use super::study::{BatchApi, ModelList, StudyAccess};
use crate::members::Members;
use crate::model::choices::CompletionChoice;
use crate::model::content_parts::NotACompletion;
use crate::model::parts::{
    COMPLETION, OTHER_CHOICES, USAGE, add_rest, keep_readable, leave_out, rest, take_text,
};
use crate::model::{ExchangeResponseError, Response, keep_exact, usage};
use crate::prompt::{Api, TRANSPORT_LISTS};

/// OpenAI itself.
pub(super) const OPENAI: Provider = Provider {
    variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
    default: Some("https://api.openai.com/v1"),
    keys: &["OPENAI_API_KEY"],
    ..Provider::new("openai")
};

/// Those whose SDKs, or whose requests in recordings, are known. Groq's and Cerebras's SDKs have other defaults
/// than programs that ask them in OpenAI's words.
const PROVIDERS: &[Provider] = &[
    OPENAI,
    Provider {
        variables: &["AZURE_OPENAI_ENDPOINT"],
        keys: &["AZURE_OPENAI_API_KEY"],
        refuses: Some(OPENAI.name),
        recorded_at: &[RecordedBase { host: "*.openai.azure.com", path: "/" }],
        ..Provider::new("azure")
    },
    Provider {
        variables: &["TOGETHER_BASE_URL"],
        default: Some("https://api.together.xyz/v1"),
        // Some clients add it to a URL that has it.
        version: VersionPlace::InBase,
        keys: &["TOGETHER_API_KEY"],
        recorded_at: &[RecordedBase { host: "api.together.ai", path: "/v1" }],
        ..Provider::new("together")
    },
    Provider {
        variables: &["GROQ_BASE_URL"],
        keys: &["GROQ_API_KEY"],
        recorded_at: &[RecordedBase { host: "api.groq.com", path: "/" }],
        ..Provider::new("groq")
    },
    Provider {
        variables: &["CEREBRAS_BASE_URL"],
        keys: &["CEREBRAS_API_KEY"],
        recorded_at: &[RecordedBase { host: "api.cerebras.ai", path: "/" }],
        ..Provider::new("cerebras")
    },
];

/// Those that are not the hosts of one of the providers.
const HOSTS: &[&str] = &[
    "*.api.openai.com",
    "*.cognitiveservices.azure.com",
    "*.services.ai.azure.com",
    "*.inference.ai.azure.com",
    "api.mistral.ai",
    "api.deepseek.com",
    "api.fireworks.ai",
    "api.perplexity.ai",
    "api.x.ai",
    "openrouter.ai",
    "router.huggingface.co",
    "integrate.api.nvidia.com",
    "dashscope.aliyuncs.com",
    "dashscope-intl.aliyuncs.com",
    "api.moonshot.ai",
];

/// Studies write their requests in this form.
static STUDY: StudyAccess = StudyAccess {
    kind: "openai",
    help: "Any OpenAI-compatible server",
    provider: &OPENAI,
    key_header: None,
    headers: &[],
    tier_field: Some("service_tier"),
    translation: None,
    batches: BatchApi::OpenAi,
    names: &[
        "gpt-3.*",
        "gpt-4",
        "gpt-4-*",
        "gpt-4.*",
        "gpt-4o",
        "gpt-4o-*",
        "gpt-5",
        "gpt-5-*",
        "gpt-5.*",
        "chatgpt-*",
        "o1",
        "o1-*",
        "o3",
        "o3-*",
        "o4-*",
        "ft:*",
        "codex-*",
        "text-embedding-3-*",
        "text-embedding-ada-*",
    ],
    list: ModelList { path: &["models"], page: None },
};

/// Chat completions.
#[derive(Debug)]
pub(in crate::model) struct OpenAiChat;

impl Dialect for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai.chat"
    }

    fn providers(&self) -> &'static [Provider] {
        PROVIDERS
    }

    fn hosts(&self) -> &'static [&'static str] {
        HOSTS
    }

    fn study(&self) -> Option<&'static StudyAccess> {
        Some(&STUDY)
    }

    fn plain(&self) -> Option<PlainAddress> {
        Some(PlainAddress { api: Api::Chat, upstream: OPENAI.name, path: "/chat/completions" })
    }

    fn headers(&self) -> &'static [&'static str] {
        &["openai-beta"]
    }

    fn paths(&self) -> &'static [&'static str] {
        &[
            "/chat/completions",
            // Mistral's models on Vertex (the SDK, mistralai_gcp).
            "/publishers/mistralai/models/*:rawPredict",
            "/publishers/mistralai/models/*:streamRawPredict",
        ]
    }

    fn is_streamed(&self, path: &str, body: &Map<String, Value>) -> bool {
        path.ends_with(":streamRawPredict")
            || body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The first list of our own studies, so that both have the same prompt hash.
    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        TRANSPORT_LISTS[0].fields
    }

    /// Azure's own data: Cognitive Search, Elasticsearch, Pinecone, Cosmos DB; the earlier form has names in camel case. Groq's
    /// compound models have a key for Wolfram.
    fn credentials(&self) -> &'static [&'static str] {
        &[
            "data_sources.*.authentication.key",
            "data_sources.*.parameters.authentication.key",
            "data_sources.*.parameters.authentication.api_key",
            "data_sources.*.parameters.authentication.encoded_api_key",
            "data_sources.*.parameters.authentication.access_token",
            "data_sources.*.parameters.authentication.connection_string",
            "data_sources.*.parameters.authentication.password",
            "data_sources.*.parameters.embedding_dependency.authentication.key",
            "data_sources.*.parameters.embedding_dependency.authentication.api_key",
            "data_sources.*.parameters.embedding_dependency.authentication.access_token",
            "dataSources.*.parameters.key",
            "dataSources.*.parameters.embeddingKey",
            "dataSources.*.parameters.connectionString",
            "dataSources.*.parameters.authentication.key",
            "dataSources.*.parameters.authentication.apiKey",
            "dataSources.*.parameters.authentication.encodedApiKey",
            "dataSources.*.parameters.authentication.accessToken",
            "dataSources.*.parameters.authentication.connectionString",
            "compound_custom.tools.wolfram_settings.authorization",
        ]
    }

    /// Frameworks send a call to another provider's model under an id of their own; a cache key is the client's, too.
    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        ids::at(body, &["messages", "*", "tool_calls", "*", "id"], each);
        ids::at(body, &["messages", "*", "tool_call_id"], each);
        ids::at(body, &["prompt_cache_key"], each);
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        if !body.get("messages").is_some_and(Value::is_array) {
            return None;
        }
        // As in a study, where 1 is the default.
        if body.get("n").is_some_and(|n| n.as_f64() == Some(1.0)) {
            body.remove("n");
        }
        Some((Api::Chat, body))
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
        chat.messages =
            messages.iter().map(|message| chat_message(message, &mut chat.lost)).collect();
        chat.tools = list(body, "tools").to_vec();
    }

    fn is_last(&self, data: &str) -> bool {
        data.trim_start().starts_with("[DONE]")
            || data.contains("\"error\"")
                && serde_json::from_str(data).is_ok_and(|event: Value| {
                    matches!(self.ending(&self.assemble(&[event]), true), Ending::Failed(_))
                })
    }

    fn assemble(&self, events: &[Value]) -> Value {
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
        Ending::or(failed, || Ending::by_mark(has_end || has_reasons, "[DONE] or a finish reason"))
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        fields.get("choices").is_some_and(Value::is_array).then_some("the chat completions API")
    }

    fn is_pasted(&self) -> bool {
        true
    }

    fn answer(&self, mut reply: Value) -> Result<Response, NotRead> {
        move_usage(&mut reply);
        move_thinking(&mut reply);
        if !reply["choices"].is_array() {
            return Err(NotRead::OtherForm(reply));
        }
        let both = |first| ExchangeResponseError::Both { first, second: "choices" };
        if reply.get("content").is_some() {
            return Err(both("content").into());
        }
        if !reply["embedding"].is_null() {
            return Err(both("embedding").into());
        }
        let mut response = completion(&reply).map_err(ExchangeResponseError::Pasted)?;
        keep_exact(&mut response.extra);
        Ok(response)
    }
}

/// Moves the usage to where OpenAI has it: Groq's streams have it in `x_groq` (console.groq.com/docs/api-reference), Moonshot's in the
/// choice (platform.moonshot.ai/docs/api/chat).
fn move_usage(reply: &mut Value) {
    if !reply["usage"].is_null() {
        return;
    }
    let choices = reply.get("choices").and_then(Value::as_array).map_or(0, Vec::len);
    let places = (0..choices).map(|at| format!("/choices/{at}"));
    for place in std::iter::once("/x_groq".to_owned()).chain(places) {
        let found = reply.pointer_mut(&place).and_then(Value::as_object_mut);
        if let Some(usage) = found.and_then(|it| it.remove("usage")).filter(Value::is_object) {
            reply.set("usage", usage);
            return;
        }
    }
}

/// Moves reasoning out of the content: Mistral has it there, in parts (docs.mistral.ai, "Reasoning").
fn move_thinking(reply: &mut Value) {
    for choice in reply.get_mut("choices").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(Value::Array(parts)) = choice.pointer_mut("/message/content") else { continue };
        let is_thinking = |part: &Value| part["type"] == "thinking" && part["thinking"].is_array();
        let thinking: String =
            parts.iter().filter(|it| is_thinking(it)).map(|it| text_of(&it["thinking"])).collect();
        if !thinking.is_empty() && choice["message"]["thinking"].is_null() {
            if let Some(Value::Array(parts)) = choice.pointer_mut("/message/content") {
                parts.retain(|part| !is_thinking(part));
            }
            if let Some(message) = choice.get_mut("message") {
                message.set("thinking", thinking.into());
            }
        }
    }
}

/// The parts of a message that the form of chat completions can hold.
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

/// The answer in a chat completion, with all its other parts; see [`Response`].
pub(in crate::model) fn completion(body: &Value) -> Result<Response, NotACompletion> {
    let choices = body["choices"].as_array().ok_or(NotACompletion::NoChoices)?;
    let (choice, others) = choices.split_first().ok_or(NotACompletion::EmptyChoices)?;
    let CompletionChoice { text, finish_reason, mut extra } = CompletionChoice::new(choice, 0)?;
    if !others.is_empty() {
        extra.insert(OTHER_CHOICES.to_owned(), others.into());
    }
    let mut response = Response { finish_reason, extra, ..Response::text(text) };
    add_whole(&mut response, body, "choices", "chat.completion");
    Ok(response)
}

/// Adds the fields of the whole reply, except the list of its answers and its usual `object`.
pub(super) fn add_whole(
    response: &mut Response,
    body: &Value,
    answers: &str,
    object: &'static str,
) {
    let mut left = body.as_object().map(|body| rest(body, &[answers])).unwrap_or_default();
    leave_out(&mut left, "object", &object.into());
    response.id = take_text(&mut left, "id");
    response.model = take_text(&mut left, "model");
    response.system_fingerprint = take_text(&mut left, "system_fingerprint");
    response.service_tier = take_text(&mut left, "service_tier");
    let (usage, more) = left.remove(USAGE).map_or((None, None), usage::read);
    response.usage = usage;
    if let Some(more) = more {
        response.extra.insert(USAGE.to_owned(), more);
    }
    add_rest(&mut response.extra, COMPLETION, left);
    keep_readable(&mut response.extra);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Content;

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
        let reply = OpenAiChat.assemble(&events);
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

    /// As `gpt-audio` sends it.
    #[test]
    fn spoken_words_are_all_of_their_pieces() {
        let event = |audio: Value| json!({"choices": [{"index": 0, "delta": {"audio": audio}}]});
        let events = [
            event(json!({"id": "a", "transcript": "One "})),
            event(json!({"data": "AAE="})),
            event(json!({"transcript": "two"})),
            event(json!({"data": "AgMEBQ==", "transcript": null})),
            event(json!({"expires_at": 7})),
        ];
        let reply = OpenAiChat.assemble(&events);
        let due = json!({"id": "a", "transcript": "One two", "data": "AAECAwQF", "expires_at": 7});
        assert_eq!(reply["choices"][0]["message"]["audio"], due);
        assert_eq!(OpenAiChat.answer(reply).unwrap().extra["audio"], due);
    }

    /// As Mistral sends it.
    #[test]
    fn reasoning_in_the_content_is_read_streamed_or_not() {
        let thinking = |text: &str| json!([{"type": "thinking", "thinking": [{"type": "text", "text": text}]}]);
        let event =
            |content: Value| json!({"choices": [{"index": 0, "delta": {"content": content}}]});
        let events = [
            event("".into()),
            event(thinking("h")),
            event(thinking("m")),
            event("One ".into()),
            event("two".into()),
        ];
        let text = json!({"type": "text", "text": "One two"});
        let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant",
            "content": [thinking("hm")[0], text]}}]});
        for reply in [OpenAiChat.assemble(&events), whole] {
            let answer = OpenAiChat.answer(reply).unwrap();
            assert_eq!(answer.content, Content::from("One two"));
            assert_eq!(Value::Object(answer.extra), json!({"thinking": "hm"}));
        }
    }
}
