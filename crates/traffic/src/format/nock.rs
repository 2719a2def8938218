//! Recordings of nock (`lib/recorder.js` with `output_objects`, and the fixtures of `nock.back`): a JSON
//! list of requests with their answers.
//!
//! A body that is JSON is in the file as such, and one that is not text is in hex. One that travelled
//! with a content encoding is a list of chunks in hex.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER_PERMISSIVE;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use super::Placed;
use crate::error::FileProblem;
use crate::exchange::{
    Http, TrafficAnswer, TrafficExchange, TrafficQuestion, headers, method, plain, status,
};
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// The exchanges of a recording.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn read(list: &LocatedValue, notes: &mut Notes) -> Placed<Vec<TrafficExchange>> {
    let items =
        list.list().ok_or((None, FileProblem::Not("a recording of nock, which is a list")))?;
    let read = |(at, item)| {
        let place = format!("item {at}");
        exchange(item, &place, notes).map_err(|wrong| (Some(place), wrong))
    };
    items.iter().enumerate().map(read).collect()
}

fn exchange(
    item: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<TrafficExchange, FileProblem> {
    let text = |name: &'static str| {
        item.get(name).and_then(LocatedValue::text).ok_or(FileProblem::Missing(name))
    };
    let code = match item.get("status").map(|status| &status.value) {
        Some(Value::Number(code)) => code.as_u64(),
        _ => None,
    };
    let status = status(code.ok_or(FileProblem::Missing("status"))?)?;
    let mut asked = all_headers(item.get("reqheaders"), place, notes);
    let sent = body(item.get("body"), false, &asked, place, notes)?;
    let sent = plain(&mut asked, sent, place, notes)?;
    let mut answered = all_headers(item.get("rawHeaders").or(item.get("headers")), place, notes);
    let is_binary =
        matches!(item.get("responseIsBinary").map(|flag| &flag.value), Some(Value::Bool(true)));
    let answer = body(item.get("response"), is_binary, &answered, place, notes)?;
    let answer = plain(&mut answered, answer, place, notes)?;
    Ok(TrafficExchange {
        place: place.to_owned(),
        asked: TrafficQuestion::Http(Http {
            method: method(text("method")?)?,
            url: format!("{}{}", text("scope")?.trim_end_matches('/'), text("path")?),
            headers: asked,
            body: sent,
            ..Http::default()
        }),
        answers: vec![TrafficAnswer::Http { status, headers: answered, body: answer }],
        decisions: Vec::new(),
        label: None,
        latency: Duration::ZERO,
    })
}

/// A body in any of its forms.
fn body(
    node: Option<&LocatedValue>,
    is_binary: bool,
    headers: &HeaderMap,
    place: &str,
    notes: &mut Notes,
) -> Result<Bytes, FileProblem> {
    let Some(node) = node else { return Ok(Bytes::new()) };
    let hex = |text: &str| {
        HEXLOWER_PERMISSIVE
            .decode(text.as_bytes())
            .map_err(|_| FileProblem::Value { what: "hex", found: text.chars().take(40).collect() })
    };
    match &node.value {
        Value::Text(text) if is_binary => hex(text).map(Bytes::from),
        Value::Text(text) => Ok(Bytes::from(text.clone())),
        Value::List(chunks) if headers.contains_key(CONTENT_ENCODING) => {
            let chunk = |chunk: &LocatedValue| {
                let wrong = FileProblem::Kind {
                    field: "response",
                    found: chunk.value.kind(),
                    due: "a list of texts in hex",
                };
                hex(chunk.text().ok_or(wrong)?)
            };
            let chunks: Result<Vec<Vec<u8>>, _> = chunks.iter().map(chunk).collect();
            chunks.map(|chunks| Bytes::from(chunks.concat()))
        }
        _ => {
            let json = node.text_of_json().ok_or(FileProblem::Missing("response"))?;
            notes.add("the bytes of a body, of which the file has only the JSON in it", place);
            Ok(Bytes::from(json))
        }
    }
}

/// Headers by name, or as a list in which each name is followed by its value.
fn all_headers(node: Option<&LocatedValue>, place: &str, notes: &mut Notes) -> HeaderMap {
    let mut pairs: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut add = |name, value: &LocatedValue| {
        let values = value.list().unwrap_or(std::slice::from_ref(value));
        for value in values {
            match &value.value {
                Value::Text(text) => pairs.push((name, text.clone().into_bytes())),
                Value::Number(number) => pairs.push((name, number.to_string().into_bytes())),
                _ => notes.add("a header that HTTP does not allow", place),
            }
        }
    };
    match node.map(|node| &node.value) {
        Some(Value::Map(fields)) => fields.iter().for_each(|(name, value)| add(name, value)),
        Some(Value::List(items)) => {
            for pair in items.chunks_exact(2) {
                add(pair[0].text().unwrap_or(""), &pair[1]);
            }
        }
        _ => {}
    }
    headers(pairs.iter().map(|(name, value)| (*name, value.as_slice())), place, notes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file;

    fn exchanges(text: &str) -> Placed<Vec<TrafficExchange>> {
        read(&file::json(text).unwrap(), &mut Notes::default())
    }

    /// The answers that were recorded with their content encoding, in hex, and as JSON.
    #[test]
    fn each_form_of_a_body_is_read() {
        let gzip = "1f8b08000000000002ffab564a54b232ac0500afac1b5607000000";
        let (first, second) = gzip.split_at(20);
        let text = format!(
            r#"[{{"scope": "https://api.openai.com:443", "method": "POST", "path": "/v1/x?a=b", "body": {{"q": 1}}, "status": 200,
                "response": ["{first}", "{second}"], "rawHeaders": ["Content-Type", "application/json", "Content-Encoding", "gzip"]}},
            {{"scope": "https://h", "method": "get", "path": "/", "body": "", "status": 404, "response": "00ff",
                "headers": {{"set-cookie": ["a", "b"], "content-length": 2}}, "responseIsBinary": true}},
            {{"scope": "https://h", "method": "GET", "path": "/", "body": "", "status": 200, "response": [1, {{"b": 2}}], "rawHeaders": {{}}}}]"#
        );
        let found = exchanges(&text).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|exchange| {
                let (TrafficQuestion::Http(asked), TrafficAnswer::Http { status, headers, body }) =
                    (&exchange.asked, &exchange.answers[0])
                else {
                    panic!("{exchange:?}");
                };
                let names: Vec<&str> = headers.keys().map(http::HeaderName::as_str).collect();
                format!(
                    "{} {} {:?} {status} {names:?} {body:?}",
                    asked.method, asked.url, asked.body
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                r#"POST https://api.openai.com:443/v1/x?a=b b"{\"q\":1}" 200 OK ["content-type"] b"{\"a\":1}""#,
                r#"GET https://h/ b"" 404 Not Found ["set-cookie", "content-length"] b"\0\xff""#,
                r#"GET https://h/ b"" 200 OK [] b"[1,{\"b\":2}]""#,
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, due) in [
            ("{}", "it is not a recording of nock, which is a list"),
            (r#"[{"scope": "https://h", "method": "GET", "path": "/"}]"#, "it has no \"status\""),
            (
                r#"[{"scope": "https://h", "method": "GET", "path": "/", "status": 200, "response": "xyz", "responseIsBinary": true}]"#,
                "\"xyz\" is not hex",
            ),
        ] {
            let (place, wrong) = exchanges(text).unwrap_err();
            assert_eq!(wrong.to_string(), due);
            assert_eq!(place.as_deref(), text.starts_with('[').then_some("item 0"));
        }
    }
}
