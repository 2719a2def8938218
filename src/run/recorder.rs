//! Records exchanges that a program makes by itself, in the events of any other run.

use std::time::Duration;

use serde_json::Value;

use super::clock;
use super::details::content_and_details;
use super::lanes::ReportedOutcome;
use crate::event::{
    AnswerReused, AttemptDetails, AttemptFailed, BatchStep, Because, BodyPart, ClientLeft, Event,
    Labels, NewEvent, RequestSent, ResponseDetails, ResponseReceived, RunFinished, RunOutcome,
    RunResumed, RunStarted,
};
use crate::id::{CallPath, OutcomeDigest, RunId, Sample, Seq};
use crate::log::{Durable, Log, LogError, RunWriter, events_root, outcome_digest};
use crate::model::{Failure, Response};
use crate::prompt::{CanonicalError, Request};

/// Why something cannot be recorded.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum RecorderError {
    /// The log cannot be written.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The event has no canonical form.
    #[error(transparent)]
    Event(#[from] CanonicalError),
}

/// The event of an answer.
pub(super) fn response_event(
    request: Seq,
    response: Response,
    latency: Duration,
) -> ResponseReceived {
    let (content, details) = content_and_details(response);
    let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
    ResponseReceived { request, content, details: ResponseDetails { latency_ms, ..details } }
}

/// The details that are kept of a failed attempt.
pub(super) fn attempt_details(attempt: u32, failure: &Failure, gave_up: bool) -> AttemptDetails {
    let wait = failure.retry_after.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
    AttemptDetails {
        attempt,
        batch: None,
        error: failure.message.clone(),
        gave_up,
        failure: failure.kind.as_str().to_owned(),
        from: None,
        http: None,
        retry_after_ms: wait,
        status: failure.status,
    }
}

/// Records a run whose requests somebody else makes: a program behind a proxy. It has the events
/// of any other run, and the decisions and facts that the program reports. Each is written as soon as
/// it happens.
pub struct Recorder(RunWriter);

impl Recorder {
    /// Begins a run.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub async fn begin(log: &Log, run: RunId, started: RunStarted) -> Result<Self, RecorderError> {
        let mut recorder = Recorder(log.begin(run)?);
        recorder.submit(&Event::RunStarted(started))?.1.wait().await?;
        Ok(recorder)
    }

    /// Takes the right to continue a run. Nothing is recorded before [`Recorder::record_resumption`].
    ///
    /// # Errors
    /// [`RecorderError`], including when another process is writing the run.
    pub fn go_on(log: &Log, run: RunId) -> Result<Self, RecorderError> {
        Ok(Recorder(log.go_on(run)?))
    }

    /// Records that the run is continued.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub async fn record_resumption(&mut self, resumed: RunResumed) -> Result<(), RecorderError> {
        Ok(self.submit(&Event::RunResumed(resumed))?.1.wait().await?)
    }

    /// Records that a question was asked. The event becomes durable with the next one.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_question(
        &mut self,
        call: CallPath,
        sample: Sample,
        request: Request,
        because: Because,
        labels: Labels,
    ) -> Result<Seq, RecorderError> {
        let prompt = request.hash();
        let sent = RequestSent { call, sample, prompt, because, labels };
        let event = NewEvent::from_event(&Event::RequestSent(sent), clock::now(), Some(request))?;
        Ok(self.0.submit(event)?)
    }

    /// Records a part of a long body. The event becomes durable with the next one.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_part(&mut self, part: BodyPart) -> Result<Seq, RecorderError> {
        let event = NewEvent::from_event(&Event::BodyPart(part), clock::now(), None)?;
        Ok(self.0.submit(event)?)
    }

    /// Records an answer.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_answer(
        &mut self,
        request: Seq,
        response: Response,
        latency: Duration,
    ) -> Result<(Seq, Durable), RecorderError> {
        self.submit(&Event::ResponseReceived(response_event(request, response, latency)))
    }

    /// Records that the client of a call hung up. Call it after the attempt that the client did not wait for.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn client_left(&mut self, left: ClientLeft) -> Result<(Seq, Durable), RecorderError> {
        self.submit(&Event::ClientLeft(left))
    }

    /// Records that a recorded answer was used again.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_reuse(&mut self, reused: AnswerReused) -> Result<(Seq, Durable), RecorderError> {
        self.submit(&Event::AnswerReused(reused))
    }

    /// Records a failed attempt, with how it travelled to the program: see [`AttemptDetails`].
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_failure(
        &mut self,
        request: Seq,
        attempt: u32,
        failure: &Failure,
        gave_up: bool,
        http: Option<Value>,
    ) -> Result<(Seq, Durable), RecorderError> {
        let details = AttemptDetails { http, ..attempt_details(attempt, failure, gave_up) };
        self.failed_as(request, details)
    }

    /// Records a step of a batch.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_batch(&mut self, step: BatchStep) -> Result<(Seq, Durable), RecorderError> {
        self.submit(&Event::Batch(step))
    }

    /// Records an answer that a batch brought. How long it took is not known. The event becomes durable with the next one that is waited
    /// for.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_line(
        &mut self,
        request: Seq,
        response: Response,
        batch: u64,
    ) -> Result<Seq, RecorderError> {
        let mut received = response_event(request, response, Duration::ZERO);
        received.details.batch = Some(batch);
        let event = NewEvent::from_event(&Event::ResponseReceived(received), clock::now(), None)?;
        Ok(self.0.submit(event)?)
    }

    /// Records that a line of a batch failed, with the number of the batch and what a program is sent instead of an answer. The event becomes durable with the next one that is waited for.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_line_failure(
        &mut self,
        request: Seq,
        attempt: u32,
        failure: &Failure,
        gave_up: bool,
        (batch, http): (u64, Option<Value>),
    ) -> Result<Seq, RecorderError> {
        let batch = Some(batch);
        let details = AttemptDetails { batch, http, ..attempt_details(attempt, failure, gave_up) };
        let failed = Event::AttemptFailed(AttemptFailed { request, details });
        Ok(self.0.submit(NewEvent::from_event(&failed, clock::now(), None)?)?)
    }

    /// Records a failed attempt as another run has it.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn failed_as(
        &mut self,
        request: Seq,
        details: AttemptDetails,
    ) -> Result<(Seq, Durable), RecorderError> {
        self.submit(&Event::AttemptFailed(AttemptFailed { request, details }))
    }

    /// Records a decision or a fact that the program reports.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub fn record_outcome(
        &mut self,
        outcome: &ReportedOutcome,
    ) -> Result<(Seq, Durable), RecorderError> {
        self.submit(&outcome.event())
    }

    /// Records the end of the run.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub async fn finish(mut self, log: &Log) -> Result<OutcomeDigest, RecorderError> {
        // Everything that is read below must be stored first.
        self.0.flush();
        let run = self.0.run();
        let mut reader = log.reader()?;
        let digest = outcome_digest(reader.as_mut(), run)?;
        let root = match self.0.events_root() {
            Some(root) => root,
            None => events_root(reader.as_mut(), run)?,
        };
        let finished = RunFinished::new(RunOutcome::Finished, digest, root);
        self.submit(&Event::RunFinished(finished))?.1.wait().await?;
        Ok(digest)
    }

    /// Waits until everything that was recorded is on disk.
    pub fn flush(&self) {
        self.0.flush();
    }

    fn submit(&mut self, event: &Event) -> Result<(Seq, Durable), RecorderError> {
        let event = NewEvent::from_event(event, clock::now(), None)?;
        Ok(self.0.submit_durable(event)?)
    }
}
