//! The answer to a chat request.

use serde_json::{Map, Value, json};

use crate::model::parts::{
    CHOICE, COMPLETION, CONTENT_PARTS, LOGPROBS, OTHER_CHOICES, USAGE, add_rest, is_nothing,
    keep_readable, leave_out, of_message, rest, take_text,
};
use crate::model::{Failure, FailureKind, Response, usage};

/// Why a reply is not a chat completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotACompletion {
    /// No answer.
    #[error("it has no \"choices\"")]
    NoChoices,
    /// No answer.
    #[error("\"choices\" is empty")]
    EmptyChoices,
    /// For example, a reply of the legacy API.
    #[error("the first choice has no \"message\"")]
    NoMessage,
    /// A content of unknown shape.
    #[error("\"content\" is neither a text nor a list of parts")]
    Content,
}

impl From<NotACompletion> for Failure {
    fn from(error: NotACompletion) -> Self {
        malformed(error)
    }
}

/// The answer in a chat completion, with all its other parts; see [`Response`].
pub(in crate::model) fn response(body: &Value) -> Result<Response, NotACompletion> {
    let choices = body["choices"].as_array().ok_or(NotACompletion::NoChoices)?;
    let (choice, others) = choices.split_first().ok_or(NotACompletion::EmptyChoices)?;
    let message = choice["message"].as_object().ok_or(NotACompletion::NoMessage)?;
    let mut extra = of_message(message);
    let text = text(message.get("content"), &mut extra)?;
    let choice = choice.as_object().map(|choice| rest(choice, &["message"]));
    let mut choice = choice.unwrap_or_default();
    leave_out(&mut choice, "index", &0.into());
    let finish_reason = take_text(&mut choice, "finish_reason");
    if let Some(logprobs) = choice.remove(LOGPROBS) {
        extra.insert(LOGPROBS.to_owned(), logprobs);
    }
    add_rest(&mut extra, CHOICE, choice);
    if !others.is_empty() {
        extra.insert(OTHER_CHOICES.to_owned(), others.into());
    }
    let mut response = Response { finish_reason, extra, ..Response::text(text) };
    add_whole(&mut response, body, "choices", "chat.completion");
    Ok(response)
}

/// Adds the fields of the whole reply, except the list of its answers and its usual `object`.
pub(super) fn add_whole(
    response: &mut Response,
    body: &Value,
    answers: &str,
    object: &'static str,
) {
    let mut left = body.as_object().map(|body| rest(body, &[answers])).unwrap_or_default();
    leave_out(&mut left, "object", &object.into());
    response.id = take_text(&mut left, "id");
    response.model = take_text(&mut left, "model");
    response.system_fingerprint = take_text(&mut left, "system_fingerprint");
    response.service_tier = take_text(&mut left, "service_tier");
    let (usage, more) = left.remove(USAGE).map_or((None, None), usage::read);
    response.usage = usage;
    if let Some(more) = more {
        response.extra.insert(USAGE.to_owned(), more);
    }
    add_rest(&mut response.extra, COMPLETION, left);
    keep_readable(&mut response.extra);
}

/// The text of a content: a text, nothing (a refusal, a tool call), or a list of texts and parts,
/// whose texts are joined. A list that has other parts than texts is also kept, with the position
/// of each text instead of the text.
pub(in crate::model) fn text(
    content: Option<&Value>,
    extra: &mut Map<String, Value>,
) -> Result<String, NotACompletion> {
    let parts = match content {
        None | Some(Value::Null) => return Ok(String::new()),
        Some(Value::String(text)) => return Ok(text.clone()),
        Some(Value::Array(parts)) => parts,
        Some(_) => return Err(NotACompletion::Content),
    };
    let mut text = String::new();
    let mut kept = parts.clone();
    let mut place_of = |said: &str| -> Value {
        let start = text.len();
        text.push_str(said);
        vec![start, text.len()].into()
    };
    for part in &mut kept {
        match part {
            Value::String(said) => *part = json!({ TEXT_AT: place_of(said) }),
            Value::Object(part) if !part.contains_key(TEXT_AT) => {
                if let Some(said) = take_text(part, "text") {
                    part.insert(TEXT_AT.to_owned(), place_of(&said));
                }
            }
            _ => {}
        }
    }
    if !kept.iter().all(is_plain) {
        extra.insert(CONTENT_PARTS.to_owned(), kept.into());
    }
    Ok(text)
}

/// What replaces the text of a part: its first byte in the joined text, and the one after its last.
const TEXT_AT: &str = "text_at";

/// Whether a part is only a text.
fn is_plain(part: &Value) -> bool {
    let is_known = |(name, value): (&String, &Value)| match name.as_str() {
        TEXT_AT => true,
        "type" => value == "text",
        _ => is_nothing(value),
    };
    part[TEXT_AT].is_array() && part.as_object().is_some_and(|part| part.iter().all(is_known))
}

/// A success response that does not have the expected shape.
pub(super) fn malformed(what: impl std::fmt::Display) -> Failure {
    Failure {
        kind: FailureKind::Malformed,
        status: Some(200),
        message: format!("the answer is not as expected: {what}"),
        retry_after: None,
    }
}
