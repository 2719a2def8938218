//! The record of one run in a log: its beginning, its end and its facts, and its exchanges on request.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::addresses::{Addresses, ExchangePlaces, PlaceCollector};
use super::details::{AnswerDetails, Shortcomings};
use super::near::Near;
use super::resumptions::continue_start;
use crate::content::Content;
use crate::event::{DecisionMade, Event, RunFinished, RunStarted, StoredEvent, kind};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::log::{EventFault, Index, LogError, Reader, RunEvents, each_event_at};

/// A run as recorded in its log: its beginning, its end and its facts, and its exchanges on
/// request.
pub struct RunRecord<'a> {
    reader: &'a mut dyn Reader,
    /// The run.
    pub run: RunId,
    /// How it began, with what its continuations changed: see [`latest_start`](super::latest_start).
    pub started: RunStarted,
    /// How it ended, if it did.
    pub finished: Option<RunFinished>,
    /// When its first event happened.
    pub first: Time,
    /// When its last event happened.
    pub last: Time,
    /// How many requests it sent.
    pub requests: u64,
    /// How many answers it holds.
    pub answers: u64,
    /// How many of them were recorded before, in this run or another: no model was asked.
    pub reused: u64,
    /// How many decisions.
    pub decisions: u64,
    /// How many attempts that failed.
    pub failed_attempts: u64,
    /// How many events.
    pub events: u64,
    /// The experiment's facts, in order.
    pub facts: Vec<Value>,
    /// Where and when each of them was recorded.
    pub places: Vec<EventPlace>,
    index: Index,
    addresses: Option<Addresses>,
    near: Near,
}

/// Where an event is in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPlace {
    /// Its place in the run.
    pub seq: Seq,
    /// When it happened.
    pub time: Time,
}

/// Where a question and its answer are in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangePlace {
    /// The hash of the request.
    pub prompt: PromptHash,
    /// The event of the question.
    pub request: Seq,
    /// The event of the answer, if there is one.
    pub answer: Option<Seq>,
    /// The last attempt, if the call ran out of retries.
    pub failure: Option<Seq>,
    /// The event of the decision made from it, if one was made.
    pub decision: Option<Seq>,
}

impl<'a> RunRecord<'a> {
    /// Reads a run: only its first and last events, its facts, and the events that the log has no
    /// index for.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn read(reader: &'a mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let (first, mut started) = beginning(reader, run)?;
        let index = Index::open(reader, run)?;
        let census = index.census(reader)?;
        continue_start(&mut started, reader, run, &census)?;
        let count = |kind: &str| census.events.get(kind).copied().unwrap_or(0);
        let end = reader.events(run, Seq(index.end().0.saturating_sub(1)), 1)?.pop();
        let last = end.as_ref().map_or(first, |end| end.time);
        let finished = match end.map(|end| end.event()).transpose()? {
            Some(Event::RunFinished(finished)) => Some(finished),
            _ => None,
        };
        let mut record = RunRecord {
            reader,
            run,
            started,
            finished,
            first,
            last,
            requests: count(kind::REQUEST_SENT),
            answers: count(kind::RESPONSE_RECEIVED) + count(kind::ANSWER_REUSED),
            reused: count(kind::ANSWER_REUSED),
            decisions: count(kind::DECISION_MADE),
            failed_attempts: count(kind::ATTEMPT_FAILED),
            events: index.end().0,
            facts: Vec::new(),
            places: Vec::new(),
            index,
            addresses: None,
            near: Near::default(),
        };
        let places = record.index.facts(record.reader)?;
        let (facts, seqs) = (&mut record.facts, &mut record.places);
        each_event_at(record.reader, run, &places, |stored| {
            if let Event::Occurred(occurred) = stored.event()? {
                facts.push(occurred.fact);
                seqs.push(EventPlace { seq: stored.seq, time: stored.time });
            }
            Ok::<(), LogError>(())
        })?;
        Ok(record)
    }

    /// Completes the record as if the run had ended in this way at this time, so that outputs made
    /// from it equal those made from the finished run.
    pub(super) fn will_end(&mut self, finished: RunFinished, time: Time) {
        self.finished = Some(finished);
        self.last = time;
        self.events += 1;
    }

    /// Where the samples of a call and their answers are.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn samples(
        &mut self,
        call: &CallPath,
    ) -> Result<BTreeMap<Sample, ExchangePlace>, LogError> {
        let maybe = self.index.calls(self.reader, call)?;
        let mut asked = BTreeMap::new();
        each_event_at(self.reader, self.run, &maybe, |stored| {
            if let Event::RequestSent(sent) = stored.event()?
                && sent.call == *call
            {
                asked.insert(sent.sample, sent.prompt);
            }
            Ok::<(), LogError>(())
        })?;
        let mut exchanges = BTreeMap::new();
        for (sample, prompt) in asked {
            if let Some(ExchangePlaces { request, answer, failure, decision }) =
                self.places_of(call, sample)?
            {
                let exchange = ExchangePlace { prompt, request, answer, failure, decision };
                exchanges.insert(sample, exchange);
            }
        }
        Ok(exchanges)
    }

    /// How many of its answers are blank, refused, cut off or unreadable. Reads the run once more, which
    /// takes a while if it is long.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn shortcomings(&mut self) -> Result<Shortcomings, LogError> {
        let (mut events, mut all) = (RunEvents::new(self.run), Shortcomings::default());
        while let Some(stored) = events.next(self.reader)? {
            let Some((content, beside)) = answer(stored.event()?) else { continue };
            all += beside.shortcomings(&content);
        }
        Ok(all)
    }

    /// The given calls, in the order of their names. Reads the run once more.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn calls(
        &mut self,
        wanted: &dyn Fn(&CallPath) -> bool,
    ) -> Result<BTreeSet<CallPath>, LogError> {
        let (mut events, mut calls) = (RunEvents::new(self.run), BTreeSet::new());
        while let Some(event) = events.next(self.reader)? {
            calls.extend(event.call.filter(|call| wanted(call)));
        }
        Ok(calls)
    }

    /// Where a question and its answer are. The first call of this reads the run once more.
    fn places_of(
        &mut self,
        call: &CallPath,
        sample: Sample,
    ) -> Result<Option<ExchangePlaces>, LogError> {
        let addresses = match self.addresses.take() {
            Some(addresses) => addresses,
            None => addresses(self.reader, self.run)?,
        };
        let addresses = self.addresses.insert(addresses);
        Ok(addresses.places(call, sample))
    }

    /// The recorded answer of a call; for an embedding, the vector as text.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn answer(&mut self, call: &CallPath, sample: Sample) -> Result<Option<Content>, LogError> {
        Ok(self.answer_with_time(call, sample)?.map(|(_, content)| content))
    }

    /// The recorded answer of a call, and when it arrived.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn answer_with_time(
        &mut self,
        call: &CallPath,
        sample: Sample,
    ) -> Result<Option<(Time, Content)>, LogError> {
        let Some(seq) = self.places_of(call, sample)?.and_then(|places| places.answer) else {
            return Ok(None);
        };
        Ok(self.event(seq)?.and_then(|stored| Some((stored.time, stored.content?))))
    }

    /// Why a call ran out of retries, if it did.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn failure(&mut self, call: &CallPath, sample: Sample) -> Result<Option<String>, LogError> {
        let Some(seq) = self.places_of(call, sample)?.and_then(|places| places.failure) else {
            return Ok(None);
        };
        let event = self.event(seq)?.map(|stored| stored.event()).transpose();
        Ok(match event? {
            Some(Event::AttemptFailed(attempt)) => Some(attempt.details.error),
            _ => None,
        })
    }

    /// The recorded decision on a call.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn decision(
        &mut self,
        call: &CallPath,
        sample: Sample,
    ) -> Result<Option<DecisionMade>, LogError> {
        let Some(seq) = self.places_of(call, sample)?.and_then(|places| places.decision) else {
            return Ok(None);
        };
        let event = self.event(seq)?.map(|stored| stored.event()).transpose();
        Ok(match event? {
            Some(Event::DecisionMade(decision)) => Some(decision),
            _ => None,
        })
    }

    fn event(&mut self, seq: Seq) -> Result<Option<StoredEvent>, LogError> {
        self.near.event(self.reader, self.run, seq)
    }
}

