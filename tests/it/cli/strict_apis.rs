//! Every study with every kind of model: each API is played by a server that refuses what the real
//! one refuses.

use serde_json::{Value, json};

use crate::support::cli::Place;
use crate::support::server::{Received, Reply, Server};
use crate::support::studies::{STUDIES, answers};

/// A request as a chat completion, or what the API says of one that it refuses.
pub(super) type Read = Result<Value, String>;

fn is_text(text: &Value) -> bool {
    text.as_str().is_some_and(|text| !text.trim().is_empty())
}

/// The texts of blocks, none of which may be empty.
fn texts(blocks: &Value) -> Result<String, String> {
    let blocks = blocks.as_array().filter(|blocks| !blocks.is_empty());
    let blocks = blocks.ok_or("content must not be empty")?;
    let all_filled = blocks.iter().all(|block| is_text(&block["text"]));
    if !all_filled {
        return Err("text content blocks must be non-empty".to_owned());
    }
    Ok(blocks.iter().map(|block| block["text"].as_str().unwrap()).collect())
}

/// Messages of alternating roles; `theirs` is the word for the model's.
fn turns(messages: &Value, content: &str, theirs: &str) -> Result<Vec<Value>, String> {
    let messages = messages.as_array().filter(|messages| !messages.is_empty());
    let messages = messages.ok_or("at least one message is required")?;
    let mut read = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let due = if at % 2 == 0 { "user" } else { theirs };
        if message["role"] != due {
            return Err(format!("message {at} is of {}, not of {due}", message["role"]));
        }
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        read.push(json!({"role": role, "content": texts(&message[content])?}));
    }
    Ok(read)
}

/// With the instructions at the beginning: the simulated people look for them there.
fn chat(body: &Value, system: Option<String>, mut messages: Vec<Value>) -> Value {
    match system {
        Some(system) => messages.insert(0, json!({"role": "system", "content": system})),
        None => {
            let first = messages[0]["content"].as_str().unwrap();
            if first.starts_with("You are a moderator") || first.starts_with("You are a neutral") {
                messages[0]["role"] = "system".into();
            }
        }
    }
    // Gemini has the name of the model in the path.
    json!({"model": body["model"].as_str().unwrap_or("any"), "messages": messages})
}

fn only(body: &Value, known: &[&str]) -> Result<(), String> {
    let unknown = body.as_object().unwrap().keys().find(|key| !known.contains(&key.as_str()));
    unknown.map_or(Ok(()), |key| Err(format!("{key}: extra inputs are not permitted")))
}

fn anthropic(body: &Value) -> Read {
    only(body, &["model", "messages", "system", "max_tokens", "temperature", "top_p"])?;
    if body["max_tokens"].as_u64().is_none_or(|n| n == 0) {
        return Err("max_tokens: field required".to_owned());
    }
    if body["temperature"].as_f64().is_some_and(|t| !(0.0..=1.0).contains(&t)) {
        return Err("temperature: range: 0..1".to_owned());
    }
    let messages = turns(&body["messages"], "content", "assistant")?;
    if messages.len() % 2 == 0 {
        return Err("the final message must be the user's".to_owned());
    }
    let system = (!body["system"].is_null()).then(|| texts(&body["system"])).transpose()?;
    Ok(chat(body, system, messages))
}

fn gemini(body: &Value) -> Read {
    only(body, &["contents", "systemInstruction", "generationConfig"])?;
    let messages = turns(&body["contents"], "parts", "model")?;
    if messages.len() % 2 == 0 {
        return Err("please ensure that multiturn requests end with a user turn".to_owned());
    }
    let system = &body["systemInstruction"];
    let system = (!system.is_null()).then(|| texts(&system["parts"])).transpose()?;
    Ok(chat(body, system, messages))
}

fn responses(body: &Value) -> Read {
    only(body, &["model", "input", "max_output_tokens", "temperature", "top_p"])?;
    let input = body["input"].as_array().filter(|input| !input.is_empty());
    let input = input.ok_or("one of \"input\" or \"prompt\" must be provided")?;
    let mut messages = Vec::new();
    for item in input {
        let due = if item["role"] == "assistant" { "output_text" } else { "input_text" };
        let parts = item["content"].as_array().unwrap();
        if parts.iter().any(|part| part["type"] != due) {
            return Err(format!("invalid value: supported values are {due}"));
        }
        messages.push(json!({"role": item["role"], "content": texts(&item["content"])?}));
    }
    Ok(json!({"model": body["model"], "messages": messages}))
}

