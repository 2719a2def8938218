//! What llm sends to OpenAI's chat completions for a turn, and the answer that it got.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde_json::{Map, Value, json};

use super::LlmCall;
use crate::exchange::{Http, TrafficAnswer};

use retold::members::Members;

const URL: &str = "https://api.openai.com/v1/chat/completions";

/// Options of llm that it does not send as they are.
const ITS_OWN: &[&str] = &["image_detail", "chat_completions", "reasoning_summary"];

/// Whether the whole request can be known.
pub(super) fn is_known(turn: &LlmCall) -> bool {
    is_streamed(turn).is_some()
}

/// Whether a stream was asked for; `None` if the request cannot be known.
fn is_streamed(turn: &LlmCall) -> Option<bool> {
    let raw = turn.raw.as_ref()?;
    let is_streamed = match raw["object"].as_str()? {
        "chat.completion" => false,
        "chat.completion.chunk" => true,
        _ => return None,
    };
    // A name of the user's own stands for another model, at a server that the log does not name.
    let rest = raw["model"].as_str()?.strip_prefix(turn.model.as_str())?;
    let is_model = rest.is_empty() || rest.starts_with('-');
    (turn.is_exact && is_model).then_some(is_streamed)
}

/// The request over HTTP and its answer, if the whole request can be known.
pub(super) fn http(turn: &LlmCall) -> Option<(Http, TrafficAnswer)> {
    let raw = turn.raw.as_ref()?;
    let is_streamed = is_streamed(turn)?;
    let mut body = turn.more.clone();
    for (name, value) in &turn.options {
        let is_its_own = ITS_OWN.contains(&name.as_str());
        if name == "json_object" {
            if value.as_bool() == Some(true) {
                body.insert("response_format".to_owned(), json!({"type": "json_object"}));
            }
        } else if !is_its_own {
            body.insert(name.clone(), value.clone());
        }
    }
    if let Some(schema) = &turn.schema {
        let schema = json!({"name": "output", "schema": schema});
        let format = json!({"type": "json_schema", "json_schema": schema});
        body.insert("response_format".to_owned(), format);
    }
    if !turn.tools.is_empty() {
        body.insert("tools".to_owned(), turn.tools.clone().into());
    }
    if is_streamed {
        body.insert("stream".to_owned(), true.into());
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    body.insert("model".to_owned(), turn.model.clone().into());
    body.insert("messages".to_owned(), turn.messages.clone().into());
    let body = Bytes::from(Value::Object(body).to_string());
    let headers = HeaderMap::new();
    let url = URL.to_owned();
    let asked = Http { method: Method::POST, url, headers, body, ..Http::default() };
    let (kind, answer) = match is_streamed {
        true => ("text/event-stream", event_stream(turn, raw)),
        false => ("application/json", raw.to_string()),
    };
    let body = Bytes::from(answer);
    let answer = TrafficAnswer::Http { status: StatusCode::OK, headers: of_type(kind), body };
    Some((asked, answer))
}

fn of_type(kind: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers
}

/// The events of a stream, rebuilt from the whole answer that the log has.
fn event_stream(turn: &LlmCall, raw: &Value) -> String {
    let mut chunk = Map::new();
    for name in ["id", "object", "created", "model", "system_fingerprint", "service_tier"] {
        if let Some(value) = raw.get(name) {
            chunk.insert(name.to_owned(), value.clone());
        }
    }
    let event = |choices: Value, usage: Option<&Value>| {
        let mut chunk = chunk.clone();
        chunk.insert("choices".to_owned(), choices);
        if let Some(usage) = usage {
            chunk.insert("usage".to_owned(), usage.clone());
        }
        format!("data: {}\n\n", Value::Object(chunk))
    };
    let text = (!turn.text.is_empty()).then_some(&turn.text);
    let mut delta = json!({"role": "assistant", "content": text});
    if !turn.calls.is_empty() {
        let calls = turn.calls.iter().enumerate().map(|(at, call)| {
            let mut call = call.clone();
            call.set("index", at.into());
            call
        });
        delta.set("tool_calls", calls.collect());
    }
    let mut out = event(json!([{"index": 0, "delta": delta, "finish_reason": null}]), None);
    let finish = &raw["finish_reason"];
    out += &event(json!([{"index": 0, "delta": {}, "finish_reason": finish}]), None);
    if let Some(usage) = raw.get("usage").filter(|usage| usage["total_tokens"].is_u64()) {
        out += &event(json!([]), Some(usage));
    }
    out + "data: [DONE]\n\n"
}
