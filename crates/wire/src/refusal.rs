//! The error that a client gets instead of an answer, in the words of its API.

use hyper::http::{HeaderValue, header};
use hyper::{Response, StatusCode};
use retold::model::providers::{Dialect, Problem};
use serde_json::{Value, to_vec};

use crate::outlet::Outgoing;
use crate::reach::RefusedRequest;

/// Why a request is not let in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotLetIn {
    pub(crate) status: u16,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl NotLetIn {
    pub(crate) fn new(status: u16, code: &'static str, message: impl Into<String>) -> Self {
        NotLetIn { status, code, message: message.into() }
    }

    pub(crate) fn wrong_site(RefusedRequest { status, reason }: RefusedRequest) -> Self {
        NotLetIn::new(status, "retold_site", reason)
    }
}

/// The answer to a request that is not let in: it is in no run, and not counted.
pub(crate) fn turned_away(dialect: &dyn Dialect, not_let_in: &NotLetIn) -> Response<Outgoing> {
    let NotLetIn { status, code, message } = not_let_in;
    closing(rejection(dialect, *status, code, message))
}

/// The response to a client whose run has ended.
pub(crate) fn end_of_run(dialect: &dyn Dialect) -> Response<Outgoing> {
    rejection(
        dialect,
        503,
        "retold_ended",
        "the run has ended, and this was neither asked nor recorded",
    )
}

/// An error in the shape of an API, which its clients do not try again.
pub(crate) fn rejection(
    dialect: &dyn Dialect,
    status: u16,
    code: &'static str,
    message: &str,
) -> Response<Outgoing> {
    let body = dialect.error(&Problem { status, code, message });
    // JSON that was just made can be written.
    let body = to_vec(&body).unwrap_or_default();
    let mut response = Response::new(Outgoing::Whole(Some(body.into())));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert("x-should-retry", HeaderValue::from_static("false"));
    response
}

/// A reply of our own.
pub(crate) fn with_json(status: StatusCode, reply: &Value) -> Response<Outgoing> {
    let mut response = Response::new(Outgoing::Whole(Some(reply.to_string().into())));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// The rest of a request is not read, so the connection cannot be used again.
pub(crate) fn closing(mut response: Response<Outgoing>) -> Response<Outgoing> {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}
