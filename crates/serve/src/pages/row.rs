//! An event as a row of a list.

use retold::escaping::excerpt;
use retold::event::{Event, EventWords, StoredEvent};
use retold::id::RunId;
use serde::Serialize;

/// The longest excerpt of a text, in characters.
const EXCERPT: usize = 220;

/// An event as a row of a list.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ListedEvent {
    pub(crate) seq: u64,
    pub(crate) time: String,
    /// The kind of event in the log.
    pub(crate) kind: String,
    /// The same as people say it.
    pub(crate) label: &'static str,
    /// For a question: its call, with `#` and the sample.
    pub(crate) call: Option<String>,
    /// For a fact: what its experiment calls it.
    pub(crate) name: Option<String>,
    /// The event it follows from.
    pub(crate) cause: Option<u64>,
    /// For a decision: how it was extracted.
    pub(crate) method: Option<String>,
    /// For an answer: the model as reported.
    pub(crate) model: Option<String>,
    /// The answer's latency in milliseconds.
    pub(crate) latency_ms: Option<u64>,
    /// Its text, on one line, cut.
    pub(crate) text: String,
    /// Whether the call ran out of retries here.
    pub(crate) gave_up: bool,
    /// Whether it comes after damage.
    pub(crate) untrusted: bool,
    /// Its page.
    pub(crate) href: String,
}

/// The row of an event; `untrusted` is the first event that is not as it was written.
pub(crate) fn row(run: RunId, event: &StoredEvent, untrusted: Option<u64>) -> ListedEvent {
    let seq = event.seq.0;
    let EventWords { kind: label, subject, text } = EventWords::new(event);
    let (call, name) = match event.call {
        Some(_) => (subject, None),
        None => (None, subject),
    };
    let (mut method, mut model, mut latency_ms, mut gave_up) = (None, None, None, false);
    match event.event() {
        Ok(Event::ResponseReceived(received)) => {
            latency_ms = Some(received.details.latency_ms).filter(|ms| *ms > 0);
            model = received.details.model;
        }
        Ok(Event::AnswerReused(reused)) => model = reused.details.model,
        Ok(Event::AttemptFailed(failed)) => gave_up = failed.details.gave_up,
        Ok(Event::DecisionMade(made)) => method = Some(made.by.method),
        _ => {}
    }
    let is_exchange = matches!(
        &*event.kind,
        "RequestSent"
            | "ResponseReceived"
            | "AnswerReused"
            | "AttemptFailed"
            | "ClientLeft"
            | "BodyPart"
            | "DecisionMade"
    );
    let page = if is_exchange { "exchange" } else { "event" };
    let anchor = match &*event.kind {
        "ResponseReceived" | "AnswerReused" => "#answer",
        "DecisionMade" => "#decision",
        "AttemptFailed" => "#attempts",
        "ClientLeft" => "#left",
        _ => "",
    };
    ListedEvent {
        seq,
        time: event.time.to_string(),
        kind: event.kind.to_string(),
        label,
        call,
        name,
        cause: event.cause.map(|cause| cause.0),
        method,
        model,
        latency_ms,
        text: excerpt(&text, EXCERPT),
        gave_up,
        untrusted: untrusted.is_some_and(|from| seq >= from),
        href: format!("/run/{run}/{page}/{seq}{anchor}"),
    }
}
