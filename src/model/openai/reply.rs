//! The meaning of a reply of the service: a pure function of status, headers and body.

use std::time::SystemTime;

use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION};
use serde_json::Value;

use super::body::{self, SuccessBody};
use super::retry_after::retry_after;
use crate::escaping::printable;
use crate::model::mend::mend;
use crate::model::secrets::Secrets;
use crate::model::{Failure, FailureKind};

/// The longest excerpt of a server's text in a message.
const LONGEST_EXCERPT: usize = 500;

/// How much of a body or a header is searched for it.
pub(super) const LONGEST_ERROR: usize = 64 << 10;

/// A reply as received.
pub(super) struct HttpReply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// The whole body of a success; of an error, as much as is worth reading.
    pub(super) body: Vec<u8>,
    /// When it was received, for a `Retry-After` that is a date.
    pub(super) at: SystemTime,
}

impl HttpReply {
    /// A reply that says nothing about a time.
    pub(super) fn new(status: u16, headers: HeaderMap, body: Vec<u8>) -> Self {
        HttpReply { status, headers, body, at: SystemTime::UNIX_EPOCH }
    }

    /// The body of a success, or the failure.
    ///
    /// A connection that ends in the middle of a body is a `Connection` failure and never gets
    /// here. A body that is complete for HTTP but not valid JSON is `Malformed`, unless it is an
    /// answer: that was paid for.
    pub(super) fn into_body(self, secrets: &Secrets) -> Result<SuccessBody, Failure> {
        if !(200..300).contains(&self.status) {
            return Err(self.refusal(secrets));
        }
        let wrong_type = self.headers.get(CONTENT_TYPE).is_some_and(|t| !is_json(t.as_bytes()));
        // An answer counts, whatever its content type.
        if wrong_type && !body::is_an_answer(&String::from_utf8_lossy(&self.body)) {
            let found = self.headers.get(CONTENT_TYPE).map_or(&[][..], |t| t.as_bytes());
            let found = quote(&String::from_utf8_lossy(found), secrets);
            let body = self.excerpt(secrets);
            let message = format!(
                "the answer has the content type \"{found}\", not JSON; is the base URL right? \
                 It says: {body}"
            );
            return Err(self.failure(FailureKind::Malformed, message));
        }
        let (value, mended) = match serde_json::from_slice::<Value>(&self.body) {
            Ok(value) => (value, None),
            Err(e) if e.is_eof() => {
                let message = match self.body.len() {
                    0 => "the answer is empty".to_owned(),
                    n => format!("the answer is cut off after {n} bytes"),
                };
                return Err(self.failure(FailureKind::Malformed, message));
            }
            Err(e) => {
                let mended = mend(&self.body);
                match serde_json::from_str(&mended.text) {
                    Ok(value) => (value, Some(mended)),
                    Err(_) if body::is_an_answer(&mended.text) => (Value::Null, Some(mended)),
                    Err(_) => {
                        let said = self.excerpt(secrets);
                        let message = format!("the answer is not JSON ({e}): {said}");
                        return Err(self.failure(FailureKind::Malformed, message));
                    }
                }
            }
        };
        // Routers return 200 and put the upstream provider's error into the body.
        match value.get("error") {
            None | Some(Value::Null) => Ok(SuccessBody { value, mended, bytes: self.body }),
            Some(error) => {
                let status = error["code"].as_u64().and_then(|c| u16::try_from(c).ok());
                let kind = match status {
                    Some(status @ 400..600) => kind_of(status, Some(error)),
                    _ if is_quota(error) => FailureKind::QuotaExhausted,
                    _ => FailureKind::Malformed,
                };
                let body = self.excerpt(secrets);
                Err(self.failure(kind, format!("the answer is an error: {body}")))
            }
        }
    }

    /// The JSON in a success that is no answer of a model, or the failure.
    pub(super) fn into_value(self, secrets: &Secrets) -> Result<Value, Failure> {
        if !(200..300).contains(&self.status) {
            return Err(self.refusal(secrets));
        }
        serde_json::from_slice(&self.body).map_err(|e| {
            let said = self.excerpt(secrets);
            self.failure(FailureKind::Malformed, format!("the answer is not JSON ({e}): {said}"))
        })
    }

