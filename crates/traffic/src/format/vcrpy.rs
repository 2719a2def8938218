//! Cassettes of vcrpy, in YAML or JSON, and of the tools that write the same form: bodies as texts,
//! as bytes, in base64, or as the JSON that they hold.

use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use http::HeaderMap;
use retold::model::Response;
use retold::prompt::{Api, Request};
use serde_json::{Map, Value as Json, json};

use super::Placed;
use crate::error::FileProblem;
use crate::exchange::{
    Http, TrafficAnswer, TrafficExchange, TrafficQuestion, headers, method, plain, status,
};
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// Noted of what was not asked over HTTP.
const NOT_HTTP: &str = "that an exchange was not HTTP: it is shown and parsed, but not replayed";

/// The exchanges of a cassette.
///
/// # Errors
/// What is wrong, and where.
pub(crate) fn read(cassette: &LocatedValue, notes: &mut Notes) -> Placed<Vec<TrafficExchange>> {
    if let Some(first) = cassette.list().and_then(|items| items.first())
        && first.get("request").is_some()
    {
        let said = "a cassette of vcrpy before 1.0: `python -m vcr.migration` converts it";
        return Err((None, FileProblem::Said(said.to_owned())));
    }
    let interactions = field(cassette, "interactions").map_err(|wrong| (None, wrong))?;
    let interactions = list(interactions, "interactions").map_err(|wrong| (None, wrong))?;
    let mut exchanges = Vec::with_capacity(interactions.len());
    let mut session = WebSocketSession::default();
    for (at, interaction) in interactions.iter().enumerate() {
        let place = place(at, interaction);
        let placed = |wrong| (Some(place.clone()), wrong);
        if interaction.get("direction").is_some() {
            exchanges.extend(session.message(interaction, &place, notes).map_err(placed)?);
            continue;
        }
        exchanges.extend(session.answered(notes));
        if interaction.get("request").is_none() {
            exchanges.push(call(interaction, &place, notes).map_err(placed)?);
            continue;
        }
        exchanges.push(http(interaction, &place, notes).map_err(placed)?);
    }
    exchanges.extend(session.answered(notes));
    Ok(exchanges)
}

fn place(at: usize, node: &LocatedValue) -> String {
    match node.line {
        0 => format!("interactions.{at}"),
        line => format!("interactions.{at} (line {line})"),
    }
}

fn field<'a>(node: &'a LocatedValue, name: &'static str) -> Result<&'a LocatedValue, FileProblem> {
    match &node.value {
        Value::Map(_) => node.get(name).ok_or(FileProblem::Missing(name)),
        _ => Err(FileProblem::Kind {
            field: "the cassette",
            found: node.value.kind(),
            due: "a mapping",
        }),
    }
}

fn list<'a>(node: &'a LocatedValue, name: &'static str) -> Result<&'a [LocatedValue], FileProblem> {
    node.list().ok_or(FileProblem::Kind { field: name, found: node.value.kind(), due: "a list" })
}

fn text<'a>(node: &'a LocatedValue, name: &'static str) -> Result<&'a str, FileProblem> {
    let found = node.get(name).ok_or(FileProblem::Missing(name))?;
    found.text().ok_or(FileProblem::Kind { field: name, found: found.value.kind(), due: "a text" })
}

/// A request over HTTP, and its answer.
fn http(
    interaction: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<TrafficExchange, FileProblem> {
    let request = field(interaction, "request")?;
    let response = field(interaction, "response")?;
    unknown(interaction, &["request", "response"], place, notes);
    unknown(request, &["method", "uri", "body", "parsed_body", "headers"], place, notes);
    let known = [
        "status",
        "status_code",
        "headers",
        "body",
        "parsed_body",
        "content",
        "http_version",
        "protocol",
    ];
    unknown(response, &known, place, notes);
    let mut asked = all_headers(request, place, notes)?;
    let body = body(request, "parsed_body", "body", notes, place)?;
    let body = plain(&mut asked, body, place, notes);
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
        None => self::body(response, "parsed_body", "body", notes, place)?,
    };
    let body = plain(&mut headers, body, place, notes);
    Ok(TrafficExchange {
        place: place.to_owned(),
        asked: TrafficQuestion::Http(asked),
        answers: vec![TrafficAnswer::Http { status, headers, body }],
        label: None,
        latency: Duration::ZERO,
    })
}

