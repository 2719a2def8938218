//! The recorded part of a run, read ahead by a thread and checked by another: checking takes about
//! as long as reading, and either nearly as long as the re-execution.
//!
//! Events come in the order of the log. Exchanges wait in a table until they are asked for;
//! decisions and facts wait in a queue until they are made again. Because a re-execution nearly
//! follows the order of the log, both stay short, however long the run is.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::details::AnswerDetails;
use super::question::QuestionCore;
use crate::content::Content;
use crate::event::chain::Head;
use crate::event::{
    AnswerReused, AttemptDetails, Event, EventError, MarkRecorded, StoredEvent, kind,
};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq, Time};
use crate::log::{LogError, Reader, RewordedError, follow};
use crate::lookup::LookupMap;
use crate::model::{Failure, FailureKind};

/// A recorded end of a question: the answer, or the failure after all retries.
#[derive(Debug, Clone)]
pub(super) struct RecordedEnd {
    /// The question.
    pub(super) request: Seq,
    /// The answer, or the last failed attempt.
    pub(super) seq: Seq,
    pub(super) result: Result<Text, Failure>,
}

/// A recorded answer.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) content: Content,
    pub(super) beside: AnswerDetails,
}

/// The record of a call and sample.
#[derive(Debug, Clone)]
pub(super) struct RecordedCall {
    /// The recorded prompt.
    pub(super) prompt: PromptHash,
    /// The body of the question: the declared sources of the prompt.
    pub(super) because: Cow<'static, str>,
    pub(super) recorded: RecordedEnd,
}

/// A recorded decision, fact or mark.
#[derive(Debug)]
pub(super) enum RecordedOutcome {
    Decision { seq: Seq, response: Seq, by: Arc<str>, body: String },
    Occurrence { seq: Seq, time: Time, causes: Vec<Seq>, fact: String },
    Mark { seq: Seq, mark: MarkRecorded },
}

impl RecordedOutcome {
    /// The outcome in the event of a decision, a fact or a mark.
    pub(super) fn new(stored: StoredEvent) -> Result<Self, EventError> {
        if let Some(by) = stored.decided_by() {
            let (seq, by) = (stored.seq, Arc::from(by));
            let response = stored.cause.unwrap_or(Seq(0));
            let body = stored.body.into_owned();
            return Ok(RecordedOutcome::Decision { seq, response, by, body });
        }
        if stored.kind == kind::MARK_RECORDED
            && let Event::MarkRecorded(mark) = stored.event()?
        {
            return Ok(RecordedOutcome::Mark { seq: stored.seq, mark });
        }
        let (causes, fact) = stored.occurrence()?;
        let (seq, time, fact) = (stored.seq, stored.time, fact.to_owned());
        Ok(RecordedOutcome::Occurrence { seq, time, causes, fact })
    }

    pub(super) fn seq(&self) -> Seq {
        match self {
            RecordedOutcome::Decision { seq, .. }
            | RecordedOutcome::Occurrence { seq, .. }
            | RecordedOutcome::Mark { seq, .. } => *seq,
        }
    }
}

enum HistoryItem {
    Exchange {
        call: CallPath,
        sample: Sample,
        found: RecordedCall,
    },
    Outcome(RecordedOutcome),
    /// A question without an end, in the record as it is.
    Open {
        call: CallPath,
        sample: Sample,
        prompt: PromptHash,
        question: Seq,
    },
    Finished(crate::event::RunFinished),
}

/// Events in one message between the threads.
const BATCH: usize = 1024;

/// Messages that wait between two threads.
const BATCHES: usize = 2;

/// The read-ahead record of one run.
pub(super) struct History {
    /// Dropped before the threads are waited for, which ends them.
    items: Receiver<Result<Vec<HistoryItem>, LogError>>,
    _threads: [JoinedThread; 2],
    exchanges: LookupMap<(CallPath, Sample), RecordedCall>,
    outcomes: VecDeque<RecordedOutcome>,
    /// Questions without an end, known when everything has been read.
    open: LookupMap<(CallPath, Sample), (PromptHash, Seq)>,
    finished: Option<crate::event::RunFinished>,
    ended: bool,
    /// Whether decisions and facts are left out.
    only_answers: bool,
    /// A few answers of each kind of call, if they are kept, and how many were lent.
    stand_ins: Option<(BTreeMap<String, Vec<RecordedCall>>, usize)>,
}

/// How many answers of each kind of call are kept to stand in for others.
const STAND_INS: usize = 64;

