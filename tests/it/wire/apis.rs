//! A server that speaks the other APIs: responses, embeddings, Anthropic, Gemini, Ollama.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::{Received, Reply, Server};

/// A server that answers the n-th equal request with its n-th answer, and refuses one request in
/// seven.
pub(super) fn server() -> Server {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let mut requests = 0;
    Server::handler(move |received| {
        requests += 1;
        // The SDK for Gemini does not try again.
        if requests % 7 == 0 && !received.target.starts_with("/gemini") {
            return Reply::error(503, "overloaded", "try again").header("retry-after-ms", "1");
        }
        let times = asked.entry(format!("{} {:?}", received.target, received.body)).or_default();
        *times += 1;
        answer(received.target.split('?').next().unwrap(), received, *times)
    })
}

pub(super) fn answer(path: &str, received: &Received, times: usize) -> Reply {
    let body = received.json();
    let text = format!("Answer {times} \u{20ac}");
    match path {
        "/openai/chat/completions" | "/together/v1/chat/completions" => {
            super::upstream::chat(received, times)
        }
        "/openai/responses" => {
            let output = response_output(&body, &text, times);
            let response = json!({"id": format!("resp_{times}"), "object": "response", "created_at": 1, "model": "m",
                "status": "completed", "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
                "output": [output],
                "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7,
                    "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}});
            if body["stream"] != true {
                return Reply::new(200, response.to_string());
            }
            let delta = json!({"type": "response.output_text.delta", "delta": text, "item_id": "msg",
                "output_index": 0, "content_index": 0, "sequence_number": 1, "logprobs": []});
            let done =
                json!({"type": "response.completed", "sequence_number": 2, "response": response});
            events(&[("response.output_text.delta", delta), ("response.completed", done)])
        }
        "/openai/embeddings" => {
            let inputs = body["input"].as_array().map_or(1, Vec::len);
            // The SDK asks for base64: two floats, of which the first counts.
            let vector = |n: usize| {
                let floats = [times as f32, n as f32].map(f32::to_le_bytes).concat();
                json!({"object": "embedding", "index": n, "embedding": data_encoding::BASE64.encode(&floats)})
            };
            let data: Vec<Value> = (0..inputs).map(vector).collect();
            let reply = json!({"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 2, "total_tokens": 2}});
            Reply::new(200, reply.to_string())
        }
        "/anthropic/v1/messages" => {
            let message = |content: Value, tokens: u64| {
                json!({"id": format!("msg_{times}"), "type": "message", "role": "assistant", "model": "m", "content": content,
                    "stop_reason": "end_turn", "stop_sequence": null, "usage": {"input_tokens": 9, "output_tokens": tokens}})
            };
            // After the result of its tool, the model has something to say.
            let last = &body["messages"].as_array().unwrap().last().unwrap()["content"];
            let calls = body["tools"].is_array() && last[0]["type"] != "tool_result";
            if body["stream"] != true {
                let content = match calls {
                    true => {
                        json!([{"type": "tool_use", "id": "t", "name": "weather", "input": {"topic": text}}])
                    }
                    false => json!([{"type": "text", "text": text}]),
                };
                return Reply::new(200, message(content, 4).to_string());
            }
            let start = match calls {
                true => json!({"type": "tool_use", "id": "t", "name": "weather", "input": {}}),
                false => json!({"type": "text", "text": ""}),
            };
            let (first, second) = text.split_at(4);
            let deltas = match calls {
                true => [format!("{{\"topic\": \"{first}"), format!("{second}\"}}")]
                    .map(|json| json!({"type": "input_json_delta", "partial_json": json})),
                false => [first, second].map(|text| json!({"type": "text_delta", "text": text})),
            };
            let block = |kind: &str, field: &str, value: Value| json!({"type": kind, "index": 0, field: value});
            events(&[
                (
                    "message_start",
                    json!({"type": "message_start", "message": message(json!([]), 1)}),
                ),
                ("content_block_start", block("content_block_start", "content_block", start)),
                ("ping", json!({"type": "ping"})),
                ("content_block_delta", block("content_block_delta", "delta", deltas[0].clone())),
                ("content_block_delta", block("content_block_delta", "delta", deltas[1].clone())),
                ("content_block_stop", json!({"type": "content_block_stop", "index": 0})),
                (
                    "message_delta",
                    json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                    "usage": {"output_tokens": 5}}),
                ),
                ("message_stop", json!({"type": "message_stop"})),
            ])
        }
        "/anthropic/v1/messages/count_tokens" => {
            Reply::new(200, json!({"input_tokens": 11}).to_string())
        }
        _ if path.ends_with(":generateContent") => Reply::new(200, gemini(&text, true).to_string()),
        _ if path.ends_with(":streamGenerateContent") => {
            let parts = [gemini("One ", false), gemini(&text, true)];
            let body = parts.iter().map(|part| format!("data: {part}\r\n\r\n")).collect::<String>();
            let end = body.len() / 2;
            Reply::new(200, body)
                .header("content-type", "text/event-stream")
                .chunks(vec![end], Duration::from_millis(1))
        }
        "/ollama/api/chat" => {
            let line = |said: &str, done: bool| json!({"model": "m", "message": {"role": "assistant", "content": said}, "done": done, "eval_count": 2});
            let body =
                format!("{}\n{}\n{}\n", line("One ", false), line(&text, false), line("", true));
            if received.json()["stream"] == false {
                let whole = json!({"model": "m", "message": {"role": "assistant", "content": text}, "done": true});
                return Reply::new(200, whole.to_string());
            }
            Reply::new(200, body).header("content-type", "application/x-ndjson")
        }
        other => panic!("{other}"),
    }
}

/// What a response says: a call of the first tool, until it has a result; then a text.
fn response_output(body: &Value, text: &str, times: usize) -> Value {
    let has_result = |items: &Vec<Value>| items.iter().any(|i| i["type"] == "function_call_output");
    let is_done = body["input"].as_array().is_some_and(has_result);
    if let Some(tool) = body["tools"].get(0).filter(|_| !is_done) {
        return json!({"type": "function_call", "id": format!("fc_{times}"), "call_id": format!("call_{times}"),
            "name": tool["name"], "arguments": json!({"topic": text}).to_string(), "status": "completed"});
    }
    let text = match body["text"]["format"]["type"].as_str() {
        Some("json_schema") => super::upstream::structured(times),
        _ => text.to_owned(),
    };
    json!({"type": "message", "id": "msg", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn gemini(text: &str, last: bool) -> Value {
    let mut reply = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}],
        "modelVersion": "m-1", "responseId": "r"});
    if last {
        reply["candidates"][0]["finishReason"] = "STOP".into();
        reply["usageMetadata"] =
            json!({"promptTokenCount": 5, "candidatesTokenCount": 3, "totalTokenCount": 8});
    }
    reply
}

fn events(all: &[(&str, Value)]) -> Reply {
    let body: String =
        all.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).collect();
    let ends = (1..body.len()).filter(|at| at % 61 == 0).collect();
    Reply::new(200, body)
        .header("content-type", "text/event-stream")
        .chunks(ends, Duration::from_millis(1))
}
