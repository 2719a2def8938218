//! A span that asks a model, as an exchange.

use std::time::Duration;

use retold::escaping::printable;
use retold::event::{AttemptDetails, Labels};
use retold::members::Members;
use retold::model::{FailureKind, Response, Usage};
use retold::prompt::{Api, Request};
use serde_json::{Map, Value, json};

use super::captured::{Captured, CapturedChoice, structure};
use super::left_out::{EARLIER_TOKENS, left_out};
use super::spans::{FoundSpan, SpanEvent};
use crate::error::FileProblem;
use crate::exchange::{
    TrafficAnswer, TrafficDecision, TrafficExchange, TrafficQuestion, failed_attempt,
};
use crate::notes::Notes;
use crate::otlp::names;

/// Parts of a message that an answer has beside its text.
const PARTS: [&str; 3] = ["tool_calls", "reasoning_content", "refusal"];

/// A span that asks a model.
pub(super) struct AskedSpan {
    span: FoundSpan,
    captured: Captured,
}

impl AskedSpan {
    /// Whether a span asks a model: its operation says so, or it names a model and who was asked.
    pub(super) fn is_one(span: &FoundSpan) -> bool {
        let has = |name: &str| span.text(name).is_some();
        match span.text(names::OPERATION) {
            Some(operation) => names::ASKING.contains(&operation) || has("retold.call"),
            None => has(names::REQUEST_MODEL) && (has(names::SYSTEM) || has(names::PROVIDER)),
        }
    }

    /// A span that is one.
    pub(super) fn new(span: FoundSpan) -> Self {
        let captured = Captured::of(&span);
        AskedSpan { span, captured }
    }

    /// The exchange.
    ///
    /// # Errors
    /// [`FileProblem`] if the request has no canonical form.
    pub(super) fn exchange(mut self, notes: &mut Notes) -> Result<TrafficExchange, FileProblem> {
        let place = self.span.place();
        let messages = std::mem::take(&mut self.captured.messages);
        if messages.is_empty() {
            notes.add(
                "the messages of a request, which the instrumentation did not capture",
                &place,
            );
        }
        let request = Request::of_program(Api::Chat, self.body(messages));
        let request = request.map_err(|error| FileProblem::Said(error.to_string()))?;
        let asked = TrafficQuestion::Other {
            name: "otlp",
            request: Box::new(request),
            labels: self.labels(),
        };
        let span = &self.span;
        let nanoseconds = u64::try_from(span.end.saturating_sub(span.start)).unwrap_or(0);
        let (trace, id) = &span.key;
        let label = json!({"trace": trace, "span": id, "started": span.began().to_string()});
        let decisions = span.events.iter().filter_map(SpanEvent::decision).collect();
        let answers = vec![self.answer(&place, notes)];
        let has_failed = matches!(answers.as_slice(), [TrafficAnswer::Failed(_)]);
        left_out(&self.span, &self.captured, has_failed, notes);
        let latency = Duration::from_nanos(nanoseconds);
        Ok(TrafficExchange { place, asked, answers, decisions, label: Some(label), latency })
    }

    /// The request, as far as the span has it, in the form of chat completions.
    fn body(&mut self, messages: Vec<Value>) -> Map<String, Value> {
        let span = &self.span;
        let mut address = json!({"dialect": "otlp@1"});
        let named = [names::UPSTREAM, names::PROVIDER, names::SYSTEM];
        if let Some(provider) = named.iter().find_map(|name| span.text(name)) {
            address.set("upstream", provider.into());
        }
        if let Some(operation) = span.text(names::OPERATION).filter(|it| *it != "chat") {
            address.set("operation", operation.into());
        }
        let mut body = Map::new();
        body.insert("http".to_owned(), address);
        body.insert("messages".to_owned(), messages.into());
        if let Some(model) = span.text(names::REQUEST_MODEL) {
            body.insert("model".to_owned(), model.into());
        }
        for parameter in &names::PARAMETERS {
            let value = span.attributes.get(parameter.attribute).filter(|value| !value.is_null());
            body.extend(value.map(|value| (parameter.name.to_owned(), value.clone())));
        }
        if span.text(names::OUTPUT_TYPE) == Some("json") {
            body.insert("response_format".to_owned(), json!({"type": "json_object"}));
        }
        let tools = self.captured.tools.take().filter(Value::is_array);
        body.extend(tools.map(|tools| ("tools".to_owned(), tools)));
        body
    }

