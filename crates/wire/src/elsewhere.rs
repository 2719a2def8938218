//! Answers that another tool recorded, as they are kept when they are recorded here.

use bytes::Bytes;
use hyper::http::{HeaderMap, HeaderName, StatusCode};
use retold::event::AttemptDetails;
use retold::model::providers::{self, credentials};
use retold::model::{Content, HTTP, Response, STRUCK};
use retold::prompt::{Request, RequestError};
use serde_json::{Value, json};

use crate::failures::reopens;
use crate::heads::kept_headers;
use crate::incoming::Incoming;
use crate::limits::LONGEST_READ;
use crate::read::UpstreamReading;
use crate::rules::Rules;
use crate::stored_answer::StoredAnswer;
use crate::transmission::{self, Transmission};
use crate::wire_request::WireRequest;

/// Whether a header of a request counts, and is therefore kept.
pub fn is_counted(name: &HeaderName) -> bool {
    providers::counted_headers().any(|counted| counted == name.as_str())
}

/// Whether a header of an answer is kept.
pub fn is_kept(name: &HeaderName) -> bool {
    transmission::is_kept(name.as_str())
}

/// An answer that another tool recorded, without content encoding.
#[derive(Debug, Clone)]
pub struct Elsewhere {
    /// The HTTP status.
    pub status: StatusCode,
    /// All headers.
    pub headers: HeaderMap,
    /// The whole body.
    pub body: Bytes,
}

/// An answer as a log keeps it.
#[derive(Debug, Clone)]
pub enum LoggedOutcome {
    /// It is an answer.
    Answer(Box<Response>),
    /// It is a failed attempt.
    Failed {
        /// The details that are kept; `gave_up` says whether a client tries again.
        details: AttemptDetails,
    },
}

/// The answer is longer than the most that is kept.
#[derive(Debug, thiserror::Error)]
#[error("the answer is longer than {} MiB", LONGEST_READ >> 20)]
pub struct AnswerTooLong;

impl Elsewhere {
    /// This answer to a request as a log keeps it, as the `attempt`-th of its sample, under a run's rules.
    ///
    /// # Errors
    /// [`AnswerTooLong`].
    pub fn outcome(
        &self,
        incoming: &Incoming,
        asked: &WireRequest,
        attempt: u32,
        rules: &Rules,
    ) -> Result<LoggedOutcome, AnswerTooLong> {
        let Elsewhere { status, headers, body } = self;
        if body.len() > LONGEST_READ {
            return Err(AnswerTooLong);
        }
        let masks = &asked.masks;
        let headers_kept = kept_headers(headers, masks);
        let kept = Transmission {
            status: status.as_u16(),
            headers: headers_kept,
            uncounted: asked.uncounted.clone(),
            ..Transmission::default()
        };
        let path = &incoming.path;
        let stored = StoredAnswer::new(kept, path, body, Vec::new(), masks, &rules.redaction);
        let (StoredAnswer { kept, body, .. }, read) = stored.whole(asked, *status, headers, masks);
        let (failure, text) = match read {
            UpstreamReading::Answer(mut response) => {
                let kept = kept.with_body(&body, &[], response.content.text());
                response.extra.insert(HTTP.to_owned(), json!(kept));
                return Ok(LoggedOutcome::Answer(response));
            }
            UpstreamReading::Failed { failure, text } => (failure, text),
        };
        let reopens = reopens(failure.kind, headers.get("x-should-retry"));
        let kept = Transmission { text, ..kept }.with_body(&body, &[], "");
        let wait = failure.retry_after;
        let details = AttemptDetails {
            attempt,
            batch: None,
            error: failure.message,
            failure: failure.kind.as_str().to_owned(),
            gave_up: !reopens,
            from: None,
            http: Some(json!(kept)),
            retry_after_ms: wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            status: failure.status,
        };
        Ok(LoggedOutcome::Failed { details })
    }
}

/// Values that another tool has read out already, as they are stored: without keys, and without parts that a run's rules
/// take out.
impl Rules {
    /// A JSON value.
    pub fn redact(&self, value: &mut Value) {
        self.redaction.value(value);
    }

    /// A request.
    ///
    /// # Errors
    /// [`RequestError`] if the rest is not a request.
    pub fn redact_request(&self, request: Request) -> Result<Request, RequestError> {
        let mut body = request.body().clone();
        let mut any = false;
        let found = credentials::in_request("", "", body.to_string().as_bytes());
        if !found.is_empty() {
            let bare = credentials::replace(body.to_string().as_bytes(), &found, STRUCK.as_bytes());
            any = serde_json::from_slice(&bare).map(|bare| body = bare).is_ok();
        }
        match (self.redaction.value(&mut body) | any, body) {
            (true, Value::Object(body)) => Request::of_program(request.api(), body),
            _ => Ok(request),
        }
    }

    /// An answer.
    pub fn redact_answer(&self, response: &mut Response) {
        if let Content::Text(text) = &response.content {
            response.content = Content::Text(self.redact_text(text).into());
        }
        for text in [&mut response.id, &mut response.model].into_iter().flatten() {
            *text = self.redact_text(text);
        }
        response.extra.values_mut().for_each(|value| self.redact(value));
    }

    /// A failed attempt.
    pub fn redact_failure(&self, details: &mut AttemptDetails) {
        details.error = self.redact_text(&details.error);
        if let Some(http) = &mut details.http {
            self.redact(http);
        }
    }
}
