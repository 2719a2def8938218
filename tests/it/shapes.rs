//! Every reader is given every shape of JSON in every place: replies and requests in which each value in turn is of another
//! kind, and streams that lack events, repeat them or have them in another order. Panics are found here, before `try_read` hides
//! them.

use retold::model::answer_in;
use retold::model::providers::{
    Conversation, DIALECTS, Dialect, NotRead, OTHER, asked_by, at, conversation_of, studies,
    try_read,
};
use retold::prompt::Request;
use serde_json::{Map, Value, json};

/// One value of each kind, and lists and objects of them.
fn shapes() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("x\u{e4}\u{1f600}"),
        json!([]),
        json!([1]),
        json!([[], null]),
        json!({}),
        json!({"a": 1}),
        json!([{"a": 1}]),
        json!([{"type": "text", "text": ["x"]}, {"type": 1, "index": -1}]),
    ]
}

/// The places of all values in a value, as JSON pointers.
fn places(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                places(item, format!("{place}/{at}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                places(
                    item,
                    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1")),
                    found,
                );
            }
        }
        _ => {}
    }
    found.push(place);
}

/// The value with each of its parts in turn of every other shape.
fn reshaped(value: &Value) -> impl Iterator<Item = Value> {
    let mut found = Vec::new();
    places(value, String::new(), &mut found);
    let value = value.clone();
    found.into_iter().flat_map(move |place| {
        let value = value.clone();
        shapes().into_iter().map(move |shape| {
            let mut other = value.clone();
            *other.pointer_mut(&place).unwrap() = shape;
            other
        })
    })
}

/// Reads what must not stop a reader.
fn read<T>(dialect: &dyn Dialect, what: &dyn Fn() -> String, read: impl FnOnce() -> T) -> T {
    try_read(dialect.name(), read).unwrap_or_else(|fault| panic!("{fault}: {}", what()))
}

fn check_reply(dialect: &dyn Dialect, reply: &Value) {
    let what = || reply.to_string();
    for has_end in [true, false] {
        drop(read(dialect, &what, || dialect.ending(reply, has_end)));
    }
    if let Some(fields) = reply.as_object() {
        read(dialect, &what, || dialect.reply_name(fields, fields.get("content")));
    }
    // Through the same door as everything that is read; a fault in it is an error.
    if let Err(error) = answer_in(reply.clone(), dialect) {
        assert!(!matches!(error, NotRead::Fault(_)), "{error}: {reply}");
    }
}

fn check_stream(dialect: &dyn Dialect, events: &[Value]) {
    let what = || json!(events).to_string();
    let reply = read(dialect, &what, || dialect.assemble(events));
    check_reply(dialect, &reply);
}

fn check_request(dialect: &'static dyn Dialect, path: &str, body: &Map<String, Value>) {
    let what = || json!(body).to_string();
    let is_streamed = read(dialect, &what, || dialect.is_streamed(path, body));
    let Some((api, mut stored)) = read(dialect, &what, || dialect.prompt(body.clone())) else {
        return;
    };
    drop(read(dialect, &what, || dialect.body(stored.clone(), path, is_streamed)));
    let mut with_ids = Value::Object(stored.clone());
    read(dialect, &what, || dialect.invented_ids(&mut with_ids, &mut |id| id.push('x')));
    // What a log has, which is read again whenever it is shown.
    stored.insert("http".to_owned(), json!({"dialect": dialect.name(), "path": path}));
    if let Ok(request) = Request::of_program(api, stored.clone()) {
        drop(conversation_of(&request));
    }
    if let Some(Value::Array(messages)) = stored.get("messages") {
        let mut chat = Conversation::default();
        read(dialect, &what, || dialect.converse(&stored, messages, &mut chat));
    }
}

