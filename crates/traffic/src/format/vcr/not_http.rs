//! What cassettes have beside HTTP: gRPC calls and WebSocket sessions, as the recorders of pydantic-ai write them.

use std::time::Duration;

use data_encoding::BASE64;
use retold::model::Response;
use retold::prompt::{Api, Request};
use serde_json::{Map, Value as Json, json};

use super::interaction::text;
use crate::error::FileProblem;
use crate::exchange::{TrafficAnswer, TrafficExchange, TrafficQuestion};
use crate::node::{LocatedValue, Value};
use crate::notes::Notes;

/// The note on an exchange that was not over HTTP.
const NOT_HTTP: &str = "that an exchange was not HTTP: it is shown and parsed, but not replayed";

/// A gRPC call: the request and the response, as JSON.
pub(super) fn call(
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
    notes.add(NOT_HTTP, place);
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
        asked: TrafficQuestion::other("grpc", request),
        answers: vec![TrafficAnswer::Read(Box::new(response))],
        decisions: Vec::new(),
        label: None,
        latency: Duration::ZERO,
    })
}

/// A request or a response as JSON, or else its bytes.
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

/// A WebSocket session: each turn is an exchange that continues the ones before it. The last message of an exchange is the
/// one that was sent, and its answer is everything that came until the next was sent, one JSON per line.
#[derive(Default)]
pub(super) struct WebSocketSession {
    messages: Vec<Json>,
    sent: bool,
    received: Vec<Json>,
    place: String,
}

impl WebSocketSession {
    pub(super) fn message(
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
    pub(super) fn finish(&mut self, notes: &mut Notes) -> Option<TrafficExchange> {
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
        notes.add(NOT_HTTP, &place);
        Ok(Some(TrafficExchange {
            place,
            asked: TrafficQuestion::other("websocket", request),
            answers: if answered { vec![answer] } else { Vec::new() },
            decisions: Vec::new(),
            label: None,
            latency: Duration::ZERO,
        }))
    }
}
