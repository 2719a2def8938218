//! Conversions between the events that the program works with and the rows that a log keeps.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::BatchStep;
use super::because::Because;
use super::defect::EventDefect;
use super::kind::{
    ANSWER_REUSED, ATTEMPT_FAILED, BATCH_COLLECTED, BATCH_ENDED, BATCH_PLANNED, BATCH_SEEN,
    BATCH_SUBMITTED, BATCH_UPLOADED, BODY_PART, CLIENT_LEFT, DECISION_MADE, EVENTS_LOST, LOOKED_AT,
    MARK_RECORDED, OCCURRED, REQUEST_SENT, RESPONSE_RECEIVED, RUN_FINISHED, RUN_RESUMED,
    RUN_STARTED, VERSION,
};
use super::kinds::{
    AnswerReused, AttemptDetails, AttemptFailed, BodyPart, BodySide, ClientLeft, DecisionDetails,
    DecisionMade, Event, FactOccurred, ForkedFrom, RequestSent, ResponseDetails, ResponseReceived,
    RunStarted,
};
use super::labels::Labels;
use super::outcome::{from_ranges, pairs, ranges, spans};
use super::stored::{NewEvent, StoredEvent};
use crate::content::Content;
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::prompt::{CanonicalError, Request, canonical};

/// A stored event that does not have the columns or body its kind needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} of run {run} ({kind}): {defect}")]
pub struct EventError {
    /// The run.
    pub run: RunId,
    /// The event.
    pub seq: Seq,
    /// Its kind.
    pub kind: String,
    /// What it lacks.
    pub defect: EventDefect,
}

/// The largest count that canonical JSON can represent (RFC 8785: a double). A server may claim
/// any.
const EXACT: u64 = 1 << 53;

fn is_exact(count: &u64) -> bool {
    *count <= EXACT
}

#[derive(Serialize, Deserialize)]
struct StartedBody {
    experiment: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    forked_from: Option<ForkedFrom>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    merged_from: Vec<RunId>,
    model: Value,
    program: String,
    seed: u64,
}

