//! A run that is put together from a file, and stored whole or not at all.

use std::time::Duration;

use serde_json::Value;

use super::import::{append, with_root};
use crate::event::kind::{RUN_FINISHED, RUN_STARTED};
use crate::event::{
    AttemptDetails, AttemptFailed, Because, ClientLeft, DecidedBy, DecisionDetails, DecisionMade,
    Event, ExchangesHasher, Labels, MerkleTree, NewEvent, RequestSent, ResponseDetails,
    ResponseReceived, RunFinished, RunOutcome, RunStarted,
};
use crate::id::{CallPath, RunId, Sample, Seq, Time};
use crate::log::{Backend, Head, LogError, Scratch, SharedBackend};
use crate::model::Response;
use crate::prompt::{Request, canonical};
use crate::run::content_and_details;

/// The id of the run until it is stored.
const NAMELESS: RunId = RunId([0; 8]);

/// Puts a run together: questions, answers, failed attempts, and decisions that a file has.
pub struct Collector {
    /// What errors call it.
    name: String,
    time: Time,
    scratch: Scratch,
    outcome: ExchangesHasher,
}

impl Collector {
    /// Begins a run at a time. How it began is given to [`Self::finish`], because some of it is
    /// known only when everything was read. `name` is used in errors.
    ///
    /// # Errors
    /// [`LogError`] if there is no room for it.
    pub fn begin(name: String, started: RunStarted, time: Time) -> Result<Self, LogError> {
        let mut collector = Collector {
            name,
            time,
            scratch: Scratch::new(NAMELESS),
            outcome: ExchangesHasher::default(),
        };
        collector.add(Event::RunStarted(started), None)?;
        Ok(collector)
    }

    /// Adds a question.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn add_question(
        &mut self,
        call: CallPath,
        sample: Sample,
        request: Request,
        labels: Labels,
    ) -> Result<Seq, LogError> {
        let (prompt, because) = (request.hash(), Because::default());
        let sent = RequestSent { call: call.clone(), sample, prompt, because, labels };
        let seq = self.add(Event::RequestSent(sent), Some(request))?;
        self.outcome.question(seq, &call, sample, prompt);
        Ok(seq)
    }

    /// Adds the answer to a question. The label is kept as the file has it, for export.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn add_answer(
        &mut self,
        request: Seq,
        response: Response,
        latency: Duration,
        label: Option<Value>,
    ) -> Result<Seq, LogError> {
        let (content, details) = content_and_details(response);
        let latency_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        let details = ResponseDetails { label, latency_ms, ..details };
        let received = ResponseReceived { request, content, details };
        let seq = self.add(Event::ResponseReceived(received.clone()), None)?;
        self.outcome.answer(seq, request, &received.content, &received.details);
        Ok(seq)
    }

    /// Adds a decision about an answer.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn add_decision(
        &mut self,
        response: Seq,
        by: DecidedBy,
        details: DecisionDetails,
    ) -> Result<Seq, LogError> {
        let failed = |error| LogError::failure(self.name.clone(), error);
        let decided = canonical(&by).and_then(|by| Ok((by, details.canonical()?)));
        let (of, body) = decided.map_err(failed)?;
        let seq = self.add(Event::DecisionMade(DecisionMade { response, by, details }), None)?;
        self.outcome.decision(seq, response, &of, &body);
        Ok(seq)
    }

    /// Adds a failed attempt.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn add_failure(&mut self, request: Seq, details: AttemptDetails) -> Result<Seq, LogError> {
        self.add(Event::AttemptFailed(AttemptFailed { request, details }), None)
    }

    /// Adds how a question's client left, behind what it did not have to its end.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn add_departure(&mut self, left: ClientLeft) -> Result<Seq, LogError> {
        self.add(Event::ClientLeft(left), None)
    }

    /// Ends the run; one that is not `complete` can be resumed.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn finish(mut self, started: RunStarted, complete: bool) -> Result<CollectedRun, LogError> {
        let root = self.scratch.events_root();
        let finished = RunFinished::new(RunOutcome::Finished, self.outcome.digest(), root);
        if complete {
            self.add(Event::RunFinished(finished.clone()), None)?;
        }
        let first = self.new_event(&Event::RunStarted(started), None)?;
        Ok(CollectedRun { log: self.scratch.finish()?, first, finished })
    }

    fn new_event(&self, event: &Event, request: Option<Request>) -> Result<NewEvent, LogError> {
        NewEvent::from_event(event, self.time, request)
            .map_err(|error| LogError::failure(self.name.clone(), error))
    }

    fn add(&mut self, event: Event, request: Option<Request>) -> Result<Seq, LogError> {
        let event = self.scratch.link(self.new_event(&event, request)?);
        let seq = event.head().seq;
        self.scratch.add(event)?;
        Ok(seq)
    }
}

/// A run that was put together, in a log of its own.
pub struct CollectedRun {
    log: SharedBackend,
    /// Its first event, as it will be stored.
    first: NewEvent,
    /// Its end.
    finished: RunFinished,
}

impl CollectedRun {
    /// The log with the run, and the run's id in it. The log is deleted when it is dropped.
    pub fn into_log(self) -> (SharedBackend, RunId) {
        (self.log, NAMELESS)
    }

    /// Adds the run to a log: all or nothing.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn store(self, backend: &dyn Backend, run: RunId) -> Result<(), LogError> {
        let _lease = backend.lease(run)?;
        let (mut reader, mut committer) = (self.log.reader()?, backend.committer()?);
        let change = |event: NewEvent, tree: &MerkleTree| match &*event.kind {
            RUN_STARTED => Ok(self.first.clone()),
            RUN_FINISHED => with_root(event, &self.finished, tree),
            _ => Ok(event),
        };
        append(reader.as_mut(), NAMELESS, Head::START, run, committer.as_mut(), change)?;
        committer.flush().map(drop)
    }
}
