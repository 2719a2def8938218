//! An event as a row of a list.

use retold::event::{Event, StoredEvent};
use retold::id::RunId;
use serde::Serialize;
use serde_json::Value;

use super::excerpt;

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

/// An event as people say it.
pub(crate) fn label(kind: &str) -> &'static str {
    match kind {
        "RunStarted" => "run started",
        "RunResumed" => "run resumed",
        "RequestSent" => "question",
        "ResponseReceived" => "answer",
        "AnswerReused" => "reused answer",
        "AttemptFailed" => "failed attempt",
        "ClientLeft" => "client left",
        "MarkRecorded" => "mark",
        "DecisionMade" => "decision",
        "Occurred" => "fact",
        "RunFinished" => "run finished",
        _ => "other",
    }
}

/// The row of an event; `untrusted` is the first event that is not as it was written.
pub(crate) fn row(run: RunId, event: &StoredEvent, untrusted: Option<u64>) -> ListedEvent {
    let seq = event.seq.0;
    let call = match (&event.call, event.sample) {
        (Some(call), Some(sample)) => Some(format!("{call}#{sample}")),
        (Some(call), None) => Some(call.to_string()),
        _ => None,
    };
    let read = event.event();
    let mut name = None;
    let (mut method, mut model, mut latency_ms, mut gave_up) = (None, None, None, false);
    let text = match &read {
        Ok(Event::ResponseReceived(received)) => {
            model.clone_from(&received.details.model);
            latency_ms = Some(received.details.latency_ms).filter(|ms| *ms > 0);
            answer_text(received.content.text(), &received.details.extra)
        }
        Ok(Event::AnswerReused(reused)) => {
            model.clone_from(&reused.details.model);
            answer_text(reused.content.text(), &reused.details.extra)
        }
        Ok(Event::AttemptFailed(failed)) => {
            gave_up = failed.details.gave_up;
            format!("{}: {}", failed.details.failure, failed.details.error)
        }
        Ok(Event::DecisionMade(made)) => {
            method = Some(made.by.method.clone());
            let choice = made.details.choice.map(|at| format!("choice {at}: "));
            format!("{}{}", choice.unwrap_or_default(), made.details.value)
        }
        Ok(Event::Occurred(fact)) => {
            name = fact_name(&fact.fact).map(|name| excerpt(name, 60));
            fact_text(&fact.fact)
        }
        Ok(Event::RequestSent(sent)) => {
            let labels = sent.labels.iter().map(|(name, value)| format!(" · {name}: {value}"));
            format!("prompt {}{}", sent.prompt.short(12), labels.collect::<String>())
        }
        Ok(Event::ClientLeft(left)) => match left.bytes {
            Some(bytes) => format!("after {} ms, with {bytes} bytes", left.after_ms),
            None => format!("after {} ms, before the beginning", left.after_ms),
        },
        Ok(Event::MarkRecorded(mark)) => {
            name = Some(excerpt(&mark.name, 60));
            format!("state {}", mark.digest.short(12))
        }
        Ok(Event::RunFinished(finished)) => finished.outcome.as_str().to_owned(),
        Ok(Event::RunStarted(started)) => match started.drawn_from() {
            Some(seed) => format!("{}, seed {seed}", started.experiment),
            None => started.experiment.clone(),
        },
        Ok(Event::RunResumed(resumed)) => resumed.program.clone(),
        Ok(_) => event.body.to_string(),
        Err(error) => format!("it cannot be read: {}", error.defect),
    };
    let is_exchange = matches!(
        &*event.kind,
        "RequestSent"
            | "ResponseReceived"
            | "AnswerReused"
            | "AttemptFailed"
            | "ClientLeft"
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
        label: label(&event.kind),
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

/// What an experiment calls a fact: a tag in it, or its only key.
pub(crate) fn fact_name(fact: &Value) -> Option<&str> {
    let fields = fact.as_object()?;
    let tag = ["fact", "type", "kind", "event"].iter().find_map(|key| fields.get(*key)?.as_str());
    tag.or_else(|| fields.keys().next().filter(|_| fields.len() == 1).map(String::as_str))
}

/// The rest of a fact, for people.
pub(crate) fn fact_text(fact: &Value) -> String {
    let Some(name) = fact_name(fact) else { return fact.to_string() };
    let fields = fact.as_object().into_iter().flatten();
    let rest: Vec<String> = fields
        .filter(|(_, value)| value.as_str() != Some(name))
        .map(|(key, value)| match value {
            Value::String(text) => format!("{key}: {}", excerpt(text, 120)),
            value if key == name => value.to_string(),
            value => format!("{key}: {}", excerpt(&value.to_string(), 120)),
        })
        .collect();
    rest.join(" · ")
}

/// The text of an answer. Without one, the names of the functions that it calls, or `no text`.
fn answer_text(text: &str, extra: &serde_json::Map<String, Value>) -> String {
    if !text.is_empty() {
        // Of ten megabytes, a row shows the beginning.
        return text.chars().take(EXCERPT * 4).collect();
    }
    let calls = extra.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = calls.filter_map(|call| call["function"]["name"].as_str()).collect();
    match names.is_empty() {
        true => "no text".to_owned(),
        false => format!("calls {}", names.join(", ")),
    }
}