    /// The labels that retold gave the call, or else the agent and the conversation that the conventions name.
    fn labels(&self) -> Labels {
        let named = [("dialogue", names::CONVERSATION), ("agent", names::AGENT)];
        let named = named
            .into_iter()
            .filter_map(|(label, name)| Some((label.to_owned(), self.span.text(name)?.to_owned())));
        let own = self.span.attributes.iter().filter_map(|(name, value)| {
            let label = name.strip_prefix(names::LABEL).filter(|label| !label.is_empty())?;
            Some((label.to_owned(), value.as_str()?.to_owned()))
        });
        named.chain(own).collect()
    }

    /// What came of it.
    fn answer(&mut self, place: &str, notes: &mut Notes) -> TrafficAnswer {
        let span = &self.span;
        let kind = span.text(names::ERROR_TYPE);
        if let Some(error) = span.error.as_deref().or(kind) {
            return final_failure(kind.unwrap_or("error"), error);
        }
        let mut choices = std::mem::take(&mut self.captured.choices).into_iter();
        let CapturedChoice { message, finish_reason } = choices.next().unwrap_or_default();
        if message.is_null() {
            notes.add("the text of an answer, which the instrumentation did not capture", place);
        }
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            _ => String::new(),
        };
        let mut response = Response::text(text);
        let reasons = span.attributes.get(names::FINISH_REASONS).and_then(structure);
        let first = reasons.as_ref().and_then(|reasons| reasons[0].as_str()).map(str::to_owned);
        response.finish_reason = finish_reason.or(first);
        response.model = span.text(names::RESPONSE_MODEL).map(str::to_owned);
        response.id = span.text(names::RESPONSE_ID).map(str::to_owned);
        response.usage = self.usage();
        for part in PARTS {
            let value = message.get(part).filter(|value| !value.is_null());
            response.extra.extend(value.map(|value| (part.to_owned(), value.clone())));
        }
        let others: Vec<Value> = choices
            .map(|CapturedChoice { message, finish_reason }| {
                json!({"message": message, "finish_reason": finish_reason})
            })
            .collect();
        if !others.is_empty() {
            response.extra.insert("other_choices".to_owned(), others.into());
        }
        TrafficAnswer::Read(Box::new(response))
    }

    fn usage(&self) -> Option<Usage> {
        let attributes = &self.span.attributes;
        let count = |name: &str, earlier: &str| {
            attributes.get(name).or_else(|| attributes.get(earlier)).and_then(Value::as_u64)
        };
        let usage = Usage {
            prompt_tokens: count(names::INPUT_TOKENS, EARLIER_TOKENS[0]),
            completion_tokens: count(names::OUTPUT_TOKENS, EARLIER_TOKENS[1]),
            cached_tokens: count(names::CACHED_TOKENS, names::CACHED_TOKENS),
            reasoning_tokens: count(names::REASONING_TOKENS, names::REASONING_TOKENS),
            cost: attributes.get("retold.cost").and_then(Value::as_f64),
        };
        (usage != Usage::default()).then_some(usage)
    }
}

/// A call that failed for good: its program has asked as often as it would. `code` may be an HTTP status.
fn final_failure(code: &str, error: &str) -> TrafficAnswer {
    let status = code.parse().ok().filter(|status| (400..600).contains(status));
    let kind = status.map_or(FailureKind::Server, |status| FailureKind::of_status(status, None));
    match failed_attempt(kind, &printable(code, 100), &printable(error, 300)) {
        TrafficAnswer::Failed(details) => {
            TrafficAnswer::Failed(AttemptDetails { gave_up: true, status, ..details })
        }
        other => other,
    }
}

impl SpanEvent {
    /// Whether it is a score or a decision that can be read.
    pub(super) fn has_decision(&self) -> bool {
        self.decision().is_some()
    }

    /// A score of the answer, or a decision that retold exported.
    fn decision(&self) -> Option<TrafficDecision> {
        let SpanEvent { name, attributes } = self;
        let text = |name: &str| attributes.get(name).and_then(Value::as_str).map(str::to_owned);
        let (name, value, why) = match name.as_str() {
            names::EVALUATION => {
                let number = attributes.get(names::EVALUATION_NUMBER);
                let value = number.or_else(|| attributes.get(names::EVALUATION_LABEL))?.clone();
                (names::EVALUATION_NAME, value, names::EVALUATION_WHY)
            }
            names::DECISION => {
                let value = attributes.get(names::DECISION_VALUE).and_then(structure)?;
                (names::DECISION_NAME, value, names::DECISION_REASONING)
            }
            _ => return None,
        };
        let name = printable(&text(name)?, 200);
        Some(TrafficDecision { name, value, reasoning: text(why) })
    }
}
