//! Decisions that were made again, as a run of their own.
//!
//! The original run is not changed. The new run has its questions, its answers as `AnswerReused`
//! events that name run and seq, and the new decisions; its settings name the original run with its
//! head. Texts are stored once. Several choices of one answer are decided about as that one answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::accepted_chain::read_decides_about;
use super::import::append;
use crate::content::Content;
pub use crate::event::DECISIONS;
use crate::event::{
    AnswerReused, Because, DecidedBy, DecisionDetails, Event, Labels, NewEvent, OutcomeHasher,
    RequestSent, RunFinished, RunOutcome, RunStarted,
};
use crate::id::{CallPath, RunId, Sample, Seq, Time};
use crate::log::{Backend, Head, LogError, Reader, Scratch};
use crate::prompt::{CanonicalError, Request, canonical};
use crate::run::AnswerDetails;

/// A recorded answer and the decision that is accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedDecision {
    /// The call.
    pub call: CallPath,
    /// Its sample.
    pub sample: Sample,
    /// The labels of the call.
    pub labels: Labels,
    /// The answer.
    pub content: Content,
    /// Its seq in the original run.
    pub seq: Seq,
    /// The parts next to its text.
    pub beside: AnswerDetails,
    /// The parser and method that decided.
    pub by: DecidedBy,
    /// The decision.
    pub details: DecisionDetails,
}

/// A run of decisions about the answers of another run, while it is assembled.
pub struct AcceptedRun {
    of: RunId,
    run: RunId,
    time: Time,
    scratch: Scratch,
    outcome: OutcomeHasher,
    /// The answers so far: by their seq in the original run, in this one.
    answers: BTreeMap<Seq, Seq>,
}

impl AcceptedRun {
    /// A run without decisions so far. `of` is the original run, with its head and its beginning.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn begin(
        run: RunId,
        of: RunId,
        head: Head,
        started: &RunStarted,
        time: Time,
    ) -> Result<Self, LogError> {
        let scratch = Scratch::new(run);
        let outcome = OutcomeHasher::default();
        let mut accepted =
            AcceptedRun { of, run, time, scratch, outcome, answers: BTreeMap::new() };
        let started = RunStarted {
            experiment: DECISIONS.to_owned(),
            settings: json!({"of": {"head": head.hash, "run": of, "seq": head.seq}}),
            program: crate::PROGRAM.to_owned(),
            forked_from: None,
            merged_from: Vec::new(),
            ..started.clone()
        };
        accepted.event(&Event::RunStarted(started), None)?;
        Ok(accepted)
    }

    fn event(&mut self, event: &Event, request: Option<Request>) -> Result<Seq, LogError> {
        let event = NewEvent::from_event(event, self.time, request).map_err(senseless)?;
        self.add(event)
    }

    fn add(&mut self, event: NewEvent) -> Result<Seq, LogError> {
        let event = self.scratch.link(event);
        let seq = event.head().seq;
        self.scratch.add(event)?;
        Ok(seq)
    }

    /// Adds a decision; `request` is the request that was answered.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn decision(
        &mut self,
        accepted: AcceptedDecision,
        request: Request,
    ) -> Result<(), LogError> {
        let AcceptedDecision { call, sample, labels, content, seq: from_seq, beside, by, details } =
            accepted;
        let response = match self.answers.get(&from_seq) {
            Some(response) => *response,
            None => {
                let sent = RequestSent {
                    call: call.clone(),
                    sample,
                    prompt: request.hash(),
                    because: Because::default(),
                    labels,
                };
                let request = self.event(&Event::RequestSent(sent), Some(request))?;
                let from_run = self.of;
                let unreadable = beside.unreadable().map(str::to_owned);
                let kept = beside.details().as_ref().clone();
                let reused = AnswerReused {
                    request,
                    content,
                    from_run,
                    from_seq,
                    unreadable,
                    details: kept,
                };
                let response = self.event(&Event::AnswerReused(reused), None)?;
                self.answers.insert(from_seq, response);
                response
            }
        };
        let by: Arc<str> = canonical(&by).map_err(senseless)?.into();
        let body = details.canonical().map_err(senseless)?;
        let made = NewEvent::decision(self.time, response, by.clone(), body.clone());
        let seq = self.add(made)?;
        self.outcome.decision(seq, &call, sample, &by, &body);
        Ok(())
    }

    /// The number of decisions.
    pub fn len(&self) -> usize {
        self.outcome.len()
    }

    /// Whether there are no decisions.
    pub fn is_empty(&self) -> bool {
        self.outcome.is_empty()
    }

    /// The run in which the same decisions about the same run were accepted before, if no others
    /// were accepted since.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn earlier_run(&self, reader: &mut dyn Reader) -> Result<Option<RunId>, LogError> {
        let digest = self.outcome.clone().digest();
        for head in reader.runs()?.into_iter().rev() {
            if read_decides_about(reader, head.run)? != Some(self.of) {
                continue;
            }
            let before = Seq(head.head.seq.0.saturating_sub(1));
            let last = reader.events(head.run, before, 1)?.pop();
            let Some(Ok(Event::RunFinished(finished))) = last.map(|last| last.event()) else {
                return Ok(None);
            };
            return Ok((finished.outcome_digest == digest).then_some(head.run));
        }
        Ok(None)
    }

    /// Adds the run to a log: all of it or nothing.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn store(mut self, backend: &dyn Backend) -> Result<RunId, LogError> {
        let (digest, root) = (self.outcome.digest(), self.scratch.events_root());
        let finished = RunFinished::new(RunOutcome::Finished, digest, root);
        self.event(&Event::RunFinished(finished.clone()), None)?;
        store_scratch(self.scratch, self.run, backend)?;
        Ok(self.run)
    }
}

/// Adds a run that was put together to a log: all of it or nothing. Returns its head.
fn store_scratch(scratch: Scratch, run: RunId, backend: &dyn Backend) -> Result<Head, LogError> {
    let head = scratch.head();
    let log = scratch.finish()?;
    let _lease = backend.lease(run)?;
    let (mut reader, mut committer) = (log.reader()?, backend.committer()?);
    append(reader.as_mut(), run, Head::START, run, committer.as_mut(), |event, _| Ok(event))?;
    committer.flush()?;
    Ok(head)
}

/// Adds a run that has a beginning and an end, and nothing between them, such as a plan. Returns its head.
///
/// # Errors
/// [`LogError`].
pub fn store_statement(
    backend: &dyn Backend,
    run: RunId,
    time: Time,
    started: RunStarted,
) -> Result<Head, LogError> {
    let mut scratch = Scratch::new(run);
    let started = NewEvent::from_event(&Event::RunStarted(started), time, None);
    scratch.add(scratch.link(started.map_err(senseless)?))?;
    let digest = OutcomeHasher::default().digest();
    let finished = RunFinished::new(RunOutcome::Finished, digest, scratch.events_root());
    let finished = NewEvent::from_event(&Event::RunFinished(finished), time, None);
    scratch.add(scratch.link(finished.map_err(senseless)?))?;
    store_scratch(scratch, run, backend)
}

fn senseless(error: CanonicalError) -> LogError {
    LogError::failure("the run", error)
}
