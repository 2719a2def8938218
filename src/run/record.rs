//! What a log holds of one run, read from its beginning to its end.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::content::Content;
use crate::event::{DecisionMade, Event, EventError, RunFinished, RunStarted, StoredEvent};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::log::{LogError, Reader};

/// Events in one read.
const BATCH: usize = 1024;

/// A run as its log tells it: how it began and ended, its facts, and on demand its exchanges.
pub struct RunRecord<'a> {
    reader: &'a mut dyn Reader,
    /// The run.
    pub run: RunId,
    /// How it began.
    pub started: RunStarted,
    /// How it ended, if it did.
    pub finished: Option<RunFinished>,
    /// When its first event happened.
    pub first: Time,
    /// When its last event happened.
    pub last: Time,
    /// How many answers it holds.
    pub answers: u64,
    /// How many decisions.
    pub decisions: u64,
    /// How many attempts that failed.
    pub failed_attempts: u64,
    /// How many events.
    pub events: u64,
    /// The experiment's own facts, in order.
    pub facts: Vec<Value>,
    /// Where and when each of them was recorded.
    pub places: Vec<Place>,
    exchanges: Option<BTreeMap<(CallPath, Sample), Exchange>>,
}

/// Where an event stands in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its place in the run.
    pub seq: Seq,
    /// When it happened.
    pub time: Time,
}

/// Where a question and its answer stand in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// The hash of what was asked.
    pub prompt: PromptHash,
    /// The event of the question.
    pub request: Seq,
    /// The event of the answer, if there is one.
    pub answer: Option<Seq>,
    /// The last attempt, if the call finally failed.
    pub failure: Option<Seq>,
    /// The event of the decision made from it, if one was made.
    pub decision: Option<Seq>,
}

impl<'a> RunRecord<'a> {
    /// Reads a run.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn read(reader: &'a mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let (first, started) = beginning(reader, run)?;
        let mut record = RunRecord {
            reader,
            run,
            started,
            finished: None,
            first,
            last: first,
            answers: 0,
            decisions: 0,
            failed_attempts: 0,
            events: 0,
            facts: Vec::new(),
            places: Vec::new(),
            exchanges: None,
        };
        let mut after = Seq(0);
        while let Some(batch) = next_batch(record.reader, run, &mut after)? {
            for stored in &batch {
                record.take(stored)?;
            }
        }
        Ok(record)
    }

    fn take(&mut self, stored: &StoredEvent) -> Result<(), LogError> {
        self.events = stored.seq.0;
        self.last = stored.time;
        match stored.event().map_err(damaged)? {
            Event::ResponseReceived(_) | Event::AnswerReused(_) => self.answers += 1,
            Event::DecisionMade(_) => self.decisions += 1,
            Event::AttemptFailed(_) => self.failed_attempts += 1,
            Event::Occurred(occurred) => {
                self.facts.push(occurred.fact);
                self.places.push(Place { seq: stored.seq, time: stored.time });
            }
            Event::RunFinished(finished) => self.finished = Some(finished),
            _ => {}
        }
        Ok(())
    }

    /// Where each question and its answer stand, by call and sample. Reads the run once more, the first
    /// time.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn exchanges(&mut self) -> Result<&BTreeMap<(CallPath, Sample), Exchange>, LogError> {
        let exchanges = match self.exchanges.take() {
            Some(exchanges) => exchanges,
            None => exchanges(self.reader, self.run)?,
        };
        Ok(self.exchanges.insert(exchanges))
    }

    /// The recorded answer of a call; of an embedding, its vector's text.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn answer(&mut self, call: &CallPath, sample: Sample) -> Result<Option<Content>, LogError> {
        Ok(self.answered(call, sample)?.map(|(_, content)| content))
    }

    /// The recorded answer of a call, and when it came.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn answered(
        &mut self,
        call: &CallPath,
        sample: Sample,
    ) -> Result<Option<(Time, Content)>, LogError> {
        let address = (call.clone(), sample);
        let Some(seq) = self.exchanges()?.get(&address).and_then(|exchange| exchange.answer) else {
            return Ok(None);
        };
        Ok(self.event(seq)?.and_then(|stored| Some((stored.time, stored.content?))))
    }

    /// Why a call finally failed, if it did.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn failure(&mut self, call: &CallPath, sample: Sample) -> Result<Option<String>, LogError> {
        let address = (call.clone(), sample);
        let Some(seq) = self.exchanges()?.get(&address).and_then(|e| e.failure) else {
            return Ok(None);
        };
        let event = self.event(seq)?.map(|stored| stored.event()).transpose();
        Ok(match event.map_err(damaged)? {
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
        let address = (call.clone(), sample);
        let Some(seq) = self.exchanges()?.get(&address).and_then(|e| e.decision) else {
            return Ok(None);
        };
        let event = self.event(seq)?.map(|stored| stored.event()).transpose();
        Ok(match event.map_err(damaged)? {
            Some(Event::DecisionMade(decision)) => Some(decision),
            _ => None,
        })
    }

    fn event(&mut self, seq: Seq) -> Result<Option<StoredEvent>, LogError> {
        Ok(self.reader.events(self.run, Seq(seq.0.saturating_sub(1)), 1)?.pop())
    }
}

