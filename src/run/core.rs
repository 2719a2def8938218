//! One question from asking to answer: the record first, then the model, with retries.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::clock::{self, Stopwatch};
use super::history::{History, Recorded};
use super::mode::{Mode, Source};
use super::outcomes::{NewDecision, Outcomes};
use super::question::{Answer, Asked, CallFailed, DecisionRef, Question, Reuse};
use super::stop::Stop;
use crate::content::Content;
use crate::event::{
    AnswerReused, AttemptDetails, AttemptFailed, Event, NewEvent, RequestSent, ResponseDetails,
    ResponseReceived,
};
use crate::id::{PromptHash, Seq};
use crate::log::{Durable, RunWriter};
use crate::lookup::LookupMap;
use crate::model::{Answerer, Ask, Failure, FailureKind, Permit, Response, RetryPolicy, Throttle};
use crate::parse::Parser;
use crate::prompt::{Request, canonical};

/// How far a run is; handed to whoever shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Answers so far, recorded or new.
    pub exchanges: u64,
    /// Of these, how many a model gave just now.
    pub live: u64,
    /// Attempts put to a model, failed ones included.
    pub model_calls: u64,
    /// Calls that failed after all retries.
    pub failed: u64,
    /// Decisions so far.
    pub decisions: u64,
    /// How many answers the experiment expects in all; 0 if it has not said.
    pub expected: u64,
}

/// A way to ask a run to stop: what is in flight is finished and recorded.
#[derive(Debug, Clone, Default)]
pub struct Signal(Arc<(AtomicBool, Notify)>);

impl Signal {
    /// Asks the run to stop.
    pub fn stop(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        self.0.1.notify_waiters();
    }

    /// Whether the run was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Waits until the run is asked to stop.
    async fn stopped(&self) {
        while !self.is_stopped() {
            self.pause(Duration::from_secs(3600)).await;
        }
    }

    /// Waits for a while, or until the run is asked to stop.
    async fn pause(&self, wait: Duration) {
        let stopped = self.0.1.notified();
        tokio::pin!(stopped);
        // From here on a notification is not missed; then look once more.
        stopped.as_mut().enable();
        if !self.is_stopped() {
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stopped => {}
            }
        }
    }
}

/// What all parts of one run share.
pub(super) struct Core {
    pub(super) mode: Mode,
    pub(super) seed: u64,
    pub(super) model: Option<Answerer>,
    pub(super) retry: RetryPolicy,
    pub(super) throttle: Throttle,
    pub(super) signal: Signal,
    pub(super) writer: RefCell<Option<RunWriter>>,
    pub(super) history: RefCell<Option<History>>,
    pub(super) outcomes: Outcomes,
    pub(super) progress: Cell<Progress>,
    pub(super) on_progress: Box<dyn Fn(Progress)>,
    /// Fingerprints of the addresses asked so far: an address has one answer.
    pub(super) asked: RefCell<LookupMap<[u8; 16], ()>>,
    /// Answers that later questions of the same prompt may share.
    pub(super) shared: RefCell<BTreeMap<PromptHash, (Seq, Content)>>,
}

/// An answer before it is parsed.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    pub(super) seq: Seq,
    pub(super) content: Content,
}

/// How a question ended: answered, or failed after all retries.
pub(super) type Exchanged = Result<Answered, CallFailed>;

impl Core {
    pub(super) fn update(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = self.progress.get();
        change(&mut progress);
        self.progress.set(progress);
        (self.on_progress)(progress);
    }

    /// The recorded end of a question, or `None` if the model has to be asked. Never waits.
    pub(super) fn recorded(&self, asked: &Asked) -> Result<Option<Exchanged>, Stop> {
        self.first_time(asked)?;
        let found = match self.history.borrow_mut().as_mut() {
            Some(history) => history.take(asked)?,
            None => None,
        };
        match self.mode.source(asked, found)? {
            Source::Model => Ok(None),
            Source::Log(Recorded { seq, result }) => {
                let exchanged = match result {
                    Ok(content) => Ok(Answered { seq, content }),
                    Err(failure) => Err(call_failed(asked, failure)),
                };
                self.count(asked, &exchanged, false);
                Ok(Some(exchanged))
            }
        }
    }