impl History {
    /// Starts reading a run after its first event, up to `last`: events written from now on are not
    /// part of the record. Each event is checked against its hash, because anything made from a
    /// changed event would look as sound as the original.
    pub(super) fn read(reader: Box<dyn Reader>, run: RunId, last: Seq) -> Result<Self, LogError> {
        let (sender, batches) = sync_channel(BATCHES);
        let reading = spawn("retold-reader", move || read_batches(reader, run, last, &sender))?;
        let (sender, items) = sync_channel(BATCHES);
        let checking = spawn("retold-history", move || check_batches(&batches, &sender))?;
        Ok(History {
            items,
            _threads: [reading, checking],
            exchanges: LookupMap::default(),
            outcomes: VecDeque::new(),
            open: LookupMap::default(),
            finished: None,
            ended: false,
            only_answers: false,
            stand_ins: None,
        })
    }

    /// Keeps only the answers: nothing takes the decisions and facts, so all of them would pile up.
    pub(super) fn only_answers(self) -> Self {
        History { only_answers: true, ..self }
    }

    /// Keeps a few answers of each kind of call, for calls that were never recorded.
    pub(super) fn with_stand_ins(self) -> Self {
        History { stand_ins: Some((BTreeMap::new(), 0)), ..self }
    }

    /// An answer to another call of the same kind, taken in turns; `None` if there is none, or none
    /// were kept. Reads to the end.
    pub(super) fn stand_in(&mut self, call: &CallPath) -> Result<Option<RecordedCall>, LogError> {
        while self.stand_ins.is_some() && self.pull()? {}
        let Some((kinds, lent)) = &mut self.stand_ins else { return Ok(None) };
        let Some(answers) = kinds.get(&call.kind()) else { return Ok(None) };
        *lent += 1;
        Ok(answers.get(*lent % answers.len().max(1)).cloned())
    }

    /// Reads one more batch; false at the end.
    pub(super) fn pull(&mut self) -> Result<bool, LogError> {
        if self.ended {
            return Ok(false);
        }
        let Ok(batch) = self.items.recv() else {
            self.ended = true;
            return Ok(false);
        };
        for item in batch? {
            match item {
                HistoryItem::Exchange { call, sample, found } => {
                    if let Some((kinds, _)) = &mut self.stand_ins
                        && found.recorded.result.is_ok()
                    {
                        let answers = kinds.entry(call.kind()).or_default();
                        if answers.len() < STAND_INS {
                            answers.push(found.clone());
                        }
                    }
                    self.exchanges.insert((call, sample), found);
                }
                HistoryItem::Outcome(_) if self.only_answers => {}
                HistoryItem::Outcome(outcome) => self.outcomes.push_back(outcome),
                HistoryItem::Open { call, sample, prompt, question } => {
                    self.open.insert((call, sample), (prompt, question));
                }
                HistoryItem::Finished(finished) => self.finished = Some(finished),
            }
        }
        Ok(true)
    }

    /// Takes the record of a call and sample, with any prompt.
    pub(super) fn take(&mut self, asked: &QuestionCore) -> Result<Option<RecordedCall>, LogError> {
        loop {
            match self.take_read(asked) {
                Some(found) => return Ok(Some(found)),
                None if self.pull()? => {}
                found => return Ok(found),
            }
        }
    }

    /// The same, from what has been read so far.
    pub(super) fn take_read(&mut self, asked: &QuestionCore) -> Option<RecordedCall> {
        self.exchanges.remove(&(asked.call.clone(), asked.sample))
    }

    /// The last question at this address, with this prompt, that has no end. Reads to the end.
    pub(super) fn open(&mut self, asked: &QuestionCore) -> Result<Option<Seq>, LogError> {
        while self.pull()? {}
        let found = self.open.remove(&(asked.call.clone(), asked.sample));
        let found = found.filter(|(prompt, _)| *prompt == asked.prompt());
        Ok(found.map(|(_, question)| question))
    }

    /// How many recorded ends of questions have not been taken. Reads to the end.
    pub(super) fn count_rest(&mut self) -> Result<u64, LogError> {
        while self.pull()? {}
        Ok(self.exchanges.len() as u64)
    }

