//! A server that speaks OpenAI's API, badly: it answers each repeat differently, fails now and then,
//! and cuts its streams wherever it likes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::server::{Received, Reply, Server};

/// How often it fails.
#[derive(Clone, Copy)]
pub(super) struct Failing {
    /// One in so many requests is refused with 429 or 500; 0 for none.
    pub(super) one_in: usize,
}

/// A server that answers the n-th equal request with its n-th answer.
pub(super) fn server(failing: Failing) -> Server {
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    let mut requests = 0;
    Server::handler(move |received| {
        requests += 1;
        if failing.one_in > 0 && requests % failing.one_in == 0 {
            let status = if requests % (2 * failing.one_in) == 0 { 429 } else { 500 };
            return Reply::error(status, "overloaded", &format!("failure {requests}"))
                .header("retry-after-ms", "1")
                .header("x-request-id", &format!("req_{requests}"))
                .header("set-cookie", "session=secret");
        }
        answer(received, &mut asked)
    })
}

fn answer(received: &Received, asked: &mut BTreeMap<String, usize>) -> Reply {
    let path = received.target.split('?').next().unwrap();
    if path != "/v1/chat/completions" {
        let times = asked.entry(received.target.clone()).or_default();
        *times += 1;
        let said =
            format!("{} {} no. {times}, {} bytes", received.method, path, received.body.len());
        // Not even UTF-8.
        let body = [said.as_bytes(), &[0xff, 0x00]].concat();
        return Reply::new(200, body).header("content-type", "application/octet-stream");
    }
    let body = received.json();
    let prompt = body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    let times = asked.entry(prompt.clone()).or_default();
    *times += 1;
    let text = format!("Answer {times} to {prompt}: \u{e4}\u{20ac}\u{1F600}");
    if body["stream"] != true {
        return match body.get("tools") {
            Some(_) => Reply::new(200, with_tool(*times).to_string()),
            None => Reply::chat(&text),
        };
    }
    let events = stream(&text, *times);
    let cuts = (1..events.len()).filter(|at| at % 23 == *times % 23).collect();
    let reply = Reply::new(200, events.clone()).header("content-type", "text/event-stream");
    if prompt.contains("break off") {
        return reply.cut_chunks(vec![events.len() / 3, events.len() / 2]);
    }
    reply.chunks(cuts, Duration::from_millis(1))
}

fn with_tool(times: usize) -> Value {
    let arguments = format!("{{\"city\":\"Rome\",\"id\":9007199254740993,\"n\":{times}}}");
    json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{
        "index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": null,
        "tool_calls": [{"id": format!("call_{times}"), "type": "function",
            "function": {"name": "weather", "arguments": arguments}}]}}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}})
}

/// A stream of a text, a character or two at a time.
pub(super) fn stream(text: &str, times: usize) -> Vec<u8> {
    let chunk = |delta: Value, reason: Value| {
        let chunk = json!({"id": format!("chatcmpl-{times}"), "object": "chat.completion.chunk", "created": 1,
            "model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]});
        format!("data: {chunk}\n\n")
    };
    let mut events = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
    let letters: Vec<char> = text.chars().collect();
    for letters in letters.chunks(3) {
        events
            .push_str(&chunk(json!({"content": letters.iter().collect::<String>()}), Value::Null));
    }
    events.push_str(&chunk(json!({}), "stop".into()));
    let usage = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [],
        "usage": {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}});
    events.push_str(&format!("data: {usage}\n\ndata: [DONE]\n\n"));
    events.into_bytes()
}