    fn first_time(&self, asked: &Asked) -> Result<(), Stop> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(asked.call.as_str().as_bytes()).update(&asked.sample.to_le_bytes());
        let mut key = [0; 16];
        hasher.finalize_xof().fill(&mut key);
        match self.asked.borrow_mut().insert(key, ()) {
            None => Ok(()),
            Some(()) => {
                let Asked { call, sample, .. } = asked.clone();
                Err(Stop::AskedTwice { call, sample })
            }
        }
    }

    fn count(&self, asked: &Asked, exchanged: &Exchanged, live: bool) {
        if let (Reuse::Shared, Ok(answered)) = (asked.reuse, exchanged) {
            let value = (answered.seq, answered.content.clone());
            self.shared.borrow_mut().entry(asked.prompt()).or_insert(value);
        }
        self.update(|p| match exchanged {
            Ok(_) => {
                p.exchanges += 1;
                p.live += u64::from(live);
            }
            Err(_) => p.failed += 1,
        });
    }

    /// Asks the model, after [`Core::recorded`] found nothing.
    pub(super) async fn live(&self, asked: &Asked) -> Result<Exchanged, Stop> {
        let exchanged = self.ask_model(asked).await?;
        self.count(asked, &exchanged, true);
        Ok(exchanged)
    }

    async fn ask_model(&self, asked: &Asked) -> Result<Exchanged, Stop> {
        let Asked { call, sample, request, reuse } = asked;
        let Some(model) = self.model.as_ref() else { return Err(Stop::EndOfRecord) };
        let mut permit = self.permit().await?;
        let sent = Event::RequestSent(RequestSent {
            call: call.clone(),
            sample: *sample,
            prompt: request.hash(),
        });
        let sent = self.submit(&sent, Some(request.clone()))?;
        let shared = match reuse {
            Reuse::Shared => self.shared.borrow().get(&request.hash()).cloned(),
            Reuse::Exact => None,
        };
        if let Some((from_seq, content)) = shared {
            return Ok(Ok(self.reuse(sent, from_seq, content).await?));
        }
        let mut retry = self.retry.start();
        let mut attempt = 0;
        loop {
            let ask = Ask { request, call, sample: *sample, attempt };
            self.update(|p| p.model_calls += 1);
            let watch = Stopwatch::start();
            let limit = self.throttle.limits().timeout();
            let failure = match tokio::time::timeout(limit, model.answer(ask)).await {
                Ok(Ok(response)) => {
                    return Ok(Ok(self.receive(sent, response, watch.elapsed()).await?));
                }
                Ok(Err(failure)) => failure,
                Err(_) => {
                    let message = format!("no answer within {} s", limit.as_secs_f64());
                    Failure::new(FailureKind::Timeout, message)
                }
            };
            tracing::debug!(%call, sample, attempt, %failure, "attempt failed");
            let stops = failure.kind.stops_the_run();
            let wait = if stops { None } else { retry.after(&failure) };
            let gave_up = !stops && wait.is_none();
            let durable = self.fail(sent, attempt, &failure, gave_up)?;
            match wait {
                Some(wait) => {
                    // Whoever waits lets others ask.
                    drop(permit);
                    self.signal.pause(wait).await;
                    permit = self.permit().await?;
                    attempt += 1;
                }
                None => {
                    durable.wait().await?;
                    let CallFailed { call, sample, failure } = call_failed(asked, failure);
                    return match stops {
                        true => Err(Stop::Model { call, sample, failure }),
                        false => Ok(Err(CallFailed { call, sample, failure })),
                    };
                }
            }
        }
    }

    /// Waits for the right to make one attempt, or until the run is asked to stop.
    async fn permit(&self) -> Result<Permit<'_>, Stop> {
        tokio::select! {
            biased;
            () = self.signal.stopped() => Err(Stop::Interrupted),
            permit = self.throttle.acquire() => Ok(permit),
        }
    }

    /// Records an answer; it is handed on only once it is on disk.
    async fn receive(
        &self,
        request: Seq,
        response: Response,
        latency: Duration,
    ) -> Result<Answered, Stop> {
        let Response { content, finish_reason, usage, model, extra } = response;
        let usage = usage.unwrap_or_default();
        let details = ResponseDetails {
            finish_reason,
            latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
            model,
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            extra,
        };
        let received = ResponseReceived { request, content: content.clone(), details };
        let (seq, durable) = self.submit_durable(&Event::ResponseReceived(received))?;
        durable.wait().await?;
        Ok(Answered { seq, content })
    }

    async fn reuse(&self, request: Seq, from_seq: Seq, content: Content) -> Result<Answered, Stop> {
        let Some(from_run) = self.writer.borrow().as_ref().map(RunWriter::run) else {
            return Err(Stop::EndOfRecord);
        };
        let reused = AnswerReused { request, content: content.clone(), from_run, from_seq };
        let (seq, durable) = self.submit_durable(&Event::AnswerReused(reused))?;
        durable.wait().await?;
        Ok(Answered { seq, content })
    }

    fn fail(
        &self,
        request: Seq,
        attempt: u32,
        failure: &Failure,
        gave_up: bool,
    ) -> Result<Durable, Stop> {
        let kind = serde_json::to_value(failure.kind).unwrap_or_default();
        let wait = failure.retry_after.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        let details = AttemptDetails {
            attempt,
            error: failure.message.clone(),
            gave_up,
            failure: kind.as_str().unwrap_or_default().to_owned(),
            retry_after_ms: wait,
            status: failure.status,
        };
        let failed = Event::AttemptFailed(AttemptFailed { request, details });
        Ok(self.submit_durable(&failed)?.1)
    }

    pub(super) fn submit(&self, event: &Event, request: Option<Request>) -> Result<Seq, Stop> {
        let event = NewEvent::from_event(event, clock::now(), request)?;
        match self.writer.borrow_mut().as_mut() {
            Some(writer) => Ok(writer.submit(event)?),
            None => Err(Stop::EndOfRecord),
        }
    }

    pub(super) fn submit_durable(&self, event: &Event) -> Result<(Seq, Durable), Stop> {
        let event = NewEvent::from_event(event, clock::now(), None)?;
        match self.writer.borrow_mut().as_mut() {
            Some(writer) => Ok(writer.submit_durable(event)?),
            None => Err(Stop::EndOfRecord),
        }
    }

    /// Parses an answer. The decision is not logged yet.
    pub(super) fn parse<P: Parser>(
        &self,
        question: &Question<P>,
        answered: Answered,
    ) -> Result<(Answer<P::Value>, NewDecision), Stop> {
        let Answered { seq: response, content } = answered;
        let parsed = question.parser.parse(content.text());
        let body = canonical(&parsed)?;
        let Asked { call, sample, .. } = &question.asked;
        let decision = NewDecision {
            call: call.clone(),
            sample: *sample,
            response,
            parser: question.parser.spec_text().clone(),
            body,
        };
        let answer = Answer {
            value: parsed.value,
            method: parsed.method,
            reasoning: parsed.reasoning,
            warnings: parsed.warnings,
            content,
            response,
            decision: DecisionRef::new(Seq(0)),
        };
        Ok((answer, decision))
    }

    /// Logs a decision.
    pub(super) fn decide(&self, decision: NewDecision, known_as: &DecisionRef) -> Result<(), Stop> {
        let seq = self.outcomes.decide(self.mode, &self.history, &self.writer, decision)?;
        known_as.0.set(seq);
        self.update(|p| p.decisions += 1);
        Ok(())
    }

    /// Logs a fact.
    pub(super) fn occur(&self, causes: &[DecisionRef], fact: &str) -> Result<Seq, Stop> {
        let mut causes: Vec<Seq> = causes.iter().map(DecisionRef::seq).collect();
        causes.sort_unstable();
        causes.dedup();
        self.outcomes.occur(self.mode, &self.history, &self.writer, &causes, fact)
    }
}

fn call_failed(asked: &Asked, failure: Failure) -> CallFailed {
    CallFailed { call: asked.call.clone(), sample: asked.sample, failure }
}

/// Shared by everything that runs on the thread of a run.
pub(super) type SharedCore = Rc<Core>;