    /// Whether there are more decisions or facts.
    pub(super) fn has_outcomes(&mut self) -> Result<bool, LogError> {
        while self.outcomes.is_empty() {
            if !self.pull()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the next decision or fact.
    pub(super) fn next_outcome(&mut self) -> Result<Option<RecordedOutcome>, LogError> {
        loop {
            if let Some(outcome) = self.outcomes.pop_front() {
                return Ok(Some(outcome));
            }
            if !self.pull()? {
                return Ok(None);
            }
        }
    }

    /// How the recorded run ended, if it did. Reads to the end.
    pub(super) fn run_end(&mut self) -> Result<Option<&crate::event::RunFinished>, LogError> {
        while self.pull()? {}
        Ok(self.finished.as_ref())
    }
}

/// A thread that is waited for when this is dropped. A program that ended before it had closed the log would leave
/// SQLite's files beside it.
struct JoinedThread(Option<JoinHandle<()>>);

impl Drop for JoinedThread {
    fn drop(&mut self) {
        // If it has panicked, the messages that it did not send have said so.
        let _ = self.0.take().map(JoinHandle::join);
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinedThread, LogError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(|thread| JoinedThread(Some(thread))).map_err(|source| {
        let words = format!("no thread to read with: {source}");
        LogError::failure("", RewordedError { words, source })
    })
}

/// Sends the events of a run, up to `last`, until there are no more or nobody wants them.
fn read_batches(
    mut reader: Box<dyn Reader>,
    run: RunId,
    last: Seq,
    sender: &SyncSender<Result<Vec<StoredEvent>, LogError>>,
) {
    let mut after = Seq(0);
    while after < last {
        let left = usize::try_from(last.0 - after.0).unwrap_or(BATCH);
        let batch = reader.events(run, after, BATCH.min(left));
        let end = match &batch {
            Ok(events) => match events.last() {
                Some(event) => {
                    after = event.seq;
                    false
                }
                None => true,
            },
            Err(_) => true,
        };
        if sender.send(batch).is_err() || end {
            return;
        }
    }
}

/// Checks events and sends the parts that a re-execution needs.
fn check_batches(
    batches: &Receiver<Result<Vec<StoredEvent>, LogError>>,
    sender: &SyncSender<Result<Vec<HistoryItem>, LogError>>,
) {
    let mut questions = OpenQuestions::default();
    let mut head = Head::START;
    for batch in batches {
        let items = batch.and_then(|events| {
            let (last, damaged) = follow(head, &events);
            damaged.map_or(Ok(()), Err)?;
            head = last;
            let items = events.into_iter().filter_map(|event| questions.item(event).transpose());
            Ok(items.collect::<Result<Vec<_>, EventError>>()?)
        });
        let failed = items.is_err();
        if sender.send(items).is_err() || failed {
            return;
        }
    }
    // If nobody wants them, nobody asks.
    let _ = sender.send(Ok(questions.rest()));
}

/// The questions without an answer so far.
#[derive(Default)]
struct OpenQuestions(BTreeMap<Seq, QuestionAt>);

/// A question: its address, its prompt and its body.
type QuestionAt = (CallPath, Sample, PromptHash, Cow<'static, str>);

impl OpenQuestions {
    /// The part of an event that a re-execution needs.
    fn item(&mut self, stored: StoredEvent) -> Result<Option<HistoryItem>, EventError> {
        if stored.is_decision() || stored.is_occurrence() {
            return RecordedOutcome::new(stored).map(|outcome| Some(HistoryItem::Outcome(outcome)));
        }
        if stored.is_received() {
            let (seq, cause) = (stored.seq, stored.cause.unwrap_or(Seq(0)));
            let details = stored.details()?;
            let content = stored.content.unwrap_or_else(|| Content::from(""));
            let beside = AnswerDetails::new(&content, details);
            return Ok(self.end_question(cause, seq, Ok(Text { content, beside })));
        }
        if let Some((call, sample, prompt)) = stored.address_and_prompt() {
            // The declared sources are compared as written, which is canonical.
            let question = (call.clone(), sample, prompt, stored.body);
            self.0.insert(stored.seq, question);
            return Ok(None);
        }
        Ok(match stored.event()? {
            Event::AnswerReused(answer) => {
                let AnswerReused { request, content, unreadable, details, .. } = answer;
                let beside = AnswerDetails::of_reuse(&content, details, unreadable);
                self.end_question(request, stored.seq, Ok(Text { content, beside }))
            }
            Event::AttemptFailed(failed) if failed.details.gave_up => {
                self.end_question(failed.request, stored.seq, Err(failure_of(failed.details)))
            }
            Event::RunFinished(finished) => Some(HistoryItem::Finished(finished)),
            _ => None,
        })
    }

    /// The questions that have no end, in their order.
    fn rest(self) -> Vec<HistoryItem> {
        let item = |(question, (call, sample, prompt, _))| HistoryItem::Open {
            call,
            sample,
            prompt,
            question,
        };
        self.0.into_iter().map(item).collect()
    }

    fn end_question(
        &mut self,
        request: Seq,
        seq: Seq,
        result: Result<Text, Failure>,
    ) -> Option<HistoryItem> {
        let (call, sample, prompt, because) = self.0.remove(&request)?;
        let found =
            RecordedCall { prompt, because, recorded: RecordedEnd { request, seq, result } };
        Some(HistoryItem::Exchange { call, sample, found })
    }
}

fn failure_of(details: AttemptDetails) -> Failure {
    let kind = serde_json::Value::from(details.failure);
    Failure {
        // A kind from a later release: any kind will do for a call that has run out of retries.
        kind: serde_json::from_value(kind).unwrap_or(FailureKind::Rejected),
        status: details.status,
        message: details.error,
        retry_after: details.retry_after_ms.map(Duration::from_millis),
    }
}