/// How a run began.
///
/// # Errors
/// [`LogError`] if it cannot be read, or does not begin as a run does.
pub fn started(reader: &mut dyn Reader, run: RunId) -> Result<RunStarted, LogError> {
    beginning(reader, run).map(|(_, started)| started)
}

fn beginning(reader: &mut dyn Reader, run: RunId) -> Result<(Time, RunStarted), LogError> {
    let corrupt = |what: &str| LogError::Corrupt { run, seq: Seq(1), what: what.to_owned() };
    let first = reader.events(run, Seq(0), 1)?.pop();
    let first = first.ok_or_else(|| corrupt("the event is missing"))?;
    match first.event().map_err(damaged)? {
        Event::RunStarted(started) => Ok((first.time, started)),
        _ => Err(corrupt("it is not the start of a run")),
    }
}

fn damaged(error: EventError) -> LogError {
    LogError::Corrupt { run: error.run, seq: error.seq, what: error.what }
}

fn next_batch(
    reader: &mut dyn Reader,
    run: RunId,
    after: &mut Seq,
) -> Result<Option<Vec<StoredEvent>>, LogError> {
    let batch = reader.events(run, *after, BATCH)?;
    *after = batch.last().map_or(*after, |stored| stored.seq);
    Ok((!batch.is_empty()).then_some(batch))
}

fn exchanges(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<BTreeMap<(CallPath, Sample), Exchange>, LogError> {
    let mut questions: BTreeMap<Seq, ((CallPath, Sample), Exchange)> = BTreeMap::new();
    let mut answered: BTreeMap<Seq, Seq> = BTreeMap::new();
    let mut after = Seq(0);
    while let Some(batch) = next_batch(reader, run, &mut after)? {
        for stored in batch {
            let (request, answer) = match stored.event().map_err(damaged)? {
                Event::RequestSent(sent) => {
                    let exchange = Exchange {
                        prompt: sent.prompt,
                        request: stored.seq,
                        answer: None,
                        failure: None,
                        decision: None,
                    };
                    questions.insert(stored.seq, ((sent.call, sent.sample), exchange));
                    continue;
                }
                Event::DecisionMade(decision) => {
                    let request = answered.get(&decision.response);
                    if let Some((_, exchange)) = request.and_then(|r| questions.get_mut(r)) {
                        exchange.decision = Some(stored.seq);
                    }
                    continue;
                }
                Event::AttemptFailed(attempt) if attempt.details.gave_up => {
                    if let Some((_, exchange)) = questions.get_mut(&attempt.request) {
                        exchange.failure = Some(stored.seq);
                    }
                    continue;
                }
                Event::ResponseReceived(answer) => (answer.request, stored.seq),
                Event::AnswerReused(answer) => (answer.request, stored.seq),
                _ => continue,
            };
            answered.insert(answer, request);
            if let Some((_, exchange)) = questions.get_mut(&request) {
                exchange.answer = Some(answer);
            }
        }
    }
    // A question asked again after a crash stands in for the one that was lost.
    Ok(questions.into_values().collect())
}
