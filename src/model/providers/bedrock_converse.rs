//! Amazon Bedrock's Converse and ConverseStream (its API reference, and the service model of botocore,
//! `bedrock-runtime`). A stream arrives as the SDKs give it to programs: `{"TYPE": EVENT}`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::conversation::{Conversation, MessageParts, call, function, list, text_of};
use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in};
use super::ids;
use super::reply_parts::{TokenCounts, answer_of, append, tool_call};
use crate::members::Members;
use crate::model::{Failure, FailureKind, Response};
use crate::prompt::Api;

/// Converse. Its requests are signed for a host, so that no variable may lead them elsewhere.
#[derive(Debug)]
pub(super) struct BedrockConverse;

impl Dialect for BedrockConverse {
    fn name(&self) -> &'static str {
        "bedrock.converse"
    }

    fn hosts(&self) -> &'static [&'static str] {
        &["bedrock-runtime.*.amazonaws.com", "bedrock-runtime-fips.*.amazonaws.com"]
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/model/*/converse", "/model/*/converse-stream"]
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[("requestMetadata", "labels for the provider's log of invocations")]
    }

    fn is_streamed(&self, path: &str, _body: &Map<String, Value>) -> bool {
        path.ends_with("-stream")
    }

    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        for part in ["toolUse", "toolResult"] {
            ids::at(body, &["messages", "*", "content", "*", part, "toolUseId"], each);
        }
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        body.get("messages").is_some_and(Value::is_array).then_some((Api::Chat, body))
    }

    /// The path says whether it is a stream.
    fn body(&self, prompt: Map<String, Value>, _: &str, _: bool) -> Map<String, Value> {
        prompt
    }

    fn converse(&self, body: &Map<String, Value>, messages: &[Value], chat: &mut Conversation) {
        if let Some(system) = body.get("system") {
            chat.messages.push(json!({"role": "system", "content": text_of(system)}));
        }
        for message in messages {
            let mut parts = MessageParts::default();
            for block in message["content"].as_array().into_iter().flatten() {
                let (called, result) = (&block["toolUse"], &block["toolResult"]);
                let (image, guarded) = (&block["image"], &block["guardContent"]["text"]["text"]);
                if let Some(text) = block["text"].as_str().or(guarded.as_str()) {
                    parts.text(text);
                } else if called.is_object() {
                    parts.calls.push(call(&called["toolUseId"], &called["name"], &called["input"]));
                } else if result.is_object() {
                    let said = result["content"].as_array().into_iter().flatten();
                    let said = said.map(|part| match part["text"].as_str() {
                        Some(text) => text.to_owned(),
                        None => part["json"].to_string(),
                    });
                    chat.messages.push(json!({"role": "tool", "tool_call_id": result["toolUseId"],
                        "content": said.collect::<String>()}));
                } else if let Some(format) = image["format"].as_str()
                    && image["source"]["bytes"].is_string()
                {
                    parts.image(&format!("image/{format}").into(), &image["source"]["bytes"]);
                } else if !block["cachePoint"].is_object() {
                    let kind = block.as_object().and_then(|block| block.keys().next());
                    let kind = kind.map_or("a part", String::as_str);
                    chat.lost.push(format!("{kind} in a message"));
                }
            }
            chat.messages.extend(parts.message(message["role"].as_str().unwrap_or("user")));
        }
        let tools = body.get("toolConfig").and_then(Value::as_object);
        for tool in tools.map_or(&[][..], |config| list(config, "tools")) {
            let spec = &tool["toolSpec"];
            if spec.is_object() {
                let schema = &spec["inputSchema"]["json"];
                chat.tools.push(function(&spec["name"], &spec["description"], schema));
            } else if !tool["cachePoint"].is_object() {
                chat.lost.push("a tool of the provider".to_owned());
            }
        }
    }

    fn is_last(&self, data: &str) -> bool {
        (data.contains("\"metadata\"") || data.contains("\"error\""))
            && serde_json::from_str(data)
                .is_ok_and(|it: Value| it["metadata"].is_object() || it["error"].is_object())
    }

    fn assemble(&self, events: &[Value]) -> Value {
        assemble(events)
    }

    fn ending(&self, reply: &Value, has_end: bool) -> Ending {
        let has_reason = reply["stopReason"].is_string();
        Ending::or(failure(reply), || Ending::by_mark(has_end || has_reason, "messageStop"))
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        let is_one = fields.get("output").is_some_and(Value::is_object)
            && fields.get("stopReason").is_some_and(Value::is_string);
        is_one.then_some("the Converse API of Bedrock")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let content = &reply["output"]["message"]["content"];
        let blocks = content.as_array().ok_or(NotRead::Missing("output.message.content"))?;
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        for block in blocks {
            let (called, thought) = (&block["toolUse"], &block["reasoningContent"]);
            text.push_str(block["text"].as_str().unwrap_or(""));
            text.push_str(&text_of(&block["citationsContent"]["content"]));
            reasoning.push_str(thought["reasoningText"]["text"].as_str().unwrap_or(""));
            if called.is_object() {
                calls.push(tool_call(&called["toolUseId"], &called["name"], &called["input"]));
            }
        }
        let mut fields = json!({"content": text, "finish_reason": reply["stopReason"],
            "usage": counts(&reply["usage"]).json(), "tool_calls": calls, "trace": reply["trace"],
            "additionalModelResponseFields": reply["additionalModelResponseFields"]});
        if !reasoning.is_empty() {
            fields.set("reasoning", reasoning.into());
        }
        // Nova's streams have an empty one.
        if fields["trace"] == json!({}) {
            fields.set("trace", Value::Null);
        }
        answer_of(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        error_body(problem)
    }
}

