//! Cassettes of retold itself: see `export::export_cassette`, which writes them.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use retold::event::{AttemptDetails, Labels};
use retold::model::FailureKind;
use retold_wire::{BodyEnd, CALL, Incoming, Rules, Transmission, is_kept};
use serde_json::json;

use super::Placed;
use crate::cassette::{CassetteBody, Definitions};
use crate::error::FileProblem;
use crate::exchange::{
    TrafficAnswer, TrafficExchange, TrafficQuestion, failed_attempt, headers, method, status,
};
use crate::export::CASSETTE;
use crate::json_style::JsonStyle;
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// The contents of a cassette.
pub(crate) struct CassetteFile {
    pub(crate) exchanges: Vec<TrafficExchange>,
    /// The rules that say which parts of a request count.
    pub(crate) rules: Rules,
}

/// Reads a cassette.
///
/// # Errors
/// The problem, and its place.
pub(crate) fn read(cassette: &LocatedValue, notes: &mut Notes) -> Placed<CassetteFile> {
    let whole = |wrong| (None, wrong);
    let version = text(cassette, "retold").map_err(whole)?;
    if version != CASSETTE {
        let said = format!(
            "a {version}, and this release reads {CASSETTE}: another release wrote it. Record it again"
        );
        return Err(whole(FileProblem::Said(said)));
    }
    let rules = rules(cassette).map_err(whole)?;
    let all = list(cassette, "exchanges").map_err(whole)?;
    let repeated = fields(cassette, "repeated").map_err(whole)?.unwrap_or(&[]);
    let mut put_back = 0;
    let mut exchanges = Vec::with_capacity(all.len());
    for (at, one) in all.iter().enumerate() {
        let place = format!("exchanges.{at} (line {})", one.line);
        let read = fields(one, "varying").and_then(|varying| {
            let varying = varying.ok_or(FileProblem::Missing("varying"))?;
            let mut definitions = Definitions::new(varying, repeated, &mut put_back);
            exchange(one, &place, &mut definitions, notes)
        });
        exchanges.push(read.map_err(|wrong| (Some(place), wrong))?);
    }
    Ok(CassetteFile { exchanges, rules })
}

fn rules(cassette: &LocatedValue) -> Result<Rules, FileProblem> {
    let texts = |node: &LocatedValue, name| {
        let item = |item: &LocatedValue| {
            item.text().map(str::to_owned).ok_or_else(|| kind(name, item, "a text"))
        };
        node.list()
            .ok_or_else(|| kind(name, node, "a list"))?
            .iter()
            .map(item)
            .collect::<Result<Vec<_>, _>>()
    };
    let ignore = cassette.get("ignore").map_or(Ok(Vec::new()), |node| texts(node, "ignore"))?;
    let mut replace = Vec::new();
    if cassette.get("replace").is_some() {
        for pair in list(cassette, "replace")? {
            match texts(pair, "replace")?.as_slice() {
                [pattern, text] => replace.push(format!("{pattern}={text}")),
                _ => return Err(kind("replace", pair, "a pattern and a text")),
            }
        }
    }
    Rules::parse(&ignore, &replace).map_err(|error| FileProblem::Said(error.to_string()))
}

