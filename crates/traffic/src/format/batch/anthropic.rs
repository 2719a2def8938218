//! Message Batches of Anthropic: the requests, as they are sent to create a batch (`BatchCreateParams` of
//! the SDK) or one per line, and the lines of the results (`MessageBatchIndividualResponse`).

use http::Method;

use super::{BatchRequest, BatchResult, body, json_headers, unknown};
use crate::error::{FileProblem, TrafficError};
use crate::exchange::{Http, TrafficAnswer, status};
use crate::file::Document;
use crate::format::Format;
use crate::node::LocatedValue;

/// Where each request of a batch would have been sent by itself.
const URL: &str = "https://api.anthropic.com/v1/messages";

/// The requests of a file that is the body with which a batch is created; `None` for one with lines.
///
/// # Errors
/// [`TrafficError`].
pub(super) fn requests(document: &Document) -> Result<Option<Vec<LocatedValue>>, TrafficError> {
    if !Format::fields(document.bytes()).iter().any(|name| name == "requests") {
        return Ok(None);
    }
    let whole = document.json()?;
    let list = whole.get("requests").and_then(LocatedValue::list);
    Ok(list.map(<[LocatedValue]>::to_vec))
}

/// A request, whose `params` are the body that `/v1/messages` takes.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn request(node: &LocatedValue) -> Result<BatchRequest, FileProblem> {
    let (method, url, headers) = (Method::POST, URL.to_owned(), json_headers());
    let body = body(node, "params")?;
    let http = Http { method, url, headers, body, ..Http::default() };
    Ok(BatchRequest { http, unknown: unknown(node, &["custom_id", "params"]) })
}

/// A result. Those of requests that were cancelled or that expired were never sent to the model.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn result(node: &LocatedValue) -> Result<BatchResult, FileProblem> {
    let result = node.get("result").ok_or(FileProblem::Missing("result"))?;
    let kind = result.get("type").and_then(LocatedValue::text);
    let (code, name) = match kind.ok_or(FileProblem::Missing("type"))? {
        "succeeded" => (200, "message"),
        "errored" => (error_status(result), "error"),
        why @ ("canceled" | "expired") => return Ok(BatchResult::Unsent(why.to_owned())),
        other => {
            let found = other.chars().take(40).collect();
            return Err(FileProblem::Value { what: "a result of a message batch", found });
        }
    };
    let (headers, body) = (json_headers(), body(result, name)?);
    Ok(BatchResult::Http(TrafficAnswer::Http { status: status(code)?, headers, body }))
}

/// The status of an error, which a result does not have: that of its type in Anthropic's reference
/// ("Errors").
fn error_status(result: &LocatedValue) -> u64 {
    let error = result.get("error").and_then(|error| error.get("error"));
    match error.and_then(|error| error.get("type")?.text()).unwrap_or("") {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}