/// An error as the SDKs of AWS read it (smithy.io, "AWS restJson1 protocol", operation error serialization).
pub(super) fn error_body(problem: &Problem<'_>) -> Value {
    json!({"__type": problem.code, "message": problem.message})
}

/// The failure that a stream says, whose codes are the names of Bedrock's exceptions.
pub(super) fn failure(reply: &Value) -> Option<Failure> {
    let failure = error_in(&reply["error"])?;
    let kind = match reply["error"]["code"].as_str().unwrap_or("") {
        "throttlingException" => FailureKind::RateLimited,
        "validationException" => FailureKind::Rejected,
        _ => failure.kind,
    };
    Some(Failure { kind, ..failure })
}

/// The counts of a usage. Tokens that were read from the cache or written to it are not among the `inputTokens` (the user
/// guide of Bedrock, "Prompt caching").
fn counts(usage: &Value) -> TokenCounts {
    let count = |names: [&str; 2]| names.iter().find_map(|name| usage[*name].as_u64());
    // Nova's replies of InvokeModel have the longer names.
    let read = count(["cacheReadInputTokens", "cacheReadInputTokenCount"]);
    let written = count(["cacheWriteInputTokens", "cacheWriteInputTokenCount"]);
    let cached = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    TokenCounts {
        prompt: usage["inputTokens"].as_u64().map(|input| input.saturating_add(cached)),
        completion: usage["outputTokens"].as_u64(),
        cached: read,
        written,
        reasoning: None,
    }
}

/// The reply that the events of a stream amount to.
pub(super) fn assemble(events: &[Value]) -> Value {
    let (mut reply, mut blocks) = (Map::new(), BTreeMap::<u64, StreamBlock>::new());
    let mut role = Value::from("assistant");
    // The events of InvokeModel have the metrics of their model beside them.
    for (kind, said) in events.iter().filter_map(Value::as_object).flatten() {
        let index = said["contentBlockIndex"].as_u64().unwrap_or(0);
        match kind.as_str() {
            "messageStart" => role = said["role"].clone(),
            "contentBlockStart" => blocks.entry(index).or_default().begin(&said["start"]),
            "contentBlockDelta" => blocks.entry(index).or_default().add(&said["delta"]),
            "messageStop" | "metadata" => {
                let fields = said.as_object().into_iter().flatten();
                // The padding of the stream says nothing.
                let fields = fields.filter(|(name, _)| *name != "p");
                reply.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
            }
            "error" => drop(reply.insert(kind.clone(), said.clone())),
            _ => {}
        }
    }
    let content: Value = blocks.into_values().map(StreamBlock::whole).collect();
    reply.insert("output".to_owned(), json!({"message": {"role": role, "content": content}}));
    Value::Object(reply)
}

/// A block of a stream, as far as it has come.
#[derive(Default)]
struct StreamBlock {
    /// The fields other than a call of a tool.
    fields: Map<String, Value>,
    call: Option<Map<String, Value>>,
    /// The JSON of a tool's input, which comes in pieces.
    input: String,
}

impl StreamBlock {
    fn begin(&mut self, start: &Value) {
        match &start["toolUse"] {
            Value::Object(call) => self.call = Some(call.clone()),
            _ => self.fields.extend(start.as_object().cloned().unwrap_or_default()),
        }
    }

