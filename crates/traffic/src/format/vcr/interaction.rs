//! One interaction of a cassette: a request over HTTP and its answer.

use std::time::Duration;

use http::HeaderMap;

use super::body;
use super::body::bytes;
use crate::error::FileProblem;
use crate::exchange::{
    Http, TrafficAnswer, TrafficExchange, TrafficQuestion, headers, method, plain, status,
};
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// The fields that a response may have. Betamax has the `url` of the request once more; `adapter_metadata` of VCR says that
/// it unpacked the body.
const RESPONSE: &[&str] = &[
    "status",
    "status_code",
    "headers",
    "body",
    "parsed_body",
    "content",
    "http_version",
    "protocol",
    "adapter_metadata",
    "url",
];

/// An interaction.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn read(
    interaction: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<TrafficExchange, FileProblem> {
    let field = |name| interaction.get(name).ok_or(FileProblem::Missing(name));
    let (request, response) = (field("request")?, field("response")?);
    unknown(interaction, &["request", "response"], place, notes);
    exchange(request, response, place, notes)
}

/// A request over HTTP, and its answer.
///
/// # Errors
/// [`FileProblem`].
pub(super) fn exchange(
    request: &LocatedValue,
    response: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<TrafficExchange, FileProblem> {
    unknown(request, &["method", "uri", "body", "parsed_body", "headers"], place, notes);
    unknown(response, RESPONSE, place, notes);
    let mut asked = all_headers(request, place, notes)?;
    let body = body::body(request, place, notes)?;
    let body = plain(&mut asked, body, place, notes)?;
    let asked = Http {
        method: method(text(request, "method")?)?,
        url: text(request, "uri")?.to_owned(),
        headers: asked,
        body,
    };
    let code = match response.get("status") {
        Some(status) if status.map().is_some() => status.get("code"),
        Some(status) => Some(status),
        None => response.get("status_code"),
    };
    let code = match code.map(|code| &code.value) {
        Some(Value::Number(code)) => code.as_u64(),
        Some(Value::Text(code)) => code.parse().ok(),
        _ => None,
    };
    let status = status(code.ok_or(FileProblem::Missing("status"))?)?;
    let mut headers = all_headers(response, place, notes)?;
    let body = match response.get("content") {
        Some(content) => bytes(content, "content")?,
        None => body::body(response, place, notes)?,
    };
    let body = plain(&mut headers, body, place, notes)?;
    Ok(TrafficExchange {
        place: place.to_owned(),
        asked: TrafficQuestion::Http(asked),
        answers: vec![TrafficAnswer::Http { status, headers, body }],
        decisions: Vec::new(),
        label: None,
        latency: Duration::ZERO,
    })
}

/// Notes fields that are not a cassette's.
fn unknown(node: &LocatedValue, known: &[&str], place: &str, notes: &mut Notes) {
    for (name, _) in node.map().unwrap_or_default() {
        if !known.contains(&name.as_str()) {
            let name: String = name.chars().take(60).collect();
            notes.add(&format!("the field {name:?}"), place);
        }
    }
}

fn all_headers(
    node: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<HeaderMap, FileProblem> {
    let Some(found) = node.get("headers") else { return Ok(HeaderMap::new()) };
    let wrong =
        || FileProblem::Kind { field: "headers", found: found.value.kind(), due: "a mapping" };
    let fields = found.map().ok_or_else(wrong)?;
    let mut all: Vec<(&str, Vec<u8>)> = Vec::new();
    for (name, values) in fields {
        let values = match &values.value {
            Value::List(values) => values.iter().collect(),
            Value::Null => Vec::new(),
            _ => vec![values],
        };
        for value in values {
            all.push((name, scalar(value, "headers")?));
        }
    }
    Ok(headers(all.iter().map(|(name, value)| (*name, value.as_slice())), place, notes))
}

fn scalar(node: &LocatedValue, field: &'static str) -> Result<Vec<u8>, FileProblem> {
    match &node.value {
        Value::Number(number) => Ok(number.to_string().into_bytes()),
        Value::Bool(value) => Ok(value.to_string().into_bytes()),
        _ => bytes(node, field).map(|bytes| bytes.to_vec()),
    }
}

pub(super) fn text<'a>(node: &'a LocatedValue, name: &'static str) -> Result<&'a str, FileProblem> {
    let found = node.get(name).ok_or(FileProblem::Missing(name))?;
    found.text().ok_or(FileProblem::Kind { field: name, found: found.value.kind(), due: "a text" })
}
