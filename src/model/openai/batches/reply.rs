//! Lines of batches: what is asked in one, and how one ended.

use serde_json::{Value, value::RawValue};

use crate::model::{Failure, FailureKind};

/// A line of a batch: the text, and the function of the server that answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedLine {
    /// The line, with its end.
    pub text: String,
    /// The path of the function, as the API names it. All lines of a batch have the same.
    pub endpoint: String,
}

/// A line of the results.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchLine {
    /// The id that the request was given.
    pub id: String,
    /// How it ended.
    pub end: LineEnd,
}

/// How a line of a batch ended.
#[derive(Debug, Clone, PartialEq)]
pub enum LineEnd {
    /// The server replied, as it would have replied to the request alone.
    Replied(BatchReply),
    /// The batch expired before the server came to it. It costs nothing.
    Expired,
    /// The batch was cancelled before the server came to it. It costs nothing.
    Cancelled,
    /// It failed without a reply.
    Failed(Failure),
}

/// A reply, as if the request had been sent alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchReply {
    /// The HTTP status.
    pub status: u16,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

impl BatchReply {
    /// A reply with this body.
    pub(super) fn new(status: u16, body: &RawValue) -> Self {
        BatchReply { status, body: body.get().as_bytes().to_vec() }
    }
}

/// The failure for results that are not in the form of their API.
pub(super) fn not_of_api(what: impl std::fmt::Display) -> Failure {
    let message = format!("the server's words about the batch are not understood: {what}");
    Failure::new(FailureKind::Malformed, message)
}

/// A text that must be in a value.
pub(super) fn text<'v>(value: &'v Value, field: &str) -> Result<&'v str, Failure> {
    value[field].as_str().ok_or_else(|| not_of_api(format_args!("there is no {field:?}")))
}

#[cfg(test)]
mod tests {
    use super::super::{anthropic, gemini, openai};
    use super::*;

    /// A line of each API, with the digits and the spaces of its body as they came.
    #[test]
    fn a_reply_in_a_line_keeps_its_bytes() {
        let body = r#"{"n": 12345678901234567890, "x":1e0}"#;
        let lines = [
            openai::read(
                format!(
                    r#"{{"id":"r","custom_id":"rt-1","response":{{"status_code":200,"request_id":"q","body":{body}}},"error":null}}"#
                )
                .as_bytes(),
            ),
            anthropic::read(
                format!(
                    r#"{{"custom_id":"rt-1","result":{{"type":"succeeded","message":{body}}}}}"#
                )
                .as_bytes(),
            ),
            gemini::read(format!(r#"{{"key":"rt-1","response":{body}}}"#).as_bytes()),
        ];
        for line in lines {
            let reply = BatchReply { status: 200, body: body.as_bytes().to_vec() };
            let due = BatchLine { id: "rt-1".to_owned(), end: LineEnd::Replied(reply) };
            assert_eq!(line.unwrap(), due);
        }
    }

    #[test]
    fn lines_without_an_answer_say_why() {
        let end = |line: Result<BatchLine, Failure>| line.map(|line| line.end);
        let expired = r#"{"custom_id":"a","response":null,"error":{"code":"batch_expired","message":"late"}}"#;
        assert_eq!(end(openai::read(expired.as_bytes())).unwrap(), LineEnd::Expired);
        let expired = r#"{"custom_id":"a","result":{"type":"expired"}}"#;
        assert_eq!(end(anthropic::read(expired.as_bytes())).unwrap(), LineEnd::Expired);
        let cancelled = r#"{"custom_id":"a","result":{"type":"canceled"}}"#;
        assert_eq!(end(anthropic::read(cancelled.as_bytes())).unwrap(), LineEnd::Cancelled);
        let busy = r#"{"custom_id":"a","result":{"type":"errored","error":{"type":"error","error":{"type":"overloaded_error","message":"busy"}}}}"#;
        let LineEnd::Replied(reply) = end(anthropic::read(busy.as_bytes())).unwrap() else {
            panic!("no reply")
        };
        assert_eq!(reply.status, 529);
        let full = r#"{"key":"a","error":{"code":8,"message":"full"}}"#;
        let LineEnd::Failed(failure) = end(gemini::read(full.as_bytes())).unwrap() else {
            panic!("no failure")
        };
        assert_eq!((failure.kind, failure.status), (FailureKind::RateLimited, Some(429)));
        for nonsense in ["", "{}", "[]", r#"{"custom_id":"a"}"#, r#"{"key":"a"}"#] {
            assert!(openai::read(nonsense.as_bytes()).is_err(), "{nonsense}");
            assert!(anthropic::read(nonsense.as_bytes()).is_err(), "{nonsense}");
            assert!(gemini::read(nonsense.as_bytes()).is_err(), "{nonsense}");
        }
    }
}
