//! Cohere's Chat API, version 1 (docs.cohere.com/v1/reference/chat, and the types `NonStreamedChatResponse` and
//! `StreamedChatResponse` of the SDK, cohere-python).

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, MessageParts, call, function, list};
use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in, failed_as};
use super::reply_parts::{TokenCounts, answer_of, append, tool_call};
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

/// The Chat API, version 1.
#[derive(Debug)]
pub(super) struct CohereChatV1;

/// The JSON names of the types that parameters of tools have, which are Python's.
const TYPES: [(&str, &str); 6] = [
    ("str", "string"),
    ("int", "integer"),
    ("float", "number"),
    ("bool", "boolean"),
    ("list", "array"),
    ("dict", "object"),
];

impl Dialect for CohereChatV1 {
    fn name(&self) -> &'static str {
        "cohere.chat_v1"
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/v1/chat"]
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[("stream", "how the bytes of the answer travel, not what they say")]
    }

    fn credentials(&self) -> &'static [&'static str] {
        // The last two are of the requests that make connectors.
        &["connectors.*.user_access_token", "service_auth.token", "oauth.client_secret"]
    }

    /// The message is the conversation, and the history stays beside it.
    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let message = body.remove("message").filter(Value::is_string)?;
        let messages = json!([{"role": "user", "content": message}]);
        body.insert("messages".to_owned(), messages).is_none().then_some((Api::Chat, body))
    }

    fn body(
        &self,
        mut prompt: Map<String, Value>,
        _path: &str,
        is_streamed: bool,
    ) -> Map<String, Value> {
        if let Some(mut messages) = prompt.remove("messages") {
            prompt.insert("message".to_owned(), messages.take_at("/0/content"));
        }
        if is_streamed {
            prompt.insert("stream".to_owned(), true.into());
        }
        prompt
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
        if let Some(preamble) = body.get("preamble").and_then(Value::as_str) {
            chat.messages.push(json!({"role": "system", "content": preamble}));
        }
        for said in list(body, "chat_history") {
            let role = match said["role"].as_str() {
                Some("CHATBOT") => "assistant",
                Some("SYSTEM") => "system",
                _ => "user",
            };
            chat.messages.extend(results(&said["tool_results"]));
            let mut parts = MessageParts::default();
            if let Some(text) = said["message"].as_str().filter(|text| !text.is_empty()) {
                parts.text(text);
            }
            let calls = said["tool_calls"].as_array().into_iter().flatten();
            parts.calls.extend(calls.map(|it| call(&it["name"], &it["name"], &it["parameters"])));
            chat.messages.extend(parts.message(role));
        }
        // Beside the results of tools, there may be no message.
        let is_said = |message: &&Value| message["content"] != "";
        chat.messages.extend(messages.iter().filter(is_said).cloned());
        chat.messages.extend(results(body.get("tool_results").unwrap_or(&Value::Null)));
        for (field, what) in [("documents", "the documents"), ("connectors", "the connectors")] {
            if !list(body, field).is_empty() {
                chat.lost.push(format!("{what} of the request"));
            }
        }
        let tools = list(body, "tools").iter();
        chat.tools.extend(tools.map(|tool| {
            let schema = schema(&tool["parameter_definitions"]);
            function(&tool["name"], &tool["description"], &schema)
        }));
    }

    fn is_last(&self, data: &str) -> bool {
        data.contains("stream-end")
            && serde_json::from_str(data)
                .is_ok_and(|event: Value| event["event_type"] == "stream-end")
    }

    /// The last event has the whole reply; what came before it counts where it is missing.
    fn assemble(&self, events: &[Value]) -> Value {
        let mut reply = Map::new();
        for event in events {
            let mut keep = |name: &str| {
                if !event[name].is_null() {
                    reply.insert(name.to_owned(), event[name].clone());
                }
            };
            match event["event_type"].as_str() {
                Some("stream-start") => keep("generation_id"),
                Some("text-generation") => {
                    append(&mut reply, "text", event["text"].as_str().unwrap_or(""));
                }
                Some("search-queries-generation") => keep("search_queries"),
                Some("search-results") => {
                    keep("search_results");
                    keep("documents");
                }
                Some("tool-calls-generation") => keep("tool_calls"),
                Some("citation-generation") => {
                    let more = event["citations"].as_array().cloned().unwrap_or_default();
                    match reply.get_mut("citations") {
                        Some(Value::Array(citations)) => citations.extend(more),
                        _ => drop(reply.insert("citations".to_owned(), more.into())),
                    }
                }
                Some("stream-end") => {
                    keep("finish_reason");
                    keep("error");
                    let whole = event["response"].as_object().into_iter().flatten();
                    let said = whole.filter(|(_, value)| !value.is_null());
                    reply.extend(said.map(|(name, value)| (name.clone(), value.clone())));
                }
                // An error in the place of an event has no type.
                None if event["message"].is_string() => {
                    reply.insert("error".to_owned(), event["message"].clone());
                }
                _ => {}
            }
        }
        reply.entry("text").or_insert_with(|| "".into());
        Value::Object(reply)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        let failed = error_in(&reply["error"])
            .or_else(|| (reply["finish_reason"] == "ERROR").then(|| failed_as("ERROR")));
        Ending::or(failed, || Ending::by_mark(has_end, "stream-end"))
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        let has = |name: &str| fields.get(name).is_some_and(Value::is_string);
        (has("text") && has("generation_id")).then_some("version 1 of Cohere's Chat API")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        // Other servers have another API at this path.
        let Some(text) = reply["text"].as_str() else { return Err(NotRead::Undescribed) };
        let tokens = &reply["meta"]["tokens"];
        let counts = TokenCounts {
            prompt: tokens["input_tokens"].as_u64(),
            completion: tokens["output_tokens"].as_u64(),
            ..TokenCounts::default()
        };
        let calls = reply["tool_calls"].as_array().into_iter().flatten();
        let calls: Vec<Value> =
            calls.map(|it| tool_call(&Value::Null, &it["name"], &it["parameters"])).collect();
        let mut fields = json!({"content": text, "id": reply["generation_id"],
            "finish_reason": reply["finish_reason"], "usage": counts.json(), "tool_calls": calls});
        for name in ["citations", "documents", "search_queries", "search_results"] {
            fields.set(name, reply[name].clone());
        }
        answer_of(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        json!({"message": problem.message})
    }
}

