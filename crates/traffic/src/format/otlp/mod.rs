//! Traces of OpenTelemetry in the JSON of OTLP: files of the collector's file exporter, a value per line, or one value.
//! Each span that asks a model is an exchange.
//!
//! A span does not have the request as it was sent, so that the exchange is shown and parsed, but not replayed. The
//! conversation may be in the span, in its events, or in log records of the same span, which may be in another file; most
//! instrumentations leave it out unless they are told otherwise.

mod asked_span;
mod captured;
mod flattened;
mod left_out;
mod spans;

use std::collections::{BTreeMap, BTreeSet};

use retold::escaping::printable;
use serde_json::{Deserializer, Value};

use super::Placed;
use crate::error::FileProblem;
use crate::exchange::TrafficExchange;
use crate::file::few_values;
use crate::notes::Notes;
use asked_span::AskedSpan;
use left_out::RESOURCE_ATTRIBUTES;
use spans::{FoundSpan, SpanEvent, SpanKey, log_events, resource_attributes, spans};

/// The fields of a value of OTLP, which has one of them.
pub(crate) const TELEMETRY: [&str; 3] = ["resourceSpans", "resourceLogs", "resourceMetrics"];

/// The attribute of a run whose answers were made up.
pub(crate) const SIMULATED: &str = "retold.simulated";

/// The spans and log records of some files.
#[derive(Default)]
pub(crate) struct OtlpFiles {
    spans: Vec<FoundSpan>,
    events: BTreeMap<SpanKey, Vec<SpanEvent>>,
}

impl OtlpFiles {
    /// Adds a file. Returns whether it is whole: a line whose writing was cut off is noted.
    ///
    /// # Errors
    /// The problem, and its place.
    pub(crate) fn add(&mut self, text: &str, file: &str, notes: &mut Notes) -> Placed<bool> {
        few_values(text).map_err(|wrong| (None, wrong))?;
        let values = Deserializer::from_str(text).into_iter::<Value>();
        for (count, value) in values.enumerate() {
            match value {
                Ok(value) => self.value(&value, file, notes)?,
                Err(error) if error.is_eof() && count > 0 => {
                    notes.add("the end of a file that was cut off", file);
                    return Ok(false);
                }
                Err(error) => return Err(crate::file::not_json(&error)),
            }
        }
        Ok(true)
    }

    fn value(&mut self, value: &Value, file: &str, notes: &mut Notes) -> Placed<()> {
        if let Value::Array(all) = value {
            return all.iter().try_for_each(|one| self.value(one, file, notes));
        }
        if !TELEMETRY.iter().any(|name| value[*name].is_array()) {
            return Err((None, FileProblem::Not("OTLP: a value has no list \"resourceSpans\"")));
        }
        if value["resourceMetrics"].is_array() {
            notes.add("metrics", file);
        }
        let resources = resource_attributes(value);
        notes.names(RESOURCE_ATTRIBUTES, resources.iter().map(String::as_str));
        self.spans.extend(spans(value));
        for (key, event) in log_events(value) {
            self.events.entry(key).or_default().push(event);
        }
        Ok(())
    }

    /// Whether a span says that the answers were made up.
    pub(crate) fn is_simulated(&self) -> bool {
        self.spans.iter().any(|span| span.attributes.get(SIMULATED) == Some(&Value::Bool(true)))
    }

    /// The exchanges of the files, in the order in which they were asked.
    ///
    /// # Errors
    /// [`FileProblem`].
    pub(crate) fn exchanges(self, notes: &mut Notes) -> Result<Vec<TrafficExchange>, FileProblem> {
        let OtlpFiles { mut spans, mut events } = self;
        spans.sort_by_key(|span| span.start);
        let mut exchanges = Vec::new();
        let mut known: BTreeSet<SpanKey> = BTreeSet::new();
        for mut span in spans {
            // A span that was sent again after a failure is in a file twice.
            if !span.key.1.is_empty() && !known.insert(span.key.clone()) {
                notes.add("a span that is there twice", &span.place());
                continue;
            }
            span.events.extend(events.remove(&span.key).unwrap_or_default());
            match AskedSpan::is_one(&span) {
                true => exchanges.push(AskedSpan::new(span).exchange(notes)?),
                false => notes.add("a span that does not ask a model", &span.place()),
            }
        }
        for (_, span) in events.into_keys() {
            let place = format!("span {}", printable(&span, 40));
            notes.add("log records of a span that is not in the files", &place);
        }
        Ok(exchanges)
    }
}