/// Notes fields that are not vcrpy's.
fn unknown(node: &LocatedValue, known: &[&str], place: &str, notes: &mut Notes) {
    for (name, _) in node.map().unwrap_or_default() {
        if !known.contains(&name.as_str()) {
            let name: String = name.chars().take(60).collect();
            notes.lost(&format!("the field {name:?}"), place);
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

/// A text or bytes.
fn bytes(node: &LocatedValue, field: &'static str) -> Result<Bytes, FileProblem> {
    match &node.value {
        Value::Null => Ok(Bytes::new()),
        Value::Text(text) => Ok(Bytes::from(text.clone())),
        Value::Bytes(bytes) => Ok(Bytes::from(bytes.clone())),
        other => Err(FileProblem::Kind { field, found: other.kind(), due: "a text or bytes" }),
    }
}

/// A body in any of its forms.
fn body(
    node: &LocatedValue,
    parsed: &'static str,
    name: &'static str,
    notes: &mut Notes,
    place: &str,
) -> Result<Bytes, FileProblem> {
    let written = |node: &LocatedValue, notes: &mut Notes| {
        let json = node.text_of_json().ok_or(FileProblem::Kind {
            field: parsed,
            found: "bytes that are not UTF-8",
            due: "what JSON has",
        })?;
        notes.lost("the bytes of a body, of which the file has only the JSON in it", place);
        Ok(Bytes::from(json))
    };
    if let Some(parsed) = node.get(parsed) {
        return written(parsed, notes);
    }
    let Some(body) = node.get(name) else { return Ok(Bytes::new()) };
    match &body.value {
        Value::Map(fields) => match fields.first() {
            None => Ok(Bytes::new()),
            Some((form, inner)) if fields.len() == 1 && form == "string" => bytes(inner, "string"),
            Some((form, inner)) if fields.len() == 1 && form == "base64_string" => {
                let packed = bytes(inner, "base64_string")?;
                let packed: Vec<u8> =
                    packed.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                let unpacked = BASE64.decode(&packed);
                unpacked.map(Bytes::from).map_err(|_| FileProblem::Value {
                    what: "base64",
                    found: String::from_utf8_lossy(&packed).chars().take(40).collect(),
                })
            }
            // A body that a filter has parsed.
            Some(_) => written(body, notes),
        },
        Value::List(_) => written(body, notes),
        _ => bytes(body, name),
    }
}

/// A call that did not go over HTTP, in the form in which pydantic-ai records gRPC: what was asked
/// and what came, as JSON.
fn call(
    interaction: &LocatedValue,
    place: &str,
    notes: &mut Notes,
) -> Result<TrafficExchange, FileProblem> {
    let fields = interaction.map().unwrap_or_default();
    let inner =
        |name: &str| fields.iter().find(|(field, _)| field.contains(name)).map(|(_, node)| node);
    let (asked, answered, called) = match (inner("request"), inner("response"), fields) {
        (Some(request), Some(response), _) => {
            (value(request, "json", "raw"), value(response, "json", "raw"), Json::Null)
        }
        (_, _, [(name, method)]) if method.get("method").is_some() => {
            let called =
                json!({"method": method.get("method").and_then(LocatedValue::text), "name": name});
            let answered = value(method, "response_json", "response_raw");
            (value(method, "request_json", "request_raw"), answered, called)
        }
        _ => return Err(FileProblem::Missing("request")),
    };
    notes.lost(NOT_HTTP, place);
    let mut address = Map::new();
    address.insert("dialect".to_owned(), "grpc@1".into());
    if !called.is_null() {
        address.insert("call".to_owned(), called);
    }
    let mut body = match asked {
        Json::Object(fields) if fields.get("messages").is_some_and(Json::is_array) => fields,
        other => {
            Map::from_iter([("messages".to_owned(), json!([{"role": "user", "content": other}]))])
        }
    };
    body.insert("http".to_owned(), address.into());
    let request = request(body)?;
    let said = &answered["outputs"][0]["message"]["content"];
    let mut response = match said.as_str() {
        Some(text) => Response::text(text),
        None if answered["outputs"][0].is_object() => Response::text(""),
        None => Response::text(answered.to_string()),
    };
    response.extra.insert("reply".to_owned(), answered);
    Ok(TrafficExchange {
        place: place.to_owned(),
        asked: TrafficQuestion::Other("grpc", Box::new(request)),
        answers: vec![TrafficAnswer::Read(Box::new(response))],
        label: None,
        latency: Duration::ZERO,
    })
}

/// What was sent or received, as JSON, or else its bytes.
fn value(node: &LocatedValue, json: &str, raw: &str) -> Json {
    if let Some(value) = node.get(json).and_then(LocatedValue::json) {
        return value;
    }
    match node.get(raw).map(|raw| &raw.value) {
        Some(Value::Bytes(bytes)) => json!({"base64": BASE64.encode(bytes)}),
        Some(_) | None => node.json().unwrap_or(Json::Null),
    }
}

fn request(body: Map<String, Json>) -> Result<Request, FileProblem> {
    Request::of_program(Api::Chat, body).map_err(|error| FileProblem::Said(error.to_string()))
}

/// A WebSocket session: each turn is an exchange that continues the ones before it. What was sent is
/// its last message, and what came until something was sent again is its answer, one JSON per line.
#[derive(Default)]
struct WebSocketSession {
    messages: Vec<Json>,
    sent: bool,
    received: Vec<Json>,
    place: String,
}

impl WebSocketSession {
    fn message(
        &mut self,
        node: &LocatedValue,
        place: &str,
        notes: &mut Notes,
    ) -> Result<Option<TrafficExchange>, FileProblem> {
        let data = node.get("data").ok_or(FileProblem::Missing("data"))?;
        let data = match &data.value {
            Value::Bytes(bytes) => json!({"base64": BASE64.encode(bytes)}),
            _ => data.json().ok_or(FileProblem::Missing("data"))?,
        };
        match text(node, "direction")? {
            "sent" => {
                let ended = match self.received.is_empty() {
                    true => None,
                    false => self.turn(notes)?,
                };
                self.place = place.to_owned();
                self.messages.push(json!({"role": "user", "content": data}));
                self.sent = true;
                Ok(ended)
            }
            "received" => {
                if self.place.is_empty() {
                    self.place = place.to_owned();
                }
                self.received.push(data);
                Ok(None)
            }
            other => Err(FileProblem::Value { what: "sent or received", found: other.to_owned() }),
        }
    }

    /// The last turn, at the end of the session.
    fn answered(&mut self, notes: &mut Notes) -> Option<TrafficExchange> {
        if !self.sent && self.received.is_empty() {
            return None;
        }
        let turn = self.turn(notes).ok().flatten();
        *self = WebSocketSession::default();
        turn
    }

    fn turn(&mut self, notes: &mut Notes) -> Result<Option<TrafficExchange>, FileProblem> {
        let body = json!({"http": {"dialect": "websocket@1"}, "messages": self.messages});
        let Json::Object(body) = body else { return Ok(None) };
        let request = request(body)?;
        let lines: Vec<String> = self.received.iter().map(Json::to_string).collect();
        let answered = !self.received.is_empty();
        let answer = TrafficAnswer::Read(Box::new(Response::text(lines.join("\n"))));
        let received = std::mem::take(&mut self.received);
        self.messages.push(json!({"role": "assistant", "content": received}));
        self.sent = false;
        let place = std::mem::take(&mut self.place);
        notes.lost(NOT_HTTP, &place);
        Ok(Some(TrafficExchange {
            place,
            asked: TrafficQuestion::Other("websocket", Box::new(request)),
            answers: if answered { vec![answer] } else { Vec::new() },
            label: None,
            latency: Duration::ZERO,
        }))
    }
}