/// The answer in an event, if it has one.
fn answer(event: Event) -> Option<(Content, AnswerDetails)> {
    match event {
        Event::ResponseReceived(received) => {
            let beside = AnswerDetails::new(&received.content, received.details);
            Some((received.content, beside))
        }
        Event::AnswerReused(reused) => {
            let beside =
                AnswerDetails::of_reuse(&reused.content, reused.details, reused.unreadable);
            Some((reused.content, beside))
        }
        _ => None,
    }
}

/// How a run began.
///
/// # Errors
/// [`LogError`] if it cannot be read, or does not begin like a run.
pub fn run_start(reader: &mut dyn Reader, run: RunId) -> Result<RunStarted, LogError> {
    beginning(reader, run).map(|(_, started)| started)
}

/// When and how a run began.
pub(super) fn beginning(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<(Time, RunStarted), LogError> {
    let corrupt = |fault: EventFault| LogError::corrupt(run, Seq(1), fault);
    let first = reader.events(run, Seq(0), 1)?.pop();
    let Some(first) = first else {
        // If the log lists the run but lacks its first event, the run is damaged; otherwise there
        // is no such run.
        return Err(if reader.runs()?.iter().any(|head| head.run == run) {
            corrupt(EventFault::Missing { events: 1 })
        } else {
            LogError::NoSuchRun { run, path: "the log".to_owned() }
        });
    };
    match first.event()? {
        Event::RunStarted(started) => Ok((first.time, started)),
        _ => Err(corrupt(EventFault::NotAStart)),
    }
}

/// The version of the canonical form that the questions of a run have; `None` if it has none.
pub(super) fn canonical_version(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<Option<u32>, LogError> {
    let mut after = Seq(0);
    loop {
        let events = reader.events(run, after, 64)?;
        let Some(last) = events.last() else { return Ok(None) };
        after = last.seq;
        if let Some(prompt) = events.iter().find_map(|event| event.prompt) {
            return Ok(reader.request(prompt)?.map(|request| request.version()));
        }
    }
}

/// Reads a run and notes where each question and its answer are.
fn addresses(reader: &mut dyn Reader, run: RunId) -> Result<Addresses, LogError> {
    let (mut events, mut addresses) = (RunEvents::new(run), PlaceCollector::default());
    while let Some(stored) = events.next(reader)? {
        addresses.add(&stored)?;
    }
    Ok(addresses.finish())
}