fn exchange(
    node: &LocatedValue,
    place: &str,
    definitions: &mut Definitions<'_>,
    notes: &mut Notes,
) -> Result<TrafficExchange, FileProblem> {
    let request = node.get("request").ok_or(FileProblem::Missing("request"))?;
    let mut headers = headers_of(request, place, notes)?;
    if let Some(call) = node.get("call") {
        let call = call.text().ok_or_else(|| kind("call", call, "a text"))?;
        let wrong = |_| FileProblem::Value { what: "the name of a call", found: call.to_owned() };
        headers.insert(CALL, HeaderValue::from_bytes(call.as_bytes()).map_err(wrong)?);
    }
    let query =
        request.get("query").map(|_| text(request, "query").map(str::to_owned)).transpose()?;
    let body = match request.get("json") {
        Some(json) => {
            let whole = definitions.put_back(json)?;
            Bytes::from(whole.text_of_json().ok_or_else(|| kind("json", json, "JSON"))?)
        }
        None => body(request)?,
    };
    let incoming = Incoming {
        upstream: text(request, "upstream")?.to_owned(),
        is_led: false,
        method: method(text(request, "method")?)?,
        path: text(request, "path")?.to_owned(),
        query,
        headers,
        body,
    };
    let varying = node.get("varying").ok_or(FileProblem::Missing("varying"))?;
    let hash = text(varying, "hash")?.to_owned();
    let answers = list(node, "answers")?
        .iter()
        .map(|one| answer(one, place, definitions, notes))
        .collect::<Result<_, _>>()?;
    Ok(TrafficExchange {
        place: place.to_owned(),
        asked: TrafficQuestion::Kept { incoming: Box::new(incoming), hash, labels: labels(node)? },
        answers,
        decisions: Vec::new(),
        label: None,
        latency: std::time::Duration::ZERO,
    })
}

/// The field `labels`.
///
/// # Errors
/// A label that is not a text.
pub(super) fn labels(node: &LocatedValue) -> Result<Labels, FileProblem> {
    let Some(labels) = node.get("labels") else { return Ok(Labels::default()) };
    let fields = labels.map().ok_or_else(|| kind("labels", labels, "a mapping"))?;
    let label = |(name, value): &(String, LocatedValue)| {
        let value = value.text().ok_or_else(|| kind("labels", value, "a text"))?;
        Ok((name.clone(), value.to_owned()))
    };
    fields.iter().map(label).collect()
}

fn answer(
    node: &LocatedValue,
    place: &str,
    definitions: &mut Definitions<'_>,
    notes: &mut Notes,
) -> Result<TrafficAnswer, FileProblem> {
    let answer = whole_or_broken(node, place, definitions, notes)?;
    let Some(left) = node.get("client_left") else { return Ok(answer) };
    let after_ms = number(left, "after_ms")?.ok_or(FileProblem::Missing("after_ms"))?;
    Ok(TrafficAnswer::Left { answer: Box::new(answer), after_ms, bytes: number(left, "bytes")? })
}

/// An answer, or a failed attempt with what the client got of it.
fn whole_or_broken(
    node: &LocatedValue,
    place: &str,
    definitions: &mut Definitions<'_>,
    notes: &mut Notes,
) -> Result<TrafficAnswer, FileProblem> {
    let status_of = |node| number(node, "status")?.ok_or(FileProblem::Missing("status"));
    if node.get("failure").is_some() {
        let (failure, error) = (text(node, "failure")?, text(node, "error")?);
        let known = serde_json::from_value(failure.into()).unwrap_or(FailureKind::Connection);
        if node.get("status").is_none() {
            return Ok(failed_attempt(known, failure, error));
        }
        let headers = headers_of(node, place, notes)?;
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            let value = value.to_str().ok().filter(|_| is_kept(name))?;
            Some((name.as_str().to_owned(), value.to_owned()))
        };
        let end = node.get("end").map(body_end).transpose()?;
        let kept = Transmission {
            status: status(status_of(node)?)?.as_u16(),
            headers: headers.iter().filter_map(header).collect(),
            end,
            ..Transmission::default()
        };
        let kept = kept.with_body(&answered_body(node, definitions)?, &[], "");
        return Ok(TrafficAnswer::Failed(AttemptDetails {
            attempt: 0,
            batch: None,
            error: error.to_owned(),
            failure: known.as_str().to_owned(),
            gave_up: matches!(node.get("gave_up").map(|it| &it.value), Some(Value::Bool(true))),
            from: None,
            http: Some(json!(kept)),
            retry_after_ms: None,
            status: None,
        }));
    }
    let status = status(status_of(node)?)?;
    let (headers, body) = (headers_of(node, place, notes)?, answered_body(node, definitions)?);
    Ok(match node.get("end").map(body_end).transpose()? {
        Some(BodyEnd::ClientLeft) => TrafficAnswer::Heard { status, headers, body },
        _ => TrafficAnswer::Http { status, headers, body },
    })
}