#[derive(Serialize, Deserialize)]
struct ReusedBody {
    #[serde(default, skip_serializing_if = "ResponseDetails::is_none")]
    answer: ResponseDetails,
    run: RunId,
    seq: Seq,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct PartBody {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    base64: bool,
    of: BodySide,
}

#[derive(Serialize, Deserialize)]
struct LeftBody {
    after_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

/// The canonical body of a question.
fn question_body(because: &Because, labels: &Labels) -> Result<Cow<'static, str>, CanonicalError> {
    let mut body = because.body();
    if !labels.is_empty() {
        let sources = body.strip_suffix('}').unwrap_or(&body);
        let comma = if because.is_empty() { "" } else { "," };
        body = format!("{sources}{comma}\"labels\":{}}}", canonical(labels)?).into();
    }
    Ok(body)
}

impl NewEvent {
    /// The row of an event. A `RequestSent` carries its whole request, which the log stores once.
    ///
    /// # Errors
    /// [`CanonicalError`] if something in it has no JSON form.
    pub fn from_event(
        event: &Event,
        time: Time,
        request: Option<Request>,
    ) -> Result<Self, CanonicalError> {
        let row = |kind| NewEvent::new(kind, time);
        let body = |value: &dyn erased::Canonical| value.text().map(Cow::Owned);
        Ok(match event {
            Event::RunStarted(started) => {
                let RunStarted {
                    experiment,
                    seed,
                    settings,
                    model,
                    program,
                    forked_from,
                    merged_from,
                } = started;
                let started = StartedBody {
                    experiment: experiment.clone(),
                    forked_from: *forked_from,
                    merged_from: merged_from.clone(),
                    model: model.clone(),
                    program: program.clone(),
                    seed: *seed,
                };
                let content = Some(Content::from(canonical(settings)?));
                NewEvent { content, body: body(&started)?, ..row(RUN_STARTED) }
            }
            Event::RunResumed(resumed) => NewEvent { body: body(resumed)?, ..row(RUN_RESUMED) },
            Event::RequestSent(RequestSent { call, sample, prompt: _, because, labels }) => {
                NewEvent {
                    call: Some(call.clone()),
                    sample: Some(*sample),
                    prompt: request,
                    body: question_body(because, labels)?,
                    ..row(REQUEST_SENT)
                }
            }
            Event::ResponseReceived(ResponseReceived { request, content, details }) => NewEvent {
                cause: Some(*request),
                content: Some(content.clone()),
                body: body(&ResponseDetails {
                    prompt_tokens: details.prompt_tokens.filter(is_exact),
                    completion_tokens: details.completion_tokens.filter(is_exact),
                    cached_tokens: details.cached_tokens.filter(is_exact),
                    reasoning_tokens: details.reasoning_tokens.filter(is_exact),
                    latency_ms: details.latency_ms.min(EXACT),
                    ..details.clone()
                })?,
                ..row(RESPONSE_RECEIVED)
            },
            Event::AttemptFailed(AttemptFailed { request, details }) => {
                let retry_after_ms = details.retry_after_ms.map(|ms| ms.min(EXACT));
                let details = AttemptDetails { retry_after_ms, ..details.clone() };
                NewEvent { cause: Some(*request), body: body(&details)?, ..row(ATTEMPT_FAILED) }
            }
            Event::BodyPart(BodyPart { request, of, content, base64 }) => NewEvent {
                cause: Some(*request),
                content: Some(content.clone()),
                body: body(&PartBody { base64: *base64, of: *of })?,
                ..row(BODY_PART)
            },
            Event::ClientLeft(ClientLeft { request, after_ms, bytes }) => {
                let left = LeftBody {
                    after_ms: *after_ms.min(&EXACT),
                    bytes: bytes.map(|bytes| bytes.min(EXACT)),
                };
                NewEvent { cause: Some(*request), body: body(&left)?, ..row(CLIENT_LEFT) }
            }
            Event::AnswerReused(reused) => {
                let AnswerReused { request, content, from_run, from_seq, unreadable, details } =
                    reused;
                let (run, seq, unreadable) = (*from_run, *from_seq, unreadable.clone());
                let answer = details.clone();
                NewEvent {
                    cause: Some(*request),
                    content: Some(content.clone()),
                    body: body(&ReusedBody { answer, run, seq, unreadable })?,
                    ..row(ANSWER_REUSED)
                }
            }
            Event::DecisionMade(DecisionMade { response, by, details }) => NewEvent {
                cause: Some(*response),
                content: Some(Content::from(canonical(by)?)),
                body: details.canonical()?.into(),
                ..row(DECISION_MADE)
            },
            Event::Occurred(FactOccurred { causes, fact }) => {
                NewEvent::occurrence(time, causes, &canonical(fact)?)
            }
            Event::MarkRecorded(mark) => NewEvent { body: body(mark)?, ..row(MARK_RECORDED) },
            Event::Batch(step) => {
                let text = match step {
                    BatchStep::Planned(planned) => body(planned),
                    BatchStep::Uploaded(uploaded) => body(uploaded),
                    BatchStep::Submitted(submitted) => body(submitted),
                    BatchStep::Seen(seen) => body(seen),
                    BatchStep::Ended(ended) => body(ended),
                    BatchStep::Collected(collected) => body(collected),
                };
                NewEvent { body: text?, ..row(step.kind()) }
            }
            Event::LookedAt(looked) => NewEvent { body: body(looked)?, ..row(LOOKED_AT) },
            Event::EventsLost(lost) => NewEvent { body: body(lost)?, ..row(EVENTS_LOST) },
            Event::RunFinished(finished) => NewEvent { body: body(finished)?, ..row(RUN_FINISHED) },
            Event::Unknown(stored) => {
                let StoredEvent { kind, version, call, sample, cause, content, body, .. } =
                    (**stored).clone();
                NewEvent {
                    kind,
                    version,
                    time,
                    call,
                    sample,
                    prompt: request,
                    cause,
                    content,
                    body,
                }
            }
        })
    }

    /// The row of a decision whose body is already canonical: the hot path of a run.
    pub(crate) fn decision(
        time: Time,
        response: Seq,
        by: std::sync::Arc<str>,
        body: String,
    ) -> Self {
        NewEvent {
            cause: Some(response),
            content: Some(Content::Text(by)),
            body: body.into(),
            ..NewEvent::new(DECISION_MADE, time)
        }
    }

