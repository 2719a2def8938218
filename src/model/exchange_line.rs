//! One line of an exchanges file: a question, its address and its answer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::answer::{Content, Response, Usage};
use super::exact::EXACT_INTEGERS;
use super::exact::keep_exact;
use super::failure::{Failure, FailureKind};
use super::unreadable::UNREADABLE;
use crate::id::{CallPath, Sample};

/// The parts of a message beside its text that are an answer too, and what we say of them. Everything else
/// is dropped.
pub const KEPT_PARTS: &[&str] = &[
    "refusal",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "reasoning",
    "content_parts",
    UNREADABLE,
    EXACT_INTEGERS,
];

/// Of the [`KEPT_PARTS`] those that no provider sends.
pub const OUR_PARTS: &[&str] = &[UNREADABLE, EXACT_INTEGERS];

/// One line of an exchanges file.
///
/// `{"call":..,"sample":..,"request":{..},"response":{..},"label":..}`; `call`, `sample` and `label`
/// may be left out. A call that finally failed has `"error":{"failure":..,"status":..,"message":..}` in
/// the place of the response, and a made-up answer has `"simulated":true`. A field that is not known is an error, for a misspelt `sample` would give an
/// answer to the wrong question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeLine {
    /// Where in the experiment; left out by programs that cannot name their calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallPath>,
    /// The n-th answer to this call with this request; counted in file order if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// The body that was sent.
    pub request: Value,
    /// What was answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ExchangeResponse>,
    /// Why the call finally failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ExchangeError>,
    /// What the right decision is, for measuring parsers. Does not change the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Value>,
    /// Whether a program made the answer up. Whatever rests on it says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// A call that finally failed, as a line says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeError {
    /// The kind of failure, as the log names it.
    pub failure: FailureKind,
    /// The HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What happened.
    pub message: String,
}

impl From<ExchangeError> for Failure {
    /// A failure that fails the call again, and at once: the attempts have been made.
    fn from(error: ExchangeError) -> Self {
        let ExchangeError { failure: _, status, message } = error;
        Failure { status, ..Failure::new(FailureKind::Rejected, message) }
    }
}

/// An answer as a line says it: `content` or `embedding`, and the fields that are recorded. Other
/// fields are ignored, so that a provider's own answer can be pasted in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ExchangeResponse {
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The vector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<Vec<f32>>,
    /// Why the answer ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// Tokens, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model as the provider reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The [`KEPT_PARTS`] of the message.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Why an [`ExchangeResponse`] is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ExchangeResponseError {
    /// Neither an answer nor a failure.
    #[error("it has neither \"response\" nor \"error\"")]
    Neither,
    /// An answer and a failure in one.
    #[error("it has both \"response\" and \"error\"")]
    Either,
    /// Nothing was answered.
    #[error("\"response\" has neither \"content\" nor \"embedding\"")]
    Empty,
    /// Two answers in one.
    #[error("\"response\" has both \"content\" and \"embedding\"")]
    Both,
    /// No vector.
    #[error("\"embedding\" is empty")]
    EmptyVector,
    /// Not a 32-bit float.
    #[error("component {index} of \"embedding\" is not a finite 32-bit float")]
    NotFinite {
        /// Which one, from 0.
        index: usize,
    },
}

impl ExchangeLine {
    /// What became of the question: an answer, or a call that finally failed.
    ///
    /// # Errors
    /// [`ExchangeResponseError`]: neither, both, or a response that is no answer.
    pub fn outcome(
        response: Option<ExchangeResponse>,
        error: Option<ExchangeError>,
    ) -> Result<Result<Response, ExchangeError>, ExchangeResponseError> {
        match (response, error) {
            (Some(response), None) => Response::try_from(response).map(Ok),
            (None, Some(error)) => Ok(Err(error)),
            (None, None) => Err(ExchangeResponseError::Neither),
            (Some(_), Some(_)) => Err(ExchangeResponseError::Either),
        }
    }
}

impl TryFrom<ExchangeResponse> for Response {
    type Error = ExchangeResponseError;

    fn try_from(line: ExchangeResponse) -> Result<Self, ExchangeResponseError> {
        let ExchangeResponse { content, embedding, finish_reason, usage, model, mut extra } = line;
        extra.retain(|name, value| KEPT_PARTS.contains(&name.as_str()) && !value.is_null());
        keep_exact(&mut extra);
        let content = match (content, embedding) {
            (Some(_), Some(_)) => return Err(ExchangeResponseError::Both),
            (Some(text), None) => Content::Text(text.into()),
            (None, Some(vector)) => Content::Vector(checked(vector)?.into()),
            // A refusal or a tool call comes without a text.
            (None, None) if !extra.is_empty() => Content::Text("".into()),
            (None, None) => return Err(ExchangeResponseError::Empty),
        };
        Ok(Response { content, finish_reason, usage, model, extra })
    }
}

fn checked(vector: Vec<f32>) -> Result<Vec<f32>, ExchangeResponseError> {
    if vector.is_empty() {
        return Err(ExchangeResponseError::EmptyVector);
    }
    match vector.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(ExchangeResponseError::NotFinite { index }),
        None => Ok(vector),
    }
}

impl From<&Response> for ExchangeResponse {
    fn from(response: &Response) -> Self {
        let Response { content, finish_reason, usage, model, extra } = response;
        let (content, embedding) = match content {
            Content::Text(text) => (Some(text.to_string()), None),
            Content::Vector(vector) => (None, Some(vector.to_vec())),
        };
        ExchangeResponse {
            content,
            embedding,
            finish_reason: finish_reason.clone(),
            usage: *usage,
            model: model.clone(),
            extra: extra.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What an export writes is what an import reads.
    #[test]
    fn a_response_is_read_back_as_it_was_written() {
        let mut chat = Response::text("a\n\"b\" \u{1F600}");
        chat.finish_reason = Some("stop".to_owned());
        chat.usage = Some(Usage { prompt_tokens: Some(1), completion_tokens: None });
        chat.model = Some("m".to_owned());
        for part in KEPT_PARTS {
            chat.extra.insert((*part).to_owned(), json!([part]));
        }
        let mut vector = Response::text("");
        vector.content = Content::Vector([0.1, -0.0, f32::MIN_POSITIVE, f32::MAX, 1e-45].into());
        for response in [chat, vector] {
            let written = serde_json::to_string(&ExchangeResponse::from(&response)).unwrap();
            let read: ExchangeResponse = serde_json::from_str(&written).unwrap();
            assert_eq!(Response::try_from(read).unwrap(), response, "{written}");
        }
    }
}