fn body_end(node: &LocatedValue) -> Result<BodyEnd, FileProblem> {
    let name = node.text().ok_or_else(|| kind("end", node, "a text"))?;
    serde_json::from_value(name.into())
        .map_err(|_| FileProblem::Value { what: "an end of a body", found: name.to_owned() })
}

fn number(node: &LocatedValue, name: &'static str) -> Result<Option<u64>, FileProblem> {
    match node.get(name).map(|it| (&it.value, it)) {
        None => Ok(None),
        Some((Value::Number(number), _)) if number.is_u64() => Ok(number.as_u64()),
        Some((_, other)) => Err(kind(name, other, "a whole number")),
    }
}

/// The body of an answer, in the layout in which it came.
fn answered_body(
    node: &LocatedValue,
    definitions: &mut Definitions<'_>,
) -> Result<Bytes, FileProblem> {
    if let Some(json) = node.get("json") {
        let layout = text(node, "layout")?;
        let unknown = || FileProblem::Value { what: "a layout of JSON", found: layout.to_owned() };
        let style = JsonStyle::by_name(layout).ok_or_else(unknown)?;
        return Ok(Bytes::from(style.text(&definitions.put_back(json)?)));
    }
    if node.get("stream").is_none() {
        return body(node);
    }
    let lines = node.get("lines").map(|_| text(node, "lines")).transpose()?;
    match lines {
        None | Some("crlf") => {}
        Some(other) => {
            return Err(FileProblem::Value { what: "an end of lines", found: other.to_owned() });
        }
    }
    let whole = CassetteBody::stream_bytes(text(node, "stream")?, lines.is_some(), definitions)?;
    Ok(Bytes::from(whole))
}

fn headers_of(
    node: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<HeaderMap, FileProblem> {
    let Some(all) = node.get("headers") else { return Ok(HeaderMap::new()) };
    let all = all.list().ok_or_else(|| kind("headers", all, "a list"))?;
    let mut pairs = Vec::with_capacity(all.len());
    for one in all {
        for (name, value) in one.map().ok_or_else(|| kind("headers", one, "a list of mappings"))? {
            let value = value.text().ok_or_else(|| kind("headers", value, "a text"))?;
            pairs.push((name.as_str(), value.as_bytes()));
        }
    }
    Ok(headers(pairs.into_iter(), place, notes))
}

fn body(node: &LocatedValue) -> Result<Bytes, FileProblem> {
    match node.get("body").map(|node| &node.value) {
        None => Ok(Bytes::new()),
        Some(Value::Text(text)) => Ok(Bytes::from(text.clone())),
        Some(Value::Bytes(bytes)) => Ok(Bytes::from(bytes.clone())),
        Some(other) => Err(FileProblem::Kind { field: "body", found: other.kind(), due: "a text" }),
    }
}

fn text<'a>(node: &'a LocatedValue, name: &'static str) -> Result<&'a str, FileProblem> {
    let found = node.get(name).ok_or(FileProblem::Missing(name))?;
    found.text().ok_or_else(|| kind(name, found, "a text"))
}

fn list<'a>(node: &'a LocatedValue, name: &'static str) -> Result<&'a [LocatedValue], FileProblem> {
    let found = node.get(name).ok_or(FileProblem::Missing(name))?;
    found.list().ok_or_else(|| kind(name, found, "a list"))
}

/// A field that is a mapping, if it is there.
fn fields<'a>(
    node: &'a LocatedValue,
    name: &'static str,
) -> Result<Option<&'a [(String, LocatedValue)]>, FileProblem> {
    let found = node.get(name);
    found.map(|found| found.map().ok_or_else(|| kind(name, found, "a mapping"))).transpose()
}

fn kind(field: &'static str, found: &LocatedValue, due: &'static str) -> FileProblem {
    FileProblem::Kind { field, found: found.value.kind(), due }
}
