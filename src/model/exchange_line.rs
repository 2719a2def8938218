//! One line of an exchanges file: a request, its address and its answer.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::answer::Response;
use super::exchange_response::{ExchangeResponse, ExchangeResponseError};
use super::failure::{Failure, FailureKind};
use super::parts::VECTORS;
use super::providers::{Dialect, NotRead, ReplyOf, try_read};
use crate::id::{CallPath, Sample};
use crate::unique::Unique;

/// One line of an exchanges file.
///
/// `{"call":..,"sample":..,"request":{..},"response":{..},"label":..}`; `call`, `sample` and
/// `label` may be left out. A call that ran out of retries has
/// `"error":{"failure":..,"status":..,"message":..}` instead of the response, and a made-up answer
/// has `"simulated":true`. Unknown fields are errors, because a misspelt `sample` would give an
/// answer to the wrong question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeLine {
    /// Where in the experiment the request was made. Programs that cannot name their calls leave it
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallPath>,
    /// Which answer to this call and request this is; counted in file order if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// The body that was sent. A key that is given twice is an error, because a server may have read
    /// either value.
    #[serde(deserialize_with = "unique")]
    pub request: Value,
    /// The answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<ExchangeResponse>,
    /// Why the call finally failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ExchangeError>,
    /// The labels of the call: an object, such as `{"participant": "p1", "gold": "yes"}`, or the right decision alone. It does not
    /// affect the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Value>,
    /// Whether a program made the answer up. Everything that depends on such an answer is marked as
    /// simulated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// A call that ran out of retries, as a line has it.
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
    /// Becomes a failure that is not retried: the attempts have been made.
    fn from(error: ExchangeError) -> Self {
        let ExchangeError { failure: _, status, message } = error;
        Failure { status, ..Failure::new(FailureKind::Rejected, message) }
    }
}

fn unique<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Unique::deserialize(deserializer).map(|Unique(value)| value)
}

impl ExchangeLine {
    /// The outcome of the request: an answer, or a call that ran out of retries.
    ///
    /// # Errors
    /// [`ExchangeResponseError`] if there is neither or both, or the response is not an answer.
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
        match ReplyOf::with_content(&line.extra, line.content.as_ref()) {
            Some(reply) if reply.dialect.is_pasted() => match read_by(reply.dialect, json!(line)) {
                // A call of a study has one vector.
                Ok(response) => match response.extra.get(VECTORS).and_then(Value::as_u64) {
                    Some(found) => Err(several(found)),
                    None => Ok(response),
                },
                Err(NotRead::NoAnswer(error)) => Err(error),
                Err(NotRead::Several(found)) => Err(several(found as u64)),
                Err(
                    NotRead::OtherForm(_)
                    | NotRead::Missing(_)
                    | NotRead::Shape(_)
                    | NotRead::Fault(_)
                    | NotRead::Undescribed,
                ) => line.into_answer(),
            },
            Some(reply) if line.content.is_none() && line.embedding.is_none() => {
                Err(ExchangeResponseError::Dialect(reply.api))
            }
            _ => line.into_answer(),
        }
    }
}

/// A pasted reply has several vectors.
fn several(found: u64) -> ExchangeResponseError {
    let failure = Failure::mismatch(format_args!("asked for 1 vectors, it has {found}"));
    ExchangeResponseError::PastedVector(failure.message)
}

/// The answer in a reply of an API. A server may also reply in the form of another API, or in that of a line of an
/// exchanges file.
///
/// # Errors
/// [`NotRead`] if there is none.
pub fn answer_in(reply: Value, dialect: &dyn Dialect) -> Result<Response, NotRead> {
    match read_by(dialect, reply) {
        Err(NotRead::OtherForm(reply)) if !reply.is_object() => {
            Err(NotRead::Missing("fields, because it is no JSON object"))
        }
        Err(NotRead::OtherForm(reply)) => {
            let line: ExchangeResponse = serde_json::from_value(reply)?;
            Ok(Response::try_from(line)?)
        }
        read => read,
    }
}

/// The answer in a reply, in the form of this API alone.
fn read_by(dialect: &dyn Dialect, reply: Value) -> Result<Response, NotRead> {
    try_read(dialect.name(), || dialect.answer(reply))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: Value) -> Result<Response, ExchangeResponseError> {
        let line: ExchangeResponse = serde_json::from_value(reply).unwrap();
        Response::try_from(line)
    }

    #[test]
    fn other_apis_are_named() {
        let replies = [
            json!({"id": "resp_1", "object": "response", "output": [{"type": "message"}],
                "reasoning": {"effort": null}}),
            json!({"output": [{"type": "message"}]}),
            json!({"candidates": [{"content": {"parts": [{"text": "x"}]}}]}),
            json!({"model": "m", "message": {"role": "assistant", "content": "x"}, "done": true}),
            json!({"model": "m", "response": "x", "thinking": "t", "done": true}),
            json!({"output": {"message": {"content": [{"text": "x"}]}}, "stopReason": "end_turn"}),
            json!({"message": {"role": "assistant", "content": [{"text": "x"}]}, "finish_reason": "COMPLETE"}),
        ];
        let apis = [
            "OpenAI's Responses API",
            "OpenAI's Responses API",
            "the Gemini API",
            "Ollama's own API",
            "Ollama's own API",
            "the Converse API of Bedrock",
            "Cohere's Chat API",
        ];
        for (reply, api) in replies.into_iter().zip(apis) {
            let error = read(reply).unwrap_err().to_string();
            assert!(error.starts_with(&format!("\"response\" is a reply of {api}, ")), "{error}");
        }
        // What only looks like one is an answer.
        for answer in [
            json!({"content": "x", "output": [1], "done": true}),
            json!({"tool_calls": [{"id": "c"}], "message": {"id": 7}}),
            json!({"content": "x", "type": "message", "stop_reason": "end_turn"}),
        ] {
            read(answer.clone()).unwrap_or_else(|e| panic!("{answer}: {e}"));
        }
    }
}