/// A reply and a stream of each API, with all that it can say.
fn apis() -> Vec<(&'static dyn Dialect, Value)> {
    let folder = concat!(env!("RETOLD_ROOT"), "/fixtures/apis");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let api: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        (at(api["path"].as_str().unwrap()), api)
    };
    files.iter().map(read).collect()
}

#[test]
fn a_reply_of_any_shape_stops_no_reader() {
    for (dialect, api) in apis() {
        for name in ["whole", "error", "error_event"] {
            for reply in reshaped(&api[name]) {
                check_reply(dialect, &reply);
            }
        }
    }
    for dialect in DIALECTS {
        for shape in shapes() {
            check_reply(*dialect, &shape);
            for name in ["choices", "content", "candidates", "output", "message", "error", "data"] {
                check_reply(*dialect, &json!({ name: shape }));
                check_reply(*dialect, &json!([{ name: shape }]));
            }
        }
        for body in [&b""[..], b"{", b"[", b"x", b"\xff\0", b" {\"a\":1}", b"null", b"\"a\""] {
            let what = || String::from_utf8_lossy(body).into_owned();
            if let Some(reply) = read(*dialect, &what, || dialect.of_bytes(body)) {
                check_reply(*dialect, &reply);
            }
        }
    }
}

#[test]
fn a_stream_of_any_shape_stops_no_reader() {
    for (dialect, api) in apis() {
        let Some(events) = api["events"].as_array() else { continue };
        for at in 0..events.len() {
            for event in reshaped(&events[at]) {
                let data = event.to_string();
                read(dialect, &|| data.clone(), || dialect.is_last(&data));
                let mut stream = events.clone();
                stream[at] = event;
                check_stream(dialect, &stream);
            }
            let (mut without, mut again) = (events.clone(), events.clone());
            without.remove(at);
            again.insert(at, events[at].clone());
            for stream in [&events[..at], &events[at..], &without, &again] {
                check_stream(dialect, stream);
            }
        }
        check_stream(dialect, &events.iter().rev().cloned().collect::<Vec<_>>());
    }
    for dialect in DIALECTS {
        for (one, other) in shapes().into_iter().zip(shapes().into_iter().rev()) {
            check_stream(*dialect, std::slice::from_ref(&one));
            check_stream(*dialect, &[one, other]);
        }
    }
}