/// The results of tools, each named by the tool: calls have no ids.
fn results(results: &Value) -> Vec<Value> {
    let message = |it: &Value| {
        let outputs = match it["outputs"].as_array().map(Vec::as_slice) {
            Some([Value::String(text)]) => text.clone(),
            _ => it["outputs"].to_string(),
        };
        json!({"role": "tool", "tool_call_id": it["call"]["name"], "content": outputs})
    };
    results.as_array().into_iter().flatten().map(message).collect()
}

/// The JSON schema of a tool's parameters; null if it has none.
fn schema(definitions: &Value) -> Value {
    let Some(definitions) = definitions.as_object() else { return Value::Null };
    let property = |(name, definition): (&String, &Value)| {
        let given = definition["type"].as_str().unwrap_or("");
        let known = TYPES.iter().find(|(python, _)| *python == given.to_ascii_lowercase());
        let mut property = json!({"type": known.map_or(given, |(_, json)| *json)});
        if definition["description"].is_string() {
            property.set("description", definition["description"].clone());
        }
        (name.clone(), property)
    };
    let properties: Map<String, Value> = definitions.iter().map(property).collect();
    let required = definitions.iter().filter(|(_, definition)| definition["required"] == true);
    let required: Vec<&String> = required.map(|(name, _)| name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, FailureKind};

    fn events() -> Vec<Value> {
        let event = |kind: &str, name: &str, value: Value| json!({"is_finished": kind == "stream-end", "event_type": kind, name: value});
        let citation = |start: u64| json!({"start": start, "end": start + 3, "text": "One", "document_ids": ["d"]});
        vec![
            event("stream-start", "generation_id", "i".into()),
            event("text-generation", "text", "One ".into()),
            event("text-generation", "text", "two".into()),
            event("citation-generation", "citations", json!([citation(0)])),
            event("citation-generation", "citations", json!([citation(4)])),
            event("tool-calls-chunk", "tool_call_delta", json!({"index": 0, "name": "f"})),
            event(
                "tool-calls-generation",
                "tool_calls",
                json!([{"name": "f", "parameters": {"x": 1}}]),
            ),
            event("stream-end", "finish_reason", "COMPLETE".into()),
        ]
    }

    #[test]
    fn a_stream_is_read_as_far_as_it_came_and_its_last_event_has_all() {
        let mut events = events();
        let without = CohereChatV1.answer(CohereChatV1.assemble(&events)).unwrap();
        assert_eq!(without.extra["citations"].as_array().unwrap().len(), 2);
        let tokens = json!({"tokens": {"input_tokens": 3, "output_tokens": 2}});
        events[7]["response"] = json!({"text": "One two", "generation_id": "i", "citations": without.extra["citations"],
            "tool_calls": [{"name": "f", "parameters": {"x": 1}}], "finish_reason": "COMPLETE", "meta": tokens});
        assert!(CohereChatV1.is_last(&events[7].to_string()));
        assert!(!CohereChatV1.is_last(&events[6].to_string()));
        let whole = CohereChatV1.answer(CohereChatV1.assemble(&events)).unwrap();
        assert_eq!(CohereChatV1.answer(events[7]["response"].clone()).unwrap(), whole);
        assert_eq!(whole.usage.unwrap().prompt_tokens, Some(3));
        for answer in [without, whole] {
            assert_eq!(answer.content, Content::from("One two"));
            assert_eq!(
                (answer.id.as_deref(), answer.finish_reason.as_deref()),
                (Some("i"), Some("COMPLETE"))
            );
            assert_eq!(answer.extra["tool_calls"][0]["function"]["arguments"], "{\"x\":1}");
        }
    }

    #[test]
    fn a_stream_ends_with_an_answer_or_fails_or_is_cut_off() {
        let ending = |events: &[Value], has_end| {
            CohereChatV1.ending(&CohereChatV1.assemble(events), has_end)
        };
        assert_eq!(ending(&events()[..3], false), Ending::CutOff("stream-end"));
        assert_eq!(ending(&events(), true), Ending::Answered);
        let failed = json!({"event_type": "stream-end", "finish_reason": "ERROR"});
        for (event, said) in [
            (failed, "the answer ended with \"ERROR\""),
            (json!({"message": "overloaded"}), "overloaded"),
        ] {
            let Ending::Failed(failure) = ending(&[event], true) else { panic!("{said}") };
            assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Server, said));
        }
    }

    #[test]
    fn a_request_is_given_back_and_what_has_another_form_is_not_read() {
        let body = json!({"model": "m", "message": "So?", "chat_history": [{"role": "USER", "message": "Hi"}], "stream": true});
        let mut sent = body.as_object().unwrap().clone();
        sent.remove("stream");
        let (_, prompt) = CohereChatV1.prompt(sent).unwrap();
        assert_eq!(prompt["messages"], json!([{"role": "user", "content": "So?"}]));
        assert_eq!(Value::Object(CohereChatV1.body(prompt, "", true)), body);
        let other = json!({"output": [{"type": "message", "content": "x"}]});
        assert!(matches!(CohereChatV1.answer(other), Err(NotRead::Undescribed)));
    }
}