fn openai(body: &Value) -> Read {
    if !body["input"].is_null() {
        return Ok(body.clone());
    }
    only(body, &["model", "messages", "max_tokens", "temperature", "top_p"])?;
    if body["messages"].as_array().is_none_or(Vec::is_empty) {
        return Err("[] is too short - 'messages'".to_owned());
    }
    Ok(body.clone())
}

/// The text of an answer, as the API sends it.
fn reply(kind: &str, text: &str) -> Value {
    match kind {
        "anthropic" => {
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 5, "output_tokens": 7}})
        }
        "gemini" => {
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
            "modelVersion": "m", "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7}})
        }
        _ => {
            json!({"id": "resp_1", "object": "response", "model": "m", "status": "completed",
            "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}],
            "usage": {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}})
        }
    }
}

pub(super) type Reader = fn(&Value) -> Read;

pub(super) const KINDS: [(&str, Reader); 4] =
    [("anthropic", anthropic), ("gemini", gemini), ("responses", responses), ("openai", openai)];

/// An API for a study. It refuses with a status that is not tried again.
fn server(kind: &'static str, read: Reader, experiment: &str) -> Server {
    Server::handler(strict(kind, read, experiment))
}

/// How the API answers.
pub(super) fn strict(
    kind: &'static str,
    read: Reader,
    experiment: &str,
) -> impl Fn(&Received) -> Reply + Send + 'static {
    let answers = answers(experiment);
    move |received: &Received| {
        let body = match read(&received.json()) {
            Ok(body) => body,
            Err(why) => return Reply::error(400, "invalid_request_error", &why),
        };
        let as_chat = Received { body: body.to_string().into_bytes(), ..received.clone() };
        if kind == "openai" {
            return answers(&as_chat);
        }
        Reply::new(200, reply(kind, &answers(&as_chat).text()).to_string())
    }
}

fn command(study: &str, kind: &str, server: &Server) -> String {
    let small = STUDIES.iter().find(|small| small.name == study).unwrap();
    let url = match kind {
        "openai" => server.base_url(),
        _ => format!("http://{}", server.address()),
    };
    format!("{} --model {kind} --base-url {url}", small.run())
}

#[test]
fn every_study_asks_every_api_what_it_accepts() {
    for study in STUDIES.iter().map(|small| small.name) {
        let vectors = Server::handler(answers(study));
        for (kind, read) in KINDS {
            let (place, server) = (Place::new(), server(kind, read, study));
            let mut args = command(study, kind, &server);
            let embeds = matches!(study, "deliberation" | "public_goods");
            if embeds && kind != "openai" {
                let at = vectors.base_url();
                args.push_str(&format!(" --endpoint text-embedding-3-small={at}"));
            }
            let (whole, code) = place.json(&args);
            assert_eq!((code, &whole["failed_calls"]), (0, &0.into()), "{study} {kind}: {whole}");
            if study == "deliberation" {
                let rows = whole["report"]["by_condition"].as_object().unwrap();
                assert!(rows.values().all(|row| row["completed"] == 1), "{kind}: {whole}");
            }
            place.ok("replay latest");
        }
    }
}

/// What an API cannot do is found before anything is asked.
#[test]
fn what_cannot_be_asked_is_refused_before_the_first_call() {
    for (study, kind, more, what) in [
        ("deliberation", "anthropic", "", "\"text-embedding-3-small\" cannot be asked"),
        ("deliberation", "gemini", "", "it has no embeddings"),
        ("deliberation", "responses", "", "give that model an endpoint of its own"),
        (
            "public_goods",
            "gemini",
            "--set reasoning.embedding_model=vectors-1",
            "\"vectors-1\" cannot be asked",
        ),
        ("game24", "anthropic", "--set request.extra.seed=3", "no counterpart of \"seed\""),
        ("society", "responses", "--set request.extra.seed=3", "no counterpart of \"seed\""),
        ("adventure", "anthropic", "--set request.temperature=1.5", "this API allows 0 to 1"),
    ] {
        let (place, server) = (Place::new(), Server::handler(|_| Reply::new(500, "")));
        let said = place.run(&format!("{} {more}", command(study, kind, &server)));
        assert_eq!(said.code, 2, "{study} {kind}: {}{}", said.out, said.err);
        assert!(said.err.contains(what), "{study} {kind}: {}", said.err);
        assert!(said.err.contains("nothing was asked"), "{}", said.err);
        assert_eq!(server.received().len(), 0);
        assert!(!place.path("retold.db").exists());
    }
}