/// Bodies with all that readers of requests look at.
fn requests() -> Vec<(&'static str, Value)> {
    let chat = json!({"model": "m", "n": 1, "stream": true, "messages": [
        {"role": "system", "content": "s"},
        {"role": "user", "name": "n", "content": [{"type": "text", "text": "t"},
            {"type": "image_url", "image_url": {"url": "data:,x"}}]},
        {"role": "assistant", "content": null, "tool_plan": "p",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{\"x\":1}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "r"}],
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]});
    let anthropic = json!({"model": "m", "max_tokens": 1, "system": [{"type": "text", "text": "s"}], "messages": [
        {"role": "user", "content": "t"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "h"}, {"type": "text", "text": "t"},
            {"type": "tool_use", "id": "c", "name": "f", "input": {"x": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "r"}]},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}]}],
        "tools": [{"name": "f", "description": "d", "input_schema": {}}]});
    let gemini = json!({"systemInstruction": {"parts": [{"text": "s"}]}, "contents": [
        {"role": "user", "parts": [{"text": "t"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"x": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "f", "response": {"r": 1}}}]}],
        "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": {}}]}]});
    let responses = json!({"model": "m", "instructions": "i", "previous_response_id": "r", "prompt_cache_key": "k",
        "client_metadata": {"session_id": "s"}, "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "t"}, {"type": "input_image", "image_url": "u"}]},
        {"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "r"}],
        "tools": [{"type": "function", "name": "f", "description": "d", "parameters": {}}]});
    let converse = json!({"system": [{"text": "s"}], "messages": [
        {"role": "user", "content": [{"text": "t"}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"json": {"r": 1}}]}}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": {}}}}]}});
    let cohere_v1 = json!({"model": "m", "message": "t", "preamble": "p",
        "chat_history": [{"role": "USER", "message": "h"}, {"role": "CHATBOT", "tool_calls": [{"name": "f", "parameters": {}}]},
            {"role": "TOOL", "tool_results": [{"call": {"name": "f", "parameters": {}}, "outputs": [{"r": 1}]}]}],
        "tools": [{"name": "f", "description": "d", "parameter_definitions": {"x": {"type": "int", "description": "d", "required": true}}}]});
    let ollama = json!({"model": "m", "system": "s", "prompt": "t", "images": ["AA=="], "messages": [
        {"role": "user", "content": "t", "images": ["AA=="]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"x": 1}}}]},
        {"role": "tool", "tool_name": "f", "content": "r"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]});
    vec![
        ("/chat/completions", chat.clone()),
        (
            "/completions",
            json!({"model": "m", "prompt": ["t", [1]], "suffix": "s", "stream": true}),
        ),
        ("/embeddings", json!({"model": "m", "input": ["t", [1]], "encoding_format": "base64"})),
        ("/v1/messages", anthropic.clone()),
        ("/models/m:generateContent", gemini.clone()),
        ("/models/m:streamGenerateContent", gemini),
        ("/models/m:embedContent", json!({"content": {"parts": [{"text": "t"}]}, "taskType": "x"})),
        (
            "/models/m:batchEmbedContents",
            json!({"requests": [{"model": "m", "content": {"parts": [{"text": "t"}]}}]}),
        ),
        ("/api/chat", ollama.clone()),
        ("/api/generate", ollama),
        ("/api/embed", json!({"model": "m", "input": ["t"]})),
        ("/responses", responses),
        ("/images/generations", json!({"model": "m", "prompt": "t", "n": 1, "stream": true})),
        (
            "/audio/speech",
            json!({"model": "m", "input": "t", "voice": "v", "stream_format": "sse"}),
        ),
        ("/v2/chat", chat),
        ("/v1/chat", cohere_v1),
        (
            "/v2/embed",
            json!({"model": "m", "texts": ["t"], "inputs": [{"content": [{"type": "text"}]}], "images": ["u"]}),
        ),
        ("/v1/rerank", json!({"model": "m", "query": "q", "documents": ["d", {"text": "d"}]})),
        ("/model/m%3A0/converse", converse),
        ("/model/m%3A0/invoke", anthropic),
        (
            "/model/m%3A0/invoke",
            json!({"inputText": "t", "inputs": "t", "prompt": "t", "texts": ["t"],
            "textGenerationConfig": {"maxTokenCount": 1}, "messages": [{"role": "user", "content": [{"text": "t"}]}]}),
        ),
    ]
}

#[test]
fn a_request_of_any_shape_stops_no_reader() {
    for (path, body) in requests() {
        let known = at(path);
        assert!(known.name() != OTHER.name() || path == "/api/embed", "{path}");
        for body in reshaped(&body) {
            if let Value::Object(body) = &body {
                check_request(known, path, body);
            }
        }
    }
    for dialect in DIALECTS {
        for path in dialect.paths() {
            for shape in shapes() {
                for name in [
                    "messages", "input", "prompt", "contents", "content", "message", "query",
                    "stream",
                ] {
                    let body = json!({ name: shape, "model": shape });
                    check_request(*dialect, path, body.as_object().unwrap());
                }
            }
        }
    }
}

/// A study's request may have what somebody wrote into a config.
#[test]
fn a_chat_of_any_shape_stops_no_translation() {
    let (_, chat) = requests().swap_remove(0);
    for study in studies() {
        let Some(translation) = study.translation else { continue };
        let dialect = asked_by(study);
        for chat in reshaped(&chat) {
            if let Value::Object(fields) = &chat {
                drop(read(dialect, &|| chat.to_string(), || translation(fields)));
            }
        }
    }
}