    /// The row of an occurrence whose fact is already canonical.
    pub(crate) fn occurrence(time: Time, causes: &[Seq], fact: &str) -> Self {
        let causes: Vec<u64> = causes.iter().map(|c| c.0).collect();
        let body = format!("{{\"causes\":{},\"fact\":{fact}}}", ranges(&spans(&causes)));
        NewEvent { body: body.into(), ..NewEvent::new(OCCURRED, time) }
    }
}

/// The causes of an occurrence as ranges, and the canonical text of its fact.
pub(crate) fn causes_and_fact(body: &str) -> Option<(Vec<(u64, u64)>, &str)> {
    let (causes, fact) = body.strip_prefix("{\"causes\":")?.split_once(",\"fact\":")?;
    Some((pairs(&serde_json::from_str(causes).ok()?)?, fact.strip_suffix('}')?))
}

impl StoredEvent {
    /// The event of a row.
    ///
    /// # Errors
    /// [`EventError`] if a known kind lacks a column or field; unknown kinds are kept as they are.
    pub fn event(&self) -> Result<Event, EventError> {
        if self.version != VERSION {
            return Ok(Event::Unknown(Box::new(self.clone())));
        }
        Ok(match &*self.kind {
            RUN_STARTED => {
                let StartedBody { experiment, forked_from, merged_from, model, program, seed } =
                    self.body()?;
                let settings = self.content()?;
                let settings = serde_json::from_str(settings.text());
                let settings =
                    settings.map_err(|e| self.error(EventDefect::Settings(e.to_string())))?;
                Event::RunStarted(RunStarted {
                    experiment,
                    seed,
                    settings,
                    model,
                    program,
                    forked_from,
                    merged_from,
                })
            }
            RUN_RESUMED => Event::RunResumed(self.body()?),
            REQUEST_SENT => Event::RequestSent(RequestSent {
                call: self.call.clone().ok_or_else(|| self.error(EventDefect::Lacks("call")))?,
                sample: self.sample.ok_or_else(|| self.error(EventDefect::Lacks("sample")))?,
                prompt: self.prompt.ok_or_else(|| self.error(EventDefect::Lacks("prompt")))?,
                because: self.because()?,
                labels: self.labels()?,
            }),
            RESPONSE_RECEIVED => Event::ResponseReceived(ResponseReceived {
                request: self.cause()?,
                content: self.content()?,
                details: self.body()?,
            }),
            ATTEMPT_FAILED => Event::AttemptFailed(AttemptFailed {
                request: self.cause()?,
                details: self.body()?,
            }),
            BODY_PART => {
                let PartBody { base64, of } = self.body()?;
                let (request, content) = (self.cause()?, self.content()?);
                Event::BodyPart(BodyPart { request, of, content, base64 })
            }
            CLIENT_LEFT => {
                let LeftBody { after_ms, bytes } = self.body()?;
                Event::ClientLeft(ClientLeft { request: self.cause()?, after_ms, bytes })
            }
            ANSWER_REUSED => {
                let ReusedBody { answer, run, seq, unreadable } = self.body()?;
                let (request, content) = (self.cause()?, self.content()?);
                let (from_run, from_seq) = (run, seq);
                Event::AnswerReused(AnswerReused {
                    request,
                    content,
                    from_run,
                    from_seq,
                    unreadable,
                    details: answer,
                })
            }
            DECISION_MADE => {
                let by = serde_json::from_str(self.content()?.text());
                let by = by.map_err(|e| self.error(EventDefect::Parser(e.to_string())))?;
                let (response, details) = (self.cause()?, self.decision_details()?);
                Event::DecisionMade(DecisionMade { response, by, details })
            }
            OCCURRED => {
                let (causes, fact) = self.occurrence()?;
                let fact = serde_json::from_str(fact);
                let fact = fact.map_err(|e| self.error(EventDefect::Fact(e.to_string())))?;
                Event::Occurred(FactOccurred { causes, fact })
            }
            MARK_RECORDED => Event::MarkRecorded(self.body()?),
            BATCH_PLANNED => Event::Batch(BatchStep::Planned(self.body()?)),
            BATCH_UPLOADED => Event::Batch(BatchStep::Uploaded(self.body()?)),
            BATCH_SUBMITTED => Event::Batch(BatchStep::Submitted(self.body()?)),
            BATCH_SEEN => Event::Batch(BatchStep::Seen(self.body()?)),
            BATCH_ENDED => Event::Batch(BatchStep::Ended(self.body()?)),
            BATCH_COLLECTED => Event::Batch(BatchStep::Collected(self.body()?)),
            LOOKED_AT => Event::LookedAt(self.body()?),
            EVENTS_LOST => Event::EventsLost(self.body()?),
            RUN_FINISHED => Event::RunFinished(self.body()?),
            _ => Event::Unknown(Box::new(self.clone())),
        })
    }

