//! Gemini's generateContent and streamGenerateContent.

use retold::model::Response;
use retold::prompt::Api;
use serde_json::{Map, Value, json};

use super::{Counts, Dialect, NotRead, Problem, read, tool_call};

#[derive(Debug)]
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini.content"
    }

    fn is_at(&self, path: &str) -> bool {
        path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent")
    }

    fn is_streamed(&self, path: &str, _body: &Map<String, Value>) -> bool {
        path.ends_with(":streamGenerateContent")
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let contents = body.remove("contents").filter(Value::is_array)?;
        // The conversation has one name in a log.
        body.insert("messages".to_owned(), contents).is_none().then_some((Api::Chat, body))
    }

    /// The last event is the one that says why the answer ended.
    fn is_last(&self, data: &str) -> bool {
        data.contains("\"finishReason\"")
            && serde_json::from_str(data)
                .is_ok_and(|event: Value| event["candidates"][0]["finishReason"].is_string())
    }

    fn assembled(&self, events: &[Value]) -> Value {
        let (mut reply, mut candidate, mut parts) = (Map::new(), Map::new(), Vec::new());
        for event in events {
            let fields = event.as_object().into_iter().flatten();
            reply.extend(fields.map(|(name, value)| (name.clone(), value.clone())));
            for (name, value) in event["candidates"][0].as_object().into_iter().flatten() {
                if name != "content" {
                    candidate.insert(name.clone(), value.clone());
                }
            }
            let more = event["candidates"][0]["content"]["parts"].as_array();
            parts.extend(more.into_iter().flatten().cloned());
        }
        candidate.insert("content".to_owned(), json!({"role": "model", "parts": parts}));
        reply.insert("candidates".to_owned(), json!([candidate]));
        Value::Object(reply)
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        // A stream that was not asked for as events is a list.
        let reply = match reply {
            Value::Array(events) => self.assembled(&events),
            reply => reply,
        };
        let candidate = &reply["candidates"][0];
        let blocked = reply["promptFeedback"]["blockReason"].as_str();
        if !candidate.is_object() && blocked.is_none() {
            return Err(NotRead::Missing("candidates"));
        }
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
        let usage = &reply["usageMetadata"];
        let count = |name: &str| usage[name].as_u64();
        let thoughts = count("thoughtsTokenCount");
        let counts = Counts {
            prompt: count("promptTokenCount"),
            // Gemini counts them apart; a usage has all tokens of the answer in one count.
            completion: count("candidatesTokenCount")
                .map(|said| said.saturating_add(thoughts.unwrap_or(0))),
            cached: count("cachedContentTokenCount"),
            reasoning: thoughts,
        };
        let reason = candidate["finishReason"].as_str().or(blocked);
        let mut fields = json!({"content": text, "finish_reason": reason, "id": reply["responseId"],
            "model": reply["modelVersion"], "usage": counts.json()});
        if !reasoning.is_empty() {
            fields["reasoning"] = reasoning.into();
        }
        if !calls.is_empty() {
            fields["tool_calls"] = calls.into();
        }
        read(fields)
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        let Problem { status, code, message } = problem;
        json!({"error": {"code": status, "message": message, "status": code}})
    }
}

#[cfg(test)]
mod tests {
    use retold::model::Content;

    use super::*;

    #[test]
    fn a_stream_is_read_as_events_and_as_a_list() {
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
        for reply in [Gemini.assembled(&events), events.iter().cloned().collect()] {
            let answer = Gemini.answer(reply).unwrap();
            assert_eq!(answer.content, Content::from("One two"));
            assert_eq!(answer.finish_reason.as_deref(), Some("STOP"));
            assert_eq!(answer.extra["reasoning"], "hm");
            assert_eq!(answer.extra["tool_calls"][0]["function"]["arguments"], "{\"x\":1}");
            let usage = answer.usage.unwrap();
            assert_eq!((usage.completion_tokens, usage.reasoning_tokens), (Some(5), Some(2)));
        }
    }
}
