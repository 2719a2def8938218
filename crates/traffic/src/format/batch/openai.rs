//! Lines of the files of OpenAI's Batch API: `BatchRequestInput` and `BatchRequestOutput` of its
//! reference.

use http::{HeaderName, HeaderValue};
use retold::escaping::printable;

use super::{BatchRequest, BatchResult, body, json_headers, unknown};
use crate::error::FileProblem;
use crate::exchange::{Http, TrafficAnswer, method, status};
use crate::node::{LocatedValue, Value};

/// Where paths of input files are.
const ORIGIN: &str = "https://api.openai.com";

/// A line of an input file.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn request(node: &LocatedValue) -> Result<BatchRequest, FileProblem> {
    let url = node.get("url").and_then(LocatedValue::text).ok_or(FileProblem::Missing("url"))?;
    let url = if url.starts_with('/') { format!("{ORIGIN}{url}") } else { url.to_owned() };
    let name = node.get("method").and_then(LocatedValue::text).unwrap_or("POST");
    let (method, headers, body) = (method(name)?, json_headers(), body(node, "body")?);
    let http = Http { method, url, headers, body, ..Http::default() };
    Ok(BatchRequest { http, unknown: unknown(node, &["custom_id", "method", "url", "body"]) })
}

/// A line of an output or error file. An error without a response is one that is not HTTP's.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn result(node: &LocatedValue) -> Result<BatchResult, FileProblem> {
    if let Some(response) = node.get("response") {
        let code = match response.get("status_code").map(|code| &code.value) {
            Some(Value::Number(code)) => code.as_u64(),
            _ => None,
        };
        let status = status(code.ok_or(FileProblem::Missing("status_code"))?)?;
        let mut headers = json_headers();
        let id = response.get("request_id").and_then(LocatedValue::text);
        if let Some(id) = id.and_then(|id| HeaderValue::from_str(id).ok()) {
            headers.insert(HeaderName::from_static("x-request-id"), id);
        }
        let body = match response.get("body") {
            Some(_) => body(response, "body")?,
            None => bytes::Bytes::new(),
        };
        return Ok(BatchResult::Http(TrafficAnswer::Http { status, headers, body }));
    }
    let error = node.get("error").ok_or(FileProblem::Missing("response"))?;
    let text = |name: &str| error.get(name).and_then(LocatedValue::text).unwrap_or("");
    let why = format!("{}: {}", printable(text("code"), 80), printable(text("message"), 300));
    Ok(BatchResult::Unsent(why))
}