    /// The causes of an `Occurred` and the canonical text of its fact, without parsing the fact.
    pub(crate) fn occurrence(&self) -> Result<(Vec<Seq>, &str), EventError> {
        let bad = || self.error(EventDefect::NotAnOccurrence);
        let (causes, fact) = causes_and_fact(&self.body).ok_or_else(bad)?;
        let causes = from_ranges(&causes, self.seq.0).ok_or_else(bad)?;
        Ok((causes.into_iter().map(Seq).collect(), fact))
    }

    /// The details of a `ResponseReceived`, besides its content.
    pub(crate) fn details(&self) -> Result<ResponseDetails, EventError> {
        self.body()
    }

    /// The declared sources of the prompt of a `RequestSent`.
    pub(crate) fn because(&self) -> Result<Because, EventError> {
        Because::of_body(&self.body, self.seq).map_err(|e| self.error(e.into()))
    }

    /// The labels of a `RequestSent`.
    ///
    /// # Errors
    /// [`EventError`] if its body is not that of one.
    pub fn labels(&self) -> Result<Labels, EventError> {
        #[derive(Deserialize)]
        struct LabelsBody {
            #[serde(default)]
            labels: Labels,
        }
        // The common case of a question that neither declares nor is labelled anything.
        if self.body == "{}" {
            return Ok(Labels::default());
        }
        self.body().map(|LabelsBody { labels }| labels)
    }

    /// If this is a `RequestSent`: its address and its prompt, without parsing its body.
    pub(crate) fn address_and_prompt(&self) -> Option<(&CallPath, Sample, PromptHash)> {
        let call = self.call.as_ref().filter(|_| self.is_request())?;
        Some((call, self.sample?, self.prompt?))
    }

    /// Whether this is a `DecisionMade`.
    pub fn is_decision(&self) -> bool {
        self.is(DECISION_MADE)
    }

    /// If this is a decision: the canonical text of its [`DecidedBy`](super::DecidedBy).
    pub(crate) fn decided_by(&self) -> Option<&str> {
        self.is_decision().then(|| self.content.as_ref().map_or("", |c| c.text()))
    }

    /// Whether this is a `ResponseReceived`.
    pub fn is_received(&self) -> bool {
        self.is(RESPONSE_RECEIVED)
    }

    /// Whether this is a `RequestSent`.
    pub(crate) fn is_request(&self) -> bool {
        self.is(REQUEST_SENT)
    }

    /// Whether this is an answer: a `ResponseReceived` or an `AnswerReused`.
    pub fn is_answer(&self) -> bool {
        self.is(RESPONSE_RECEIVED) || self.is(ANSWER_REUSED)
    }

    /// Whether this is an `AttemptFailed`.
    pub(crate) fn is_failed_attempt(&self) -> bool {
        self.is(ATTEMPT_FAILED)
    }

    /// Whether this is an `Occurred`.
    pub(crate) fn is_occurrence(&self) -> bool {
        self.is(OCCURRED)
    }

    fn body<T: DeserializeOwned>(&self) -> Result<T, EventError> {
        serde_json::from_str(&self.body).map_err(|e| self.error(EventDefect::Body(e.to_string())))
    }

    fn decision_details(&self) -> Result<DecisionDetails, EventError> {
        let details = DecisionDetails::of_body(&self.body);
        details.map_err(|e| self.error(EventDefect::Body(e.to_string())))
    }

    fn cause(&self) -> Result<Seq, EventError> {
        self.cause.ok_or_else(|| self.error(EventDefect::Lacks("cause")))
    }

    fn content(&self) -> Result<Content, EventError> {
        self.content.clone().ok_or_else(|| self.error(EventDefect::Lacks("content")))
    }

    /// Whether it has a kind in the version that this release reads.
    fn is(&self, kind: &str) -> bool {
        self.kind == kind && self.version == VERSION
    }

    fn error(&self, defect: EventDefect) -> EventError {
        EventError { run: self.run, seq: self.seq, kind: self.kind.to_string(), defect }
    }
}

/// Lets one closure make the canonical text of bodies of different types.
mod erased {
    use super::{CanonicalError, Serialize, canonical};

    pub(super) trait Canonical {
        fn text(&self) -> Result<String, CanonicalError>;
    }

    impl<T: Serialize> Canonical for T {
        fn text(&self) -> Result<String, CanonicalError> {
            canonical(self)
        }
    }
}
