//! Cohere's Chat API, version 2 (docs.cohere.com/reference/chat, and the types of the SDK, cohere-python).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, MessageParts, call, list, text_of};
use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in, failed_as};
use super::ids;
use super::reply_parts::{TokenCounts, answer_of, append, kind_of};
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

/// The Chat API. Its SDK is caught in process, or intercepted.
#[derive(Debug)]
pub(super) struct CohereChat;

/// The finish reasons of an answer that failed (`ChatFinishReason` of the SDK).
const FAILED: [&str; 2] = ["ERROR", "TIMEOUT"];

impl Dialect for CohereChat {
    fn name(&self) -> &'static str {
        "cohere.chat"
    }

    fn hosts(&self) -> &'static [&'static str] {
        &["api.cohere.com", "api.cohere.ai"]
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/v2/chat"]
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[("stream", "how the bytes of the answer travel, not what they say")]
    }

    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        ids::at(body, &["messages", "*", "tool_calls", "*", "id"], each);
        ids::at(body, &["messages", "*", "tool_call_id"], each);
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        body.get("messages").is_some_and(Value::is_array).then_some((Api::Chat, body))
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
        for message in messages {
            let role = message["role"].as_str().unwrap_or("user");
            let mut parts = MessageParts::default();
            let one = [json!({"type": "text", "text": message["content"]})];
            for part in message["content"].as_array().map_or(&one[..], Vec::as_slice) {
                match part["type"].as_str().unwrap_or("") {
                    "text" if part["text"].is_null() => {}
                    "text" => parts.text(part["text"].as_str().unwrap_or("")),
                    "image_url" => parts.content.push(part.clone()),
                    // The result of a tool.
                    "document" if role == "tool" => match &part["document"]["data"] {
                        Value::String(text) => parts.text(text),
                        data => parts.text(&data.to_string()),
                    },
                    other => chat.lost.push(format!("{other} in a message")),
                }
            }
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            parts.calls.extend(calls.map(|one| {
                call(&one["id"], &one["function"]["name"], &one["function"]["arguments"])
            }));
            if message["tool_plan"].as_str().is_some_and(|plan| !plan.is_empty()) {
                chat.lost.push("tool_plan of a message".to_owned());
            }
            if let Some(mut made) = parts.message(role) {
                if message["tool_call_id"].is_string() {
                    made.set("tool_call_id", message["tool_call_id"].clone());
                }
                chat.messages.push(made);
            }
        }
        if !list(body, "documents").is_empty() {
            chat.lost.push("the documents of the request".to_owned());
        }
        chat.tools = list(body, "tools").to_vec();
    }

    fn is_last(&self, data: &str) -> bool {
        kind_of(data).is_some_and(|kind| kind == "message-end")
    }

    fn assemble(&self, events: &[Value]) -> Value {
        let (mut reply, mut message) = (Map::new(), Map::new());
        let mut contents: BTreeMap<u64, Map<String, Value>> = BTreeMap::new();
        let mut calls: BTreeMap<u64, Value> = BTreeMap::new();
        let mut citations = Vec::new();
        for event in events {
            let index = event["index"].as_u64().unwrap_or(0);
            let (delta, said) = (&event["delta"], &event["delta"]["message"]);
            match event["type"].as_str() {
                Some("message-start") => {
                    reply.insert("id".to_owned(), event["id"].clone());
                    message = said.as_object().cloned().unwrap_or_default();
                }
                Some("content-start" | "content-delta") => {
                    let content = contents.entry(index).or_default();
                    for (name, value) in said["content"].as_object().into_iter().flatten() {
                        match (name.as_str(), value) {
                            ("text" | "thinking", Value::String(more)) => {
                                append(content, name, more);
                            }
                            _ => drop(content.insert(name.clone(), value.clone())),
                        }
                    }
                }
                Some("tool-plan-delta") => {
                    append(&mut message, "tool_plan", said["tool_plan"].as_str().unwrap_or(""));
                }
                Some("tool-call-start") => drop(calls.insert(index, said["tool_calls"].clone())),
                Some("tool-call-delta") => {
                    let more = said["tool_calls"]["function"]["arguments"].as_str().unwrap_or("");
                    let begun = calls.get_mut(&index).and_then(|call| call.get_mut("function"));
                    if let Some(function) = begun.and_then(Value::as_object_mut) {
                        append(function, "arguments", more);
                    }
                }
                Some("citation-start") => citations.push(said["citations"].clone()),
                Some("message-end") => {
                    let fields = delta.as_object().into_iter().flatten();
                    reply.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
                }
                // An error in the place of an event has no type.
                None if event["message"].is_string() => {
                    reply.insert("error".to_owned(), event["message"].clone());
                }
                _ => {}
            }
        }
        message.insert("content".to_owned(), contents.into_values().map(Value::Object).collect());
        message.insert("tool_calls".to_owned(), calls.into_values().collect());
        message.insert("citations".to_owned(), citations.into());
        reply.insert("message".to_owned(), Value::Object(message));
        Value::Object(reply)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        let failed = error_in(&reply["error"]).or_else(|| {
            reply["finish_reason"].as_str().filter(|reason| FAILED.contains(reason)).map(failed_as)
        });
        Ending::or(failed, || Ending::by_mark(has_end, "message-end"))
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        let is_one = fields.get("message").is_some_and(|it| {
            it["role"] == "assistant" && (it["content"].is_array() || it["tool_calls"].is_array())
        });
        is_one.then_some("Cohere's Chat API")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let message = &reply["message"];
        if !message.is_object() {
            return Err(NotRead::Missing("message"));
        }
        let contents = message["content"].as_array().into_iter().flatten();
        let thinking: String = contents.filter_map(|part| part["thinking"].as_str()).collect();
        let usage = &reply["usage"];
        // The charged counts, `billed_units`, leave out the tokens that Cohere adds to a prompt.
        let counts = TokenCounts {
            prompt: usage["tokens"]["input_tokens"].as_u64(),
            completion: usage["tokens"]["output_tokens"].as_u64(),
            cached: usage["cached_tokens"].as_u64(),
            ..TokenCounts::default()
        };
        let mut fields = json!({"content": text_of(&message["content"]), "id": reply["id"],
            "finish_reason": reply["finish_reason"], "usage": counts.json(), "tool_plan": message["tool_plan"],
            "tool_calls": message["tool_calls"], "citations": message["citations"], "logprobs": reply["logprobs"]});
        if !thinking.is_empty() {
            fields.set("thinking", thinking.into());
        }
        if fields["tool_plan"] == "" {
            fields.set("tool_plan", Value::Null);
        }
        answer_of(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        json!({"message": problem.message})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Content, FailureKind};

    fn part(kind: &str, index: u64, message: Value) -> Value {
        json!({"type": kind, "index": index, "delta": {"message": message}})
    }

    fn end(delta: Value) -> Value {
        json!({"type": "message-end", "delta": delta})
    }

    #[test]
    fn a_stream_amounts_to_the_reply_that_would_not_have_been_streamed() {
        let call = |arguments: &str| json!({"tool_calls": {"function": {"arguments": arguments}}});
        let usage = json!({"billed_units": {"input_tokens": 1, "output_tokens": 2},
            "tokens": {"input_tokens": 30, "output_tokens": 4}, "cached_tokens": 20});
        let citation = json!({"start": 0, "end": 3, "text": "One"});
        let events = [
            json!({"id": "i", "type": "message-start", "delta": {"message": {"role": "assistant", "content": [],
                "tool_plan": "", "tool_calls": [], "citations": []}}}),
            json!({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "I "}}}),
            json!({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": "look."}}}),
            part("content-start", 0, json!({"content": {"type": "thinking", "thinking": ""}})),
            part("content-delta", 0, json!({"content": {"thinking": "hm"}})),
            json!({"type": "content-end", "index": 0}),
            part("content-start", 1, json!({"content": {"type": "text", "text": ""}})),
            part("content-delta", 1, json!({"content": {"text": "One "}})),
            part("content-delta", 1, json!({"content": {"text": "two"}})),
            part("citation-start", 0, json!({"citations": citation})),
            part(
                "tool-call-start",
                0,
                json!({"tool_calls": {"id": "a", "type": "function",
                "function": {"name": "f", "arguments": ""}}}),
            ),
            part("tool-call-delta", 0, call("{\"x\"")),
            part("tool-call-delta", 0, call(":1}")),
            json!({"type": "tool-call-end", "index": 0}),
            end(json!({"finish_reason": "TOOL_CALL", "usage": usage})),
        ];
        let whole = json!({"id": "i", "message": {"role": "assistant", "tool_plan": "I look.",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "One two"}],
            "citations": [citation],
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]},
            "finish_reason": "TOOL_CALL", "usage": usage});
        assert_eq!(CohereChat.assemble(&events), whole);
        assert!(CohereChat.is_last(&events[14].to_string()));
        assert!(!CohereChat.is_last(&events[13].to_string()));
        let answer = CohereChat.answer(whole).unwrap();
        assert_eq!(answer.content, Content::from("One two"));
        assert_eq!(answer.finish_reason.as_deref(), Some("TOOL_CALL"));
        assert_eq!(
            (&answer.extra["thinking"], &answer.extra["tool_plan"]),
            (&"hm".into(), &"I look.".into())
        );
        assert_eq!(answer.extra["tool_calls"][0]["function"]["arguments"], "{\"x\":1}");
        let usage = answer.usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.cached_tokens), (Some(30), Some(20)));
    }

    #[test]
    fn a_stream_ends_with_an_answer_or_fails_or_is_cut_off() {
        let begun = part("content-delta", 0, json!({"content": {"text": "One"}}));
        let ending =
            |events: &[Value], has_end| CohereChat.ending(&CohereChat.assemble(events), has_end);
        assert_eq!(ending(std::slice::from_ref(&begun), false), Ending::CutOff("message-end"));
        let stopped = [begun.clone(), end(json!({"finish_reason": "COMPLETE"}))];
        assert_eq!(ending(&stopped, true), Ending::Answered);
        for (event, said) in [
            (end(json!({"finish_reason": "ERROR", "error": "no luck"})), "no luck"),
            (end(json!({"finish_reason": "TIMEOUT"})), "the answer ended with \"TIMEOUT\""),
            (json!({"message": "overloaded"}), "overloaded"),
        ] {
            let Ending::Failed(failure) = ending(&[begun.clone(), event], true) else {
                panic!("{said}")
            };
            assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Server, said));
        }
    }
}
