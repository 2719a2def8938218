//! What a failed attempt is called, and whether it is tried again.

use hyper::http::{HeaderMap, HeaderValue, StatusCode, header};
use retold::inert::inert;
use retold::model::{Failure, FailureKind};
use serde_json::Value;

use crate::decode::DecodeError;

/// What kind of failure a status is, in the words of our own runs.
pub(crate) fn failure_of(status: StatusCode, body: &[u8], headers: &HeaderMap) -> Failure {
    let read: Option<Value> = serde_json::from_slice(body).ok();
    let error = read.as_ref().map(|body| &body["error"]);
    let code = error.and_then(|error| error["code"].as_str().or(error["type"].as_str()));
    let kind = match status.as_u16() {
        402 => FailureKind::QuotaExhausted,
        400..500 if code == Some("insufficient_quota") => FailureKind::QuotaExhausted,
        429 => FailureKind::RateLimited,
        401 | 403 => FailureKind::Unauthorized,
        408 | 409 | 425 | 500.. => FailureKind::Server,
        _ => FailureKind::Rejected,
    };
    let said = error.and_then(|error| error["message"].as_str().or(error.as_str()));
    let said = said.map_or_else(|| String::from_utf8_lossy(body).into_owned(), str::to_owned);
    let said = inert(said.trim(), 300);
    let message = if said.is_empty() {
        format!("HTTP {}", status.as_u16())
    } else {
        format!("HTTP {}: {said}", status.as_u16())
    };
    let seconds = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok());
    let seconds = seconds.and_then(|value| value.trim().parse::<f64>().ok());
    let retry_after =
        seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());
    Failure { kind, status: Some(status.as_u16()), message, retry_after }
}

/// Whether SDKs try again after this.
pub(crate) fn reopens(kind: FailureKind, said: Option<&HeaderValue>) -> bool {
    match said.and_then(|value| value.to_str().ok()) {
        Some("true") => true,
        Some("false") => false,
        _ => matches!(
            kind,
            FailureKind::RateLimited
                | FailureKind::QuotaExhausted
                | FailureKind::Server
                | FailureKind::Timeout
                | FailureKind::Connection
                | FailureKind::Malformed
        ),
    }
}

/// An answer that cannot be read.
pub(crate) fn malformed(error: DecodeError) -> Failure {
    Failure::new(FailureKind::Malformed, error.to_string())
}
