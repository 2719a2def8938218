//! Spans as OTLP has them in JSON.

use retold::id::{EventHash, Time};
use retold::members::Members;
use serde_json::{Value, json};

use crate::otlp::names;

/// How many hex digits the id of a span has.
const DIGITS: usize = 16;

/// A span.
pub(super) struct Span {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) name: String,
    pub(super) kind: u64,
    pub(super) start: Time,
    pub(super) end: Time,
    pub(super) attributes: Vec<Value>,
    pub(super) events: Vec<Value>,
    /// What went wrong.
    pub(super) error: Option<String>,
}

impl Span {
    /// As JSON, in a trace.
    pub(super) fn of(self, trace: &str) -> Value {
        let Span { id, parent, name, kind, start, end, attributes, events, error } = self;
        let mut span = json!({"traceId": trace, "spanId": id, "name": name, "kind": kind,
            "startTimeUnixNano": nanoseconds(start), "endTimeUnixNano": nanoseconds(end),
            "attributes": attributes});
        if let Some(parent) = parent {
            span.set("parentSpanId", parent.into());
        }
        if !events.is_empty() {
            span.set("events", events.into());
        }
        // A status that is not set says that nothing went wrong.
        if let Some(error) = error {
            span.set("status", json!({"code": names::ERROR, "message": error}));
        }
        span
    }
}

/// An event of a span.
pub(super) fn span_event(name: &str, time: Time, attributes: Vec<Value>) -> Value {
    json!({"name": name, "timeUnixNano": nanoseconds(time), "attributes": attributes})
}

/// The id of the span that an event of the log begins.
pub(super) fn span_id(hash: EventHash) -> String {
    hash.short(DIGITS)
}

/// A time since 1970, as OTLP writes it; one before is 1970.
fn nanoseconds(time: Time) -> String {
    (u128::try_from(time.0).unwrap_or(0) * 1_000_000).to_string()
}
