//! The spans and log records of a value of OTLP.

use std::collections::BTreeSet;

use retold::escaping::printable;
use retold::id::Time;
use serde_json::{Map, Value};

use crate::otlp::any_value::{attributes, number, plain};
use crate::otlp::names;

/// A trace and a span in it.
pub(super) type SpanKey = (String, String);

/// A span.
pub(super) struct FoundSpan {
    pub(super) key: SpanKey,
    /// Nanoseconds since 1970.
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) attributes: Map<String, Value>,
    pub(super) events: Vec<SpanEvent>,
    /// What its status says went wrong, if it says so.
    pub(super) error: Option<String>,
    pub(super) has_links: bool,
}

/// Something that happened in a span: an event of it, or a log record.
pub(super) struct SpanEvent {
    pub(super) name: String,
    /// With the fields of its body, if that has any.
    pub(super) attributes: Map<String, Value>,
}

impl FoundSpan {
    /// Where it is, for messages.
    pub(super) fn place(&self) -> String {
        format!("span {}", printable(&self.key.1, 40))
    }

    /// When it began.
    pub(super) fn began(&self) -> Time {
        Time(self.start / 1_000_000)
    }

    /// An attribute that is a text and not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

/// The spans of a value.
pub(super) fn spans(value: &Value) -> impl Iterator<Item = FoundSpan> + '_ {
    within(value, ["resourceSpans", "scopeSpans", "spans"]).map(|span| {
        // A status that is not an error has no code, or another one.
        let status = &span["status"];
        let is_error = status["code"] == names::ERROR || status["code"] == "STATUS_CODE_ERROR";
        let message = status["message"].as_str().unwrap_or("").to_owned();
        FoundSpan {
            key: key(span),
            start: number(&span["startTimeUnixNano"]).as_i64().unwrap_or(0),
            end: number(&span["endTimeUnixNano"]).as_i64().unwrap_or(0),
            attributes: attributes(&span["attributes"]),
            events: items(&span["events"]).map(event).collect(),
            error: is_error.then_some(message),
            has_links: items(&span["links"]).next().is_some(),
        }
    })
}

/// The names of the attributes of the resources and scopes of a value, which describe the traced program.
pub(super) fn resource_attributes(value: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (outer, middle) in [("resourceSpans", "scopeSpans"), ("resourceLogs", "scopeLogs")] {
        for resource in items(&value[outer]) {
            let scopes = items(&resource[middle]).map(|scope| &scope["scope"]);
            let all = std::iter::once(&resource["resource"]).chain(scopes);
            names.extend(all.flat_map(|of| attributes(&of["attributes"])).map(|(name, _)| name));
        }
    }
    names
}

/// The log records of a value that belong to spans.
pub(super) fn log_events(value: &Value) -> impl Iterator<Item = (SpanKey, SpanEvent)> + '_ {
    within(value, ["resourceLogs", "scopeLogs", "logRecords"]).map(|record| {
        let mut event = event(record);
        // Before log records had names, an attribute had them.
        let name =
            record["eventName"].as_str().or_else(|| event.attributes.get("event.name")?.as_str());
        event.name = name.unwrap_or("").to_owned();
        match plain(&record["body"]) {
            Value::Object(fields) => event.attributes.extend(fields),
            Value::Null => {}
            body => drop(event.attributes.insert("content".to_owned(), body)),
        }
        (key(record), event)
    })
}

fn event(event: &Value) -> SpanEvent {
    let name = event["name"].as_str().unwrap_or("").to_owned();
    SpanEvent { name, attributes: attributes(&event["attributes"]) }
}

fn key(of: &Value) -> SpanKey {
    let id = |name: &str| of[name].as_str().unwrap_or("").to_owned();
    (id("traceId"), id("spanId"))
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// The items of a list in a list in a list.
fn within<'a>(
    value: &'a Value,
    [outer, middle, inner]: [&'a str; 3],
) -> impl Iterator<Item = &'a Value> {
    let resources = items(&value[outer]);
    let scopes = resources.flat_map(move |resource| items(&resource[middle]));
    scopes.flat_map(move |scope| items(&scope[inner]))
}
