//! Why an attempt failed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::content_parts::NotACompletion;

/// The kinds of failure that are treated differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureKind {
    /// 429: too many requests. Tried again.
    RateLimited,
    /// The account's quota is used up: 402, or an error that says so. Tried once more after a long
    /// wait.
    QuotaExhausted,
    /// 5xx: the provider's fault; 408, 409 and 425 mean the same. Tried again.
    Server,
    /// No answer in time. Tried again.
    Timeout,
    /// The connection failed or broke, perhaps in the middle of an answer. Tried again; the call is
    /// given up only if other calls are answered meanwhile, and the run stops after many such
    /// failures in a row.
    Connection,
    /// A whole answer that cannot be understood: JSON that is cut off or malformed, another content
    /// type, an unexpected shape. Tried again.
    Malformed,
    /// Other 4xx, where the request itself is wrong, and 3xx, because redirects are not followed.
    /// Not tried again.
    Rejected,
    /// 401 or 403: the key is wrong. Not tried again; the run stops and can be resumed.
    Unauthorized,
    /// The server's certificate is not trusted. Not tried again; the run stops and can be resumed.
    Untrusted,
    /// The answers file has no answer at this address. Not tried again; the run stops.
    NoAnswer,
    /// A batch ended without it: it expired, or its results do not have it. Planned again.
    Unanswered,
    /// The person being asked has left. Not tried again; the run stops.
    Left,
}

impl FailureKind {
    /// Its name in logs and files.
    pub fn as_str(self) -> &'static str {
        match self {
            FailureKind::RateLimited => "rate_limited",
            FailureKind::QuotaExhausted => "quota_exhausted",
            FailureKind::Server => "server",
            FailureKind::Timeout => "timeout",
            FailureKind::Connection => "connection",
            FailureKind::Malformed => "malformed",
            FailureKind::Rejected => "rejected",
            FailureKind::Unauthorized => "unauthorized",
            FailureKind::Untrusted => "untrusted",
            FailureKind::NoAnswer => "no_answer",
            FailureKind::Unanswered => "unanswered",
            FailureKind::Left => "left",
        }
    }

    /// The kind of an HTTP status, and of the word that the provider has for the error.
    pub fn of_status(status: u16, code: Option<&str>) -> Self {
        match status {
            402 => FailureKind::QuotaExhausted,
            400.. if code == Some("insufficient_quota") => FailureKind::QuotaExhausted,
            429 => FailureKind::RateLimited,
            401 | 403 => FailureKind::Unauthorized,
            408 | 409 | 425 | 500.. => FailureKind::Server,
            _ => FailureKind::Rejected,
        }
    }

    /// Whether later calls would fail as well. The run then stops (and can be resumed) instead of
    /// failing every participant.
    pub fn stops_the_run(self) -> bool {
        matches!(
            self,
            FailureKind::Unauthorized
                | FailureKind::Untrusted
                | FailureKind::NoAnswer
                | FailureKind::Left
        )
    }
}

/// A failed attempt. Its message is safe to log: it never holds a key or a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// How to treat it.
    pub kind: FailureKind,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// A description for people.
    pub message: String,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// A failure without a status.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Failure { kind, status: None, message: message.into(), retry_after: None }
    }

    /// That of a success response which does not have the expected shape.
    pub(super) fn mismatch(what: impl std::fmt::Display) -> Self {
        Failure {
            kind: FailureKind::Malformed,
            status: Some(200),
            message: format!("the answer is not as expected: {what}"),
            retry_after: None,
        }
    }
}

impl From<NotACompletion> for Failure {
    fn from(error: NotACompletion) -> Self {
        Failure::mismatch(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name() {
        for kind in [
            FailureKind::RateLimited,
            FailureKind::QuotaExhausted,
            FailureKind::Server,
            FailureKind::Timeout,
            FailureKind::Connection,
            FailureKind::Malformed,
            FailureKind::Rejected,
            FailureKind::Unauthorized,
            FailureKind::Untrusted,
            FailureKind::NoAnswer,
            FailureKind::Left,
        ] {
            assert_eq!(serde_json::json!(kind), kind.as_str());
        }
    }
}
