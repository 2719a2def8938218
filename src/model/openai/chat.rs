//! The answer to a chat request.

use serde_json::{Map, Value};

use super::reply::malformed;
use crate::model::{Content, Failure, KEPT_PARTS, OUR_PARTS, Response, Usage};

/// The answer in a chat completion. Only what [`Response`] lists is kept.
///
/// `message.content` is a text, nothing (a refusal, a tool call), or a list of parts, whose texts are
/// joined; a list with other parts is kept whole beside the text.
pub(super) fn response(body: &Value) -> Result<Response, Failure> {
    let Some(choices) = body["choices"].as_array() else {
        return Err(malformed("it has no \"choices\""));
    };
    let Some(choice) = choices.first() else {
        return Err(malformed("\"choices\" is empty"));
    };
    let Some(message) = choice["message"].as_object() else {
        return Err(malformed("the first choice has no \"message\""));
    };
    let mut extra = kept(message);
    let text = match message.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            if parts.iter().any(|part| !part["text"].is_string()) {
                extra.insert("content_parts".to_owned(), Value::Array(parts.clone()));
            }
            parts.iter().filter_map(|part| part["text"].as_str()).collect()
        }
        Some(_) => return Err(malformed("\"content\" is neither a text nor a list of parts")),
    };
    Ok(Response {
        content: Content::Text(text.into()),
        finish_reason: choice["finish_reason"].as_str().map(str::to_owned),
        usage: usage(body),
        model: model(body),
        extra,
    })
}

fn kept(message: &Map<String, Value>) -> Map<String, Value> {
    let empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    KEPT_PARTS
        .iter()
        // What we say of an answer is not the provider's to say.
        .filter(|name| !OUR_PARTS.contains(name))
        .filter_map(|name| Some(((*name).to_owned(), message.get(*name)?.clone())))
        .filter(|(_, value)| !empty(value))
        .collect()
}

/// The model as the service reports it.
pub(super) fn model(body: &Value) -> Option<String> {
    body["model"].as_str().map(str::to_owned)
}

/// The tokens as the service counts them.
pub(super) fn usage(body: &Value) -> Option<Usage> {
    let count = |field: &str| body["usage"][field].as_u64();
    let usage = Usage {
        prompt_tokens: count("prompt_tokens"),
        completion_tokens: count("completion_tokens"),
    };
    (usage != Usage::default()).then_some(usage)
}
