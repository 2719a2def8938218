//! OpenAI's Responses API.

use retold::model::Response;
use retold::prompt::Api;
use serde_json::{Map, Value, json};

use super::{Counts, Dialect, NotRead, Problem, kind_of, openai_error, read, tool_call};

#[derive(Debug)]
pub(super) struct OpenAiResponses;

/// The events that end a stream; each of the first three has the whole response.
const LAST: &[&str] = &["response.completed", "response.incomplete", "response.failed", "error"];

impl Dialect for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai.responses"
    }

    fn is_at(&self, path: &str) -> bool {
        path.ends_with("/responses")
    }

    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("stream", "how the bytes of the answer travel, not what they say"),
            ("stream_options", "how the bytes of the answer travel"),
            ("store", "whether the provider keeps a copy"),
            ("metadata", "labels that the provider stores beside the copy it keeps"),
        ]
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

    fn is_last(&self, data: &str) -> bool {
        kind_of(data).is_some_and(|kind| LAST.contains(&&*kind))
    }

    fn assembled(&self, events: &[Value]) -> Value {
        let whole = events.iter().rev().find(|event| event["response"].is_object());
        whole.map_or(Value::Null, |event| event["response"].clone())
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
                    for part in item["summary"].as_array().into_iter().flatten() {
                        reasoning.push_str(part["text"].as_str().unwrap_or(""));
                    }
                }
                Some("function_call") => {
                    calls.push(tool_call(&item["call_id"], &item["name"], &item["arguments"]));
                }
                // Calls of the provider's own tools: their results are in the text.
                _ => {}
            }
        }
        let usage = &reply["usage"];
        let counts = Counts {
            prompt: usage["input_tokens"].as_u64(),
            completion: usage["output_tokens"].as_u64(),
            cached: usage["input_tokens_details"]["cached_tokens"].as_u64(),
            reasoning: usage["output_tokens_details"]["reasoning_tokens"].as_u64(),
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
                fields[name] = text.into();
            }
        }
        if !calls.is_empty() {
            fields["tool_calls"] = calls.into();
        }
        read(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        openai_error(problem)
    }
}

#[cfg(test)]
mod tests {
    use retold::model::Content;

    use super::*;

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
        let answer = OpenAiResponses.answer(OpenAiResponses.assembled(&events)).unwrap();
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
}
