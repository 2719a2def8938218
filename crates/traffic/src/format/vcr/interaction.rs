//! One interaction of a cassette: a request over HTTP and its answer.

use std::time::Duration;

use http::HeaderMap;

use super::body;
use super::body::bytes;
use crate::error::FileProblem;
use crate::exchange::{
    Http, TrafficAnswer, TrafficExchange, TrafficQuestion, headers, method, plain, status,
};
use crate::format::cassette::labels;
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// The field of an interaction in which an export of a run has the labels of the call, which other tools pass over.
pub(crate) const OWN: &str = "_retold";

/// The fields that a request may have; those of go-vcr follow [`GO`].
const REQUEST: &[&str] = &["method", "uri", "body", "parsed_body", "headers"];

/// The fields of go-vcr that say how something travelled, or what the others say (`form` is the body, `host` is in the URL).
const GO: &[&str] = &[
    "proto", "proto_major", "proto_minor", "transfer_encoding", "trailer", "content_length",
    "uncompressed", "host", "remote_addr", "request_uri", "form", "url", "code", "duration",
];

/// The fields that a response may have. Betamax has the `url` of the request once more; `adapter_metadata` of VCR says that
/// it unpacked the body.
const RESPONSE: &[&str] = &[
    "status", "status_code", "headers", "body", "parsed_body", "content", "http_version",
    "protocol", "adapter_metadata", "url",
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
    // A number that go-vcr counts up.
    unknown(interaction, &["request", "response", "id", OWN], place, notes);
    let mut read = exchange(request, response, place, notes)?;
    if let (TrafficQuestion::Http(asked), Some(own)) = (&mut read.asked, interaction.get(OWN)) {
        asked.labels = labels(own)?;
    }
    Ok(read)
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
    // go-vcr has the URL of a request under another name.
    let is_go = request.get("uri").is_none() && request.get("url").is_some();
    let more: &[&str] = if is_go { GO } else { &[] };
    unknown(request, &[REQUEST, more].concat(), place, notes);
    unknown(response, &[RESPONSE, more].concat(), place, notes);
    let mut asked = all_headers(request, place, notes)?;
    let body = body::body(request, place, notes)?;
    let body = plain(&mut asked, body, place, notes)?;
    let asked = Http {
        method: method(text(request, "method")?)?,
        url: text(request, if is_go { "url" } else { "uri" })?.to_owned(),
        headers: asked,
        body,
        ..Http::default()
    };
    let code = match response.get("status") {
        _ if is_go => response.get("code"),
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
        latency: match response.get("duration").and_then(LocatedValue::text) {
            Some(took) if is_go => go_duration(took).unwrap_or_default(),
            _ => Duration::ZERO,
        },
    })
}

/// A duration as Go writes it: `412.5ms`, `1m2.3s`.
fn go_duration(text: &str) -> Option<Duration> {
    const UNITS: [(&str, f64); 6] =
        [("ns", 1e-9), ("\u{b5}s", 1e-6), ("us", 1e-6), ("ms", 1e-3), ("m", 60.0), ("h", 3600.0)];
    let (mut rest, mut seconds) = (text.trim(), 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, more) = rest.split_at(digits);
        let unit = UNITS
            .iter()
            .find(|(unit, _)| more.starts_with(unit))
            .or_else(|| more.starts_with('s').then_some(&("s", 1.0)))?;
        seconds += number.parse::<f64>().ok()? * unit.1;
        rest = more.get(unit.0.len()..)?;
    }
    Duration::try_from_secs_f64(seconds).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_go_are_read() {
        let milliseconds = |text| go_duration(text).map(|took| took.as_millis());
        assert_eq!(milliseconds("412ms"), Some(412));
        assert_eq!(milliseconds("1.5s"), Some(1500));
        assert_eq!(milliseconds("1m2.3s"), Some(62_300));
        assert_eq!(milliseconds("1h0m0s"), Some(3_600_000));
        assert_eq!(milliseconds("900\u{b5}s"), Some(0));
        assert_eq!(milliseconds("1000us"), Some(1));
        for wrong in ["fast", "1", "1 week", "ms", "9e99h"] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
        assert_eq!(milliseconds(""), Some(0));
    }
}
