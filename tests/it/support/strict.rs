//! APIs that refuse what the real ones refuse, and answer studies like the simulated model.

use serde_json::{Value, json};

use super::server::{Received, Reply};
use super::studies::answers;

/// A request as a chat completion, or what the API says of one that it refuses.
pub(crate) type Read = Result<Value, String>;

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

pub(crate) fn openai(body: &Value) -> Read {
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
pub(crate) fn reply(kind: &str, text: &str) -> Value {
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

pub(crate) type Reader = fn(&Value) -> Read;

pub(crate) const KINDS: [(&str, Reader); 4] =
    [("anthropic", anthropic), ("gemini", gemini), ("responses", responses), ("openai", openai)];

/// How the API answers.
pub(crate) fn strict(
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

/// A reasoning model of OpenAI's.
pub(crate) fn reasoning(body: &Value) -> Read {
    if !body["input"].is_null() {
        return Ok(body.clone());
    }
    only(body, &["model", "messages", "max_tokens", "max_completion_tokens", "temperature"])?;
    if !body["max_tokens"].is_null() {
        return Err("Unsupported parameter: 'max_tokens' is not supported with this model. Use \
                    'max_completion_tokens' instead."
            .to_owned());
    }
    match body["temperature"].as_f64() {
        Some(other) if other != 1.0 => Err(format!(
            "Unsupported value: 'temperature' does not support {other} with this model. Only the \
             default (1) value is supported."
        )),
        _ => Ok(body.clone()),
    }
}

/// A model whose template demands that turns alternate, a user's first.
pub(crate) fn alternating(body: &Value) -> Read {
    let body = &openai(body)?;
    if !body["input"].is_null() {
        return Ok(body.clone());
    }
    let roles = body["messages"].as_array().unwrap().iter().map(|message| &message["role"]);
    let roles: Vec<&Value> = roles.collect();
    let turns = if roles[0] == "system" { &roles[1..] } else { &roles[..] };
    let is_due =
        |(at, role): (usize, &&Value)| **role == if at % 2 == 0 { "user" } else { "assistant" };
    if turns.len() % 2 == 0 || !turns.iter().enumerate().all(is_due) {
        return Err(
            "Conversation roles must alternate user/assistant/user/assistant/...".to_owned()
        );
    }
    let mut messages = body["messages"].as_array().unwrap().clone();
    let system = match messages[0]["role"] == "system" {
        true => messages.remove(0)["content"].as_str().map(str::to_owned),
        false => None,
    };
    // A list of texts is one text.
    for message in &mut messages {
        if message["content"].is_array() {
            message["content"] = texts(&message["content"])?.into();
        }
    }
    Ok(chat(body, system, messages))
}
