//! HTTP Archives (HAR 1.2), as browsers and proxies write them, and the recordings of Polly.js, which
//! are archives in JSON or YAML.

mod body;

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

use super::Placed;
use crate::error::FileProblem;
use crate::exchange::{
    Http, TrafficAnswer, TrafficExchange, TrafficQuestion, headers, is_encoded, method, plain,
    status,
};
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// The exchanges of an archive.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn read(archive: &LocatedValue, notes: &mut Notes) -> Placed<Vec<TrafficExchange>> {
    let log = archive.get("log").ok_or((None, FileProblem::Missing("log")))?;
    let entries =
        log.get("entries").ok_or((Some("log".to_owned()), FileProblem::Missing("entries")))?;
    let entries = entries.list().ok_or_else(|| {
        let wrong =
            FileProblem::Kind { field: "entries", found: entries.value.kind(), due: "a list" };
        (Some("log".to_owned()), wrong)
    })?;
    let mut exchanges = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let place = format!("log.entries.{at}");
        let found = exchange(entry, &place, notes);
        exchanges.extend(found.map_err(|wrong| (Some(place.clone()), wrong))?);
    }
    Ok(exchanges)
}

fn exchange(
    entry: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<Option<TrafficExchange>, FileProblem> {
    let request = entry.get("request").ok_or(FileProblem::Missing("request"))?;
    let response = entry.get("response").ok_or(FileProblem::Missing("response"))?;
    let text = |node: &LocatedValue, name: &'static str| {
        node.get(name)
            .and_then(LocatedValue::text)
            .map(str::to_owned)
            .ok_or(FileProblem::Missing(name))
    };
    let method = method(&text(request, "method")?)?;
    let url = text(request, "url")?;
    let asked_headers = all_headers(request, place, notes);
    if entry.get("_webSocketMessages").is_some() {
        notes.add("the messages of a WebSocket", place);
    }
    let code = match response.get("status").map(|status| &status.value) {
        Some(Value::Number(code)) => code.as_u64(),
        _ => None,
    };
    let code = code.ok_or(FileProblem::Missing("status"))?;
    if code == 0 {
        notes.add("an exchange without an answer", place);
        return Ok(None);
    }
    let status = status(code)?;
    let mut answered = all_headers(response, place, notes);
    let kind = response.get("content").and_then(|content| content.get("mimeType")?.text());
    if let Some(kind) = kind.and_then(|kind| HeaderValue::from_str(kind).ok())
        && !answered.contains_key(CONTENT_TYPE)
    {
        answered.insert(CONTENT_TYPE, kind);
    }
    let Some(answer) = content(response, &answered, place, notes)? else {
        notes.add("an exchange whose answer is not in the file", place);
        return Ok(None);
    };
    // Browsers and proxies have undone the content encoding, and Polly.js has not.
    if !is_encoded(&answered, &answer) {
        answered.remove(CONTENT_ENCODING);
    }
    let answer = plain(&mut answered, answer, place, notes)?;
    answered.remove(CONTENT_LENGTH);
    let mut headers = asked_headers;
    let body = request_body(request, &headers, place, notes)?;
    let body = plain(&mut headers, body, place, notes)?;
    let milliseconds = match entry.get("time").map(|time| &time.value) {
        Some(Value::Number(time)) => time.as_f64().unwrap_or(0.0),
        _ => 0.0,
    };
    let latency = Duration::try_from_secs_f64(milliseconds / 1000.0).unwrap_or_default();
    Ok(Some(TrafficExchange {
        place: place.to_owned(),
        asked: TrafficQuestion::Http(Http { method, url, headers, body, ..Http::default() }),
        answers: vec![TrafficAnswer::Http { status, headers: answered, body: answer }],
        decisions: Vec::new(),
        label: None,
        latency,
    }))
}

fn all_headers(node: &LocatedValue, place: &str, notes: &mut Notes) -> HeaderMap {
    let all = node.get("headers").and_then(LocatedValue::list).unwrap_or_default();
    let mut pairs = Vec::with_capacity(all.len());
    for header in all {
        let name = header.get("name").and_then(LocatedValue::text);
        // YAML has numbers and truth values where JSON has texts.
        let value = header.get("value").map(|value| match &value.value {
            Value::Text(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            _ => None,
        });
        match (name, value) {
            (Some(name), Some(Some(value))) => pairs.push((name, value)),
            // An empty one.
            (Some(name), None) => pairs.push((name, String::new())),
            _ => notes.add("a header that HTTP does not allow", place),
        }
    }
    headers(pairs.iter().map(|(name, value)| (*name, value.as_bytes())), place, notes)
}

/// The body of a request.
fn request_body(
    request: &LocatedValue,
    headers: &HeaderMap,
    place: &str,
    notes: &mut Notes,
) -> Result<Bytes, FileProblem> {
    let Some(data) = request.get("postData") else { return Ok(Bytes::new()) };
    if let Some(body) = body::body(data, headers, place, notes)? {
        return Ok(body);
    }
    let params = data.get("params").and_then(LocatedValue::list).unwrap_or_default();
    if params.is_empty() {
        return Ok(Bytes::new());
    }
    notes.add("the bytes of a form, of which the file has only the fields", place);
    let text = |node: Option<&LocatedValue>| {
        node.and_then(LocatedValue::text).map(form_encoded).unwrap_or_default()
    };
    let pairs =
        params.iter().map(|pair| format!("{}={}", text(pair.get("name")), text(pair.get("value"))));
    Ok(pairs.collect::<Vec<_>>().join("&").into())
}

fn form_encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => out.push('+'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The body of an answer; `None` if the file does not have it.
fn content(
    response: &LocatedValue,
    headers: &HeaderMap,
    place: &str,
    notes: &mut Notes,
) -> Result<Option<Bytes>, FileProblem> {
    let Some(content) = response.get("content") else { return Ok(None) };
    if let Some(body) = body::body(content, headers, place, notes)? {
        return Ok(Some(body));
    }
    let size = match content.get("size").map(|size| &size.value) {
        Some(Value::Number(size)) => size.as_i64().unwrap_or(0),
        _ => 0,
    };
    Ok((size <= 0).then(Bytes::new))
}