    /// The same, but only the JSON in it.
    #[cfg(test)]
    pub(super) fn into_json(self, secrets: &Secrets) -> Result<Value, Failure> {
        Ok(self.into_body(secrets)?.value)
    }

    pub(super) fn refusal(&self, secrets: &Secrets) -> Failure {
        let body: Option<Value> = serde_json::from_slice(&self.body).ok();
        let error = body.as_ref().and_then(|body| body.get("error"));
        let kind = kind_of(self.status, error);
        let says = match self.excerpt(secrets) {
            text if text.is_empty() => String::new(),
            text => format!(": {text}"),
        };
        let what = match kind {
            _ if (300..400).contains(&self.status) => {
                let target = self.headers.get(LOCATION).map_or(&[][..], |l| l.as_bytes());
                let target = quote(&String::from_utf8_lossy(target), secrets);
                format!(
                    "the server redirects to \"{target}\". Redirects are not followed, because \
                     that would send the API key to another host: correct the base URL"
                )
            }
            FailureKind::RateLimited => format!("too many requests{says}"),
            FailureKind::QuotaExhausted => format!("the quota is used up{says}"),
            FailureKind::Unauthorized => format!("the key is missing, wrong or not allowed{says}"),
            FailureKind::Server => format!("the service has a problem{says}"),
            _ => format!("the request was rejected{says}"),
        };
        self.failure(kind, format!("HTTP {}: {what}", self.status))
    }

    /// The service's own words, made safe to show: `error.message` if there is one, otherwise the
    /// body.
    fn excerpt(&self, secrets: &Secrets) -> String {
        let begin = &self.body[..self.body.len().min(LONGEST_ERROR)];
        let body: Option<Value> = serde_json::from_slice(begin).ok();
        let said = body.as_ref().and_then(|body| {
            let error = &body["error"];
            error["message"].as_str().or(error.as_str()).or(body["message"].as_str())
        });
        match said {
            Some(text) => quote(text, secrets),
            None => quote(&String::from_utf8_lossy(begin), secrets),
        }
    }

    fn failure(&self, kind: FailureKind, message: String) -> Failure {
        Failure {
            kind,
            status: Some(self.status),
            message,
            retry_after: retry_after(&self.headers, self.at),
        }
    }
}

/// Bounded first, because the server decides how long it is; then stripped of secrets, since the
/// bound may have cut one off; then cut to the length that is shown.
fn quote(text: &str, secrets: &Secrets) -> String {
    let end = (0..=text.len().min(LONGEST_ERROR)).rev().find(|at| text.is_char_boundary(*at));
    let text = &text[..end.unwrap_or(0)];
    printable(secrets.strike(text).trim(), LONGEST_EXCERPT)
}

/// How a status other than success is treated.
///
/// Some providers report an exhausted credit with 402. 408, 409 and 425 mean that the same request
/// may well succeed later, as 5xx does.
fn kind_of(status: u16, error: Option<&Value>) -> FailureKind {
    match status {
        400..500 if error.is_some_and(is_quota) => FailureKind::QuotaExhausted,
        402 => FailureKind::QuotaExhausted,
        429 => FailureKind::RateLimited,
        401 | 403 => FailureKind::Unauthorized,
        408 | 409 | 425 | 500.. => FailureKind::Server,
        _ => FailureKind::Rejected,
    }
}

fn is_quota(error: &Value) -> bool {
    ["code", "type"].iter().any(|field| {
        let text = error[*field].as_str().unwrap_or("");
        text == "insufficient_quota" || text.starts_with("billing")
    })
}

/// `application/json`, `application/problem+json; charset=utf-8`.
fn is_json(content_type: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content_type).to_ascii_lowercase();
    let kind = text.split_once(';').map_or(&*text, |(kind, _)| kind).trim();
    kind == "application/json" || kind.ends_with("+json")
}

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;
