//! The span of a run, and what all of its spans share.

use retold::event::{RunOutcome, RunStarted};
use retold::id::{EventHash, RunId, Time};
use serde_json::{Value, json};

use super::span::{Span, span_id};
use crate::format::otlp::SIMULATED;
use crate::otlp::any_value::{attribute, integer, text, truth};
use crate::otlp::names;

/// How many hex digits the id of a trace has.
const DIGITS: usize = 32;

/// A run.
pub(super) struct RootSpan {
    started: RunStarted,
    began: Time,
    trace: String,
    id: String,
    resource: Value,
    last: (Time, EventHash),
    outcome: Option<String>,
}

impl RootSpan {
    /// A run whose first event has this time and this hash.
    pub(super) fn new(run: RunId, started: RunStarted, began: Time, first: EventHash) -> Self {
        let name = started.name().unwrap_or(&started.experiment);
        let resource = json!({"attributes": [
            attribute("service.name", text(name)),
            attribute("retold.run", text(&run.to_string())),
        ]});
        RootSpan {
            began,
            trace: first.short(DIGITS),
            id: span_id(first),
            resource,
            last: (began, first),
            outcome: None,
            started,
        }
    }

    /// The run has one more event.
    pub(super) fn last(&mut self, time: Time, hash: EventHash) {
        self.last = (time, hash);
    }

    /// The run has ended.
    pub(super) fn set_outcome(&mut self, outcome: &RunOutcome) {
        self.outcome = Some(outcome.as_str().to_owned());
    }

    /// The id of its span.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The kind of the model that a study asks; programs ask upstreams.
    pub(super) fn study_model(&self) -> Option<&str> {
        self.started.model["kind"].as_str().filter(|_| self.started.is_of_experiment())
    }

    /// The line of one of its spans.
    pub(super) fn line(&self, span: Span) -> String {
        let scope = json!({"name": "retold", "version": env!("CARGO_PKG_VERSION")});
        let spans =
            json!({"scope": scope, "spans": [span.of(&self.trace)], "schemaUrl": names::SCHEMA});
        json!({"resourceSpans": [{"resource": self.resource, "scopeSpans": [spans]}]}).to_string()
    }

    /// The line of the run itself, as far as it was read.
    pub(super) fn own_line(&self) -> String {
        let RootSpan { started, began, id, last: (ended, head), outcome, .. } = self;
        let mut attributes = vec![
            attribute("retold.experiment", text(&started.experiment)),
            attribute("retold.head", text(&head.to_string())),
            attribute(SIMULATED, truth(started.is_simulated())),
        ];
        attributes.extend(started.drawn_from().map(|seed| attribute("retold.seed", integer(seed))));
        let outcome = outcome.as_deref();
        attributes.extend(outcome.map(|outcome| attribute("retold.outcome", text(outcome))));
        self.line(Span {
            id: id.clone(),
            parent: None,
            name: format!("run {}", started.experiment),
            kind: names::INTERNAL,
            start: *began,
            end: *ended,
            attributes,
            events: Vec::new(),
            error: None,
        })
    }
}
