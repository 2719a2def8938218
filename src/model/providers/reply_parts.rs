//! Parts that the replies and errors of several APIs have in common.

use serde_json::{Map, Value, json};

use super::dialect::{NotRead, Problem};
use crate::members::Members;
use crate::model::{ExchangeResponse, Response};

/// An answer from the fields that a line of an exchanges file has.
pub(super) fn answer_of(fields: Value) -> Result<Response, NotRead> {
    let fields: ExchangeResponse = serde_json::from_value(fields)?;
    Ok(fields.into_answer()?)
}

/// An error as OpenAI and the many APIs like it write it.
pub(super) fn openai_error(problem: &Problem<'_>) -> Value {
    let Problem { status: _, code, message } = problem;
    json!({"error": {"message": message, "type": code, "param": null, "code": code}})
}

/// Appends a text of a stream to the field that it continues.
pub(super) fn append(fields: &mut Map<String, Value>, name: &str, more: &str) {
    match fields.get_mut(name) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            fields.insert(name.to_owned(), more.into());
        }
    }
}

/// A provider's counts of tokens, in the order of our own usage.
#[derive(Default)]
pub(super) struct TokenCounts {
    pub(super) prompt: Option<u64>,
    pub(super) completion: Option<u64>,
    pub(super) cached: Option<u64>,
    pub(super) reasoning: Option<u64>,
    /// Tokens of the request that were written to the cache: kept beside the usage, under Anthropic's name, because they have a
    /// price of their own.
    pub(super) written: Option<u64>,
}

impl TokenCounts {
    pub(super) fn json(&self) -> Value {
        let TokenCounts { prompt, completion, cached, reasoning, written } = self;
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": cached,
            "reasoning_tokens": reasoning, "cache_creation_input_tokens": written})
    }
}

/// A tool call as chat completions have it, whose arguments are the text of a JSON object.
pub(super) fn tool_call(id: &Value, name: &Value, arguments: &Value) -> Value {
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    let mut call = json!({"type": "function", "function": {"name": name, "arguments": arguments}});
    if id.is_string() {
        call.set("id", id.clone());
    }
    call
}

/// The `type` of an event.
pub(super) fn kind_of(data: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct EventType {
        #[serde(rename = "type")]
        kind: String,
    }
    serde_json::from_str::<EventType>(data).ok().map(|event| event.kind)
}