    fn add(&mut self, delta: &Value) {
        for (name, value) in delta.as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                ("text", Value::String(text)) => append(&mut self.fields, name, text),
                ("toolUse", part) => self.input.push_str(part["input"].as_str().unwrap_or("")),
                ("reasoningContent", Value::Object(parts)) => self.reason(parts),
                _ => drop(self.fields.insert(name.clone(), value.clone())),
            }
        }
    }

    /// Adds pieces to the `reasoningText` that a reply has if it is not streamed.
    fn reason(&mut self, parts: &Map<String, Value>) {
        let content = self.fields.entry("reasoningContent").or_insert_with(|| json!({}));
        for (name, value) in parts {
            match (name.as_str(), value) {
                ("text" | "signature", Value::String(more)) => {
                    let mut said = content.take_at("/reasoningText");
                    if said.is_null() {
                        said = json!({});
                    }
                    if let Some(said) = said.as_object_mut() {
                        append(said, name, more);
                    }
                    content.set("reasoningText", said);
                }
                _ => content.set(name, value.clone()),
            }
        }
    }

    fn whole(self) -> Value {
        let StreamBlock { mut fields, call, input } = self;
        if let Some(mut call) = call {
            let read = serde_json::from_str(&input);
            let input = if input.is_empty() { json!({}) } else { read.unwrap_or(input.into()) };
            call.insert("input".to_owned(), input);
            fields.insert("toolUse".to_owned(), Value::Object(call));
        }
        Value::Object(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;

    fn delta(index: u64, delta: Value) -> Value {
        json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta, "p": "abc"}})
    }

    #[test]
    fn a_stream_amounts_to_the_reply_that_would_not_have_been_streamed() {
        let usage = json!({"inputTokens": 5, "outputTokens": 6, "totalTokens": 41, "cacheReadInputTokens": 20,
            "cacheWriteInputTokens": 10});
        let events = [
            json!({"messageStart": {"role": "assistant", "p": "ab"}}),
            delta(0, json!({"reasoningContent": {"text": "h"}})),
            delta(0, json!({"reasoningContent": {"text": "m"}})),
            delta(0, json!({"reasoningContent": {"signature": "s"}})),
            json!({"contentBlockStop": {"contentBlockIndex": 0}}),
            delta(1, json!({"text": "One "})),
            delta(1, json!({"text": "two"})),
            json!({"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}}}),
            delta(2, json!({"toolUse": {"input": "{\"x\""}})),
            delta(2, json!({"toolUse": {"input": ":1}"}})),
            json!({"messageStop": {"stopReason": "tool_use"}}),
            json!({"metadata": {"usage": usage, "metrics": {"latencyMs": 9}, "p": "abcd"}}),
        ];
        let whole = json!({"output": {"message": {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                {"text": "One two"},
                {"toolUse": {"toolUseId": "t", "name": "f", "input": {"x": 1}}}]}},
            "stopReason": "tool_use", "usage": usage, "metrics": {"latencyMs": 9}});
        assert_eq!(BedrockConverse.assemble(&events), whole);
        assert!(BedrockConverse.is_last(&events[11].to_string()));
        assert!(!BedrockConverse.is_last(&events[10].to_string()));
        let answer = BedrockConverse.answer(whole).unwrap();
        assert_eq!(answer.content, Content::from("One two"));
        assert_eq!(answer.finish_reason.as_deref(), Some("tool_use"));
        assert_eq!(answer.extra["reasoning"], "hm");
        assert_eq!(answer.extra["tool_calls"][0]["function"]["arguments"], "{\"x\":1}");
        let usage = answer.usage.unwrap();
        assert_eq!(
            (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens),
            (Some(35), Some(6), Some(20))
        );
        assert_eq!(answer.extra["usage"], json!({"cache_creation_input_tokens": 10}));
    }

    #[test]
    fn a_stream_that_failed_or_was_cut_off_says_so() {
        let begun = delta(0, json!({"text": "One"}));
        let ending =
            |events: &[Value]| BedrockConverse.ending(&BedrockConverse.assemble(events), false);
        assert_eq!(ending(std::slice::from_ref(&begun)), Ending::CutOff("messageStop"));
        let stop = json!({"messageStop": {"stopReason": "end_turn"}});
        assert_eq!(ending(&[begun.clone(), stop]), Ending::Answered);
        for (code, kind) in [
            ("throttlingException", FailureKind::RateLimited),
            ("validationException", FailureKind::Rejected),
            ("modelStreamErrorException", FailureKind::Server),
        ] {
            let event = json!({"error": {"code": code, "message": "no"}});
            assert!(BedrockConverse.is_last(&event.to_string()));
            let Ending::Failed(failure) = ending(&[begun.clone(), event]) else { panic!("{code}") };
            assert_eq!((failure.kind, failure.message.as_str()), (kind, "no"));
        }
    }
}
