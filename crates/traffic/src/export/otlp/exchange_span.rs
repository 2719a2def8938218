//! The span of an exchange.

use retold::decided::AnswerDecision;
use retold::event::{AttemptDetails, DecisionDetails, DecisionMade, Labels, ResponseDetails};
use retold::id::{CallPath, EventHash, RunId, Sample, Seq, Time};
use retold::model::{Content, HTTP, other_choices};
use retold::prompt::Request;
use serde_json::{Map, Value, json};

use super::request::Asked;
use super::root::RootSpan;
use super::span::{Span, span_event, span_id};
use crate::notes::Notes;
use crate::otlp::any_value::{attribute, integer, real, text, texts, truth};
use crate::otlp::message::parts;
use crate::otlp::names;

/// The label that names a dialogue, which the conventions call a conversation.
const DIALOGUE: &str = "dialogue";

/// An exchange, from its question on.
pub(super) struct ExchangeSpan {
    seq: Seq,
    began: Time,
    hash: EventHash,
    call: CallPath,
    sample: Sample,
    labels: Labels,
    /// The attempts that failed, and when.
    failed: Vec<(Time, AttemptDetails)>,
}

/// The answer of an exchange.
pub(super) struct AnsweredSpan {
    pub(super) seq: Seq,
    pub(super) time: Time,
    pub(super) hash: EventHash,
    pub(super) content: Content,
    pub(super) details: ResponseDetails,
    /// Where it was recorded, if it was used again.
    pub(super) from: Option<(RunId, Seq)>,
}

impl ExchangeSpan {
    pub(super) fn new(
        (seq, began, hash): (Seq, Time, EventHash),
        call: CallPath,
        sample: Sample,
        labels: Labels,
    ) -> Self {
        ExchangeSpan { seq, began, hash, call, sample, labels, failed: Vec::new() }
    }

    /// An attempt failed.
    pub(super) fn add_failure(&mut self, time: Time, details: AttemptDetails) {
        self.failed.push((time, details));
    }

    /// The span, with what came of the question; `decisions` are events about the answer.
    pub(super) fn into_span(
        self,
        request: &Request,
        answer: Option<AnsweredSpan>,
        decisions: Vec<Value>,
        root: &RootSpan,
        notes: &mut Notes,
    ) -> Span {
        let place = format!("seq {}", self.seq);
        let asked = Asked::new(request);
        let mut attributes = Vec::new();
        let mut name = "request".to_owned();
        if let Some(asked) = &asked {
            attributes.extend(asked.attributes(root.study_model()));
            attributes.extend(asked.conversation(&place, notes));
            name = match request.model().or(request.tool()) {
                Some(whom) => format!("{} {whom}", asked.operation()),
                None => asked.operation().to_owned(),
            };
        }
        attributes
            .extend(self.labels.get(DIALOGUE).map(|id| attribute(names::CONVERSATION, text(id))));
        attributes.extend(self.own(request));
        let error = match (&answer, self.failed.last()) {
            (None, Some((_, failed))) => {
                attributes.push(attribute(names::ERROR_TYPE, text(&error_type(failed))));
                Some(failed.error.clone())
            }
            _ => None,
        };
        let mut events: Vec<Value> =
            self.failed.iter().map(|(time, failed)| failed_event(*time, failed)).collect();
        let mut end = self.failed.last().map_or(self.began, |(time, _)| *time);
        if let Some(answer) = &answer {
            attributes.extend(answer.attributes());
            let latency = i64::try_from(answer.details.latency_ms).unwrap_or(i64::MAX);
            // The events of an import were written at once.
            end = answer.time.max(Time(self.began.0.saturating_add(latency)));
        }
        events.extend(decisions);
        Span {
            id: span_id(self.hash),
            parent: Some(root.id().to_owned()),
            name,
            kind: if request.tool().is_some() { names::INTERNAL } else { names::CLIENT },
            start: self.began,
            end,
            attributes,
            events,
            error,
        }
    }

    /// Where the question is in its run.
    fn own(&self, request: &Request) -> Vec<Value> {
        let mut own = vec![
            attribute("retold.call", text(self.call.as_str())),
            attribute("retold.sample", integer(self.sample)),
            attribute("retold.seq", integer(self.seq.0)),
            attribute("retold.prompt", text(&request.hash().to_string())),
        ];
        let labels = self.labels.iter();
        own.extend(
            labels.map(|(name, value)| attribute(&format!("{}{name}", names::LABEL), text(value))),
        );
        own
    }
}

