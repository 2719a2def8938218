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
