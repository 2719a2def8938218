//! A server that speaks OpenAI's APIs, badly: it answers each repeat differently, fails now and then,
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
        // Less than a millisecond would count as a latency that was not recorded.
        std::thread::sleep(Duration::from_millis(2));
        if failing.one_in > 0 && requests % failing.one_in == 0 {
            let status = if requests % (2 * failing.one_in) == 0 { 429 } else { 500 };
            // OpenAI's own header and the standard one.
            let after = [("retry-after-ms", "1"), ("retry-after", "0.01")];
            let (name, value) = after[requests / failing.one_in % 2];
            return Reply::error(status, "overloaded", &format!("failure {requests}"))
                .header(name, value)
                .header("x-request-id", &format!("req_{requests}"))
                .header("set-cookie", "session=secret");
        }
        answer(received, &mut asked)
    })
}

fn answer(received: &Received, asked: &mut BTreeMap<String, usize>) -> Reply {
    let path = received.target.split('?').next().unwrap();
    if let "/v1/responses" | "/v1/embeddings" = path {
        let times = asked.entry(format!("{path} {:?}", received.body)).or_default();
        *times += 1;
        return super::apis::answer(&path.replace("/v1", "/openai"), received, *times);
    }
    if path == "/model/m/converse" {
        let times = asked.entry(path.to_owned()).or_default();
        *times += 1;
        return converse(*times);
    }
    if path != "/v1/chat/completions" {
        let times = asked.entry(received.target.clone()).or_default();
        *times += 1;
        let said =
            format!("{} {} no. {times}, {} bytes", received.method, path, received.body.len());
        // Not even UTF-8.
        let body = [said.as_bytes(), &[0xff, 0x00]].concat();
        return Reply::new(200, body).header("content-type", "application/octet-stream");
    }
    let times = asked.entry(last(&received.json())["content"].to_string()).or_default();
    *times += 1;
    chat(received, *times)
}

fn last(body: &Value) -> &Value {
    body["messages"].as_array().unwrap().last().unwrap()
}

/// The n-th answer of a chat to a last message.
pub(super) fn chat(received: &Received, times: usize) -> Reply {
    let body = received.json();
    let prompt = last(&body)["content"].to_string();
    let text = match body["response_format"]["type"].as_str() {
        Some("json_schema") => structured(times),
        _ => format!("Answer {times} to {prompt}: \u{e4}\u{20ac}\u{1F600}"),
    };
    if body["stream"] != true {
        // After the results of its tools, the model has something to say.
        let is_result = last(&body)["role"] == "tool";
        return match body["tools"].as_array() {
            Some(tools) if !is_result => Reply::new(200, with_tools(tools, times).to_string()),
            _ => Reply::chat(&text),
        };
    }
    let events = stream(&text, times);
    let cuts = (1..events.len()).filter(|at| at % 23 == times % 23).collect();
    let reply = Reply::new(200, events.clone()).header("content-type", "text/event-stream");
    if prompt.contains("break off") {
        return reply.cut_chunks(vec![events.len() / 3, events.len() / 2]);
    }
    reply.chunks(cuts, Duration::from_millis(1))
}

/// An answer of Bedrock's.
fn converse(times: usize) -> Reply {
    let message = json!({"role": "assistant", "content": [{"text": format!("Answer {times}")}]});
    let usage = json!({"inputTokens": 3, "outputTokens": 4, "totalTokens": 7});
    let answer = json!({"output": {"message": message}, "stopReason": "end_turn", "usage": usage,
        "metrics": {"latencyMs": 2}});
    Reply::new(200, answer.to_string())
}

/// An answer that fits the one schema that the programs of these tests have.
pub(super) fn structured(times: usize) -> String {
    json!({"answer": format!("Answer {times}"), "number": times}).to_string()
}

/// Calls each tool that is offered.
fn with_tools(tools: &[Value], times: usize) -> Value {
    // An integer that a double cannot hold.
    let arguments = format!("{{\"topic\":\"topic {times}\",\"id\":9007199254740993}}");
    let call = |(at, tool): (usize, &Value)| {
        let name = tool["function"]["name"].as_str().unwrap_or("weather");
        json!({"id": format!("call_{times}_{at}"), "type": "function",
            "function": {"name": name, "arguments": arguments}})
    };
    let calls: Vec<Value> = tools.iter().enumerate().map(call).collect();
    json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{
        "index": 0, "finish_reason": "tool_calls",
        "message": {"role": "assistant", "content": null, "tool_calls": calls}}],
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