impl AnsweredSpan {
    fn attributes(&self) -> Vec<Value> {
        let AnsweredSpan { seq, time: _, hash, content, details, from } = self;
        let named = [(names::RESPONSE_ID, &details.id), (names::RESPONSE_MODEL, &details.model)];
        let named = named.into_iter();
        let mut all: Vec<Value> = named
            .filter_map(|(name, value)| Some(attribute(name, text(value.as_deref()?))))
            .collect();
        let counted = [
            (names::INPUT_TOKENS, details.prompt_tokens),
            (names::OUTPUT_TOKENS, details.completion_tokens),
            (names::CACHED_TOKENS, details.cached_tokens),
            (names::REASONING_TOKENS, details.reasoning_tokens),
        ];
        let counted = counted.into_iter();
        all.extend(counted.filter_map(|(name, count)| Some(attribute(name, integer(count?)))));
        if details.extra.get(HTTP).is_some_and(|http| http["chunks"].is_array()) {
            all.push(attribute(names::STREAM, truth(true)));
        }
        let first = (content.text(), details.finish_reason.clone(), &details.extra);
        let others = other_choices(&details.extra);
        let others = others
            .iter()
            .map(|choice| (&*choice.text, choice.finish_reason.clone(), &choice.extra));
        let choices: Vec<_> = std::iter::once(first).chain(others).collect();
        let reasons: Vec<&str> = choices.iter().filter_map(|(_, why, _)| why.as_deref()).collect();
        if !reasons.is_empty() {
            all.push(attribute(names::FINISH_REASONS, texts(reasons)));
        }
        // An embedding is no message.
        if matches!(content, Content::Text(_)) {
            let messages: Value = choices
                .iter()
                .map(|(said, why, extra)| output(said, why.as_deref(), extra))
                .collect();
            all.push(attribute(names::OUTPUT_MESSAGES, text(&messages.to_string())));
        }
        all.push(attribute("retold.answer.seq", integer(seq.0)));
        all.push(attribute("retold.answer.hash", text(&hash.to_string())));
        all.extend(details.cost.map(|cost| attribute("retold.cost", real(cost))));
        let from = from.map(|(run, seq)| format!("{run}/{seq}"));
        all.extend(from.map(|from| attribute("retold.reused_from", text(&from))));
        all
    }
}

/// A choice as a message.
fn output(said: &str, finish_reason: Option<&str>, extra: &Map<String, Value>) -> Value {
    let mut chat = extra.clone();
    chat.insert("role".to_owned(), "assistant".into());
    chat.insert("content".to_owned(), said.into());
    json!({"role": "assistant", "parts": parts(&Value::Object(chat)),
        "finish_reason": finish_reason.unwrap_or("")})
}

/// A decision about an answer of a run, as an event of its span.
pub(super) fn decision_event(of: RunId, decision: &AnswerDecision) -> Value {
    let AnswerDecision { run, seq, time, made, in_force } = decision;
    let DecisionMade { response: _, by, details } = made;
    let DecisionDetails { choice, reasoning, value, warnings: _ } = details;
    let mut attributes = vec![
        attribute(names::DECISION_NAME, text(by.decides())),
        attribute(names::DECISION_VALUE, text(&value.to_string())),
        attribute("retold.decision.method", text(&by.method)),
        attribute("retold.decision.in_force", truth(*in_force)),
        attribute("retold.seq", integer(seq.0)),
    ];
    let accepted_in = (*run != of).then(|| text(&run.to_string()));
    attributes.extend(accepted_in.map(|run| attribute("retold.decision.run", run)));
    let reasoning = reasoning.as_deref();
    attributes.extend(reasoning.map(|why| attribute(names::DECISION_REASONING, text(why))));
    attributes.extend(choice.map(|choice| attribute("retold.decision.choice", integer(choice))));
    span_event(names::DECISION, *time, attributes)
}

/// An attempt that failed, as an event of its span.
fn failed_event(time: Time, failed: &AttemptDetails) -> Value {
    let attributes = vec![
        attribute(names::ERROR_TYPE, text(&error_type(failed))),
        attribute("retold.attempt", integer(failed.attempt)),
        attribute("retold.error", text(&failed.error)),
    ];
    span_event("retold.attempt_failed", time, attributes)
}

/// The HTTP status, or the kind of failure.
fn error_type(failed: &AttemptDetails) -> String {
    failed.status.map_or_else(|| failed.failure.clone(), |status| status.to_string())
}
