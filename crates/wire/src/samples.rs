//! Which samples a recorded run has, read call by call.

use std::collections::BTreeMap;
use std::sync::Arc;

use retold::event::Event;
use retold::id::{CallPath, PromptHash, RunId, Sample, Seq};
use retold::log::{CheckedReader, Index, Log, LogError, Reader, Table, each_event_at};

use crate::asked::Key;
use crate::book::{Attempt, Place, RecordedSample};
use crate::kept::{End, Kept};
use crate::recorded::damaged;
use crate::rules::Rules;

/// Events in one read.
const BATCH: usize = 512;

/// The samples of a run. Opening it reads the index of the run, not its events: those of a call are
/// read when it is first asked for, so a long run is replayed at once.
pub struct Samples(Option<Recorded>);

struct Recorded {
    questions: Arc<Questions>,
    reader: CheckedReader,
    rules: Rules,
    skip_errors: bool,
    /// For each answered question, whether its sample was read.
    is_read: Vec<bool>,
    unread: usize,
    /// The keys of prompts, where they are not the prompts' own hashes.
    keys: BTreeMap<PromptHash, PromptHash>,
}

/// Where the questions of a run are.
pub(crate) struct Questions {
    pub(crate) run: RunId,
    table: Table,
    /// Those that have an answer, or failed attempts that count; sorted.
    answered: Vec<Seq>,
}

impl Questions {
    /// All questions, sorted.
    pub(crate) fn all(&self) -> Vec<Seq> {
        self.table.questions()
    }

    /// Whether a question has an answer, or failed attempts that count.
    pub(crate) fn is_answered(&self, question: Seq) -> bool {
        self.answered.binary_search(&question).is_ok()
    }
}

impl Samples {
    /// Those of a run that has none.
    pub fn none() -> Self {
        Samples(None)
    }

    /// Those of a recorded run. `skip_errors` leaves out what failed.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn of(log: &Log, run: RunId, rules: &Rules, skip_errors: bool) -> Result<Self, LogError> {
        let mut reader = CheckedReader::new(log.reader()?);
        let index = Index::open(&mut reader, run)?;
        let table = Table::read(&index, &mut reader)?;
        let answered = match skip_errors {
            true => succeeded(&mut reader, run)?,
            false => table.questions().into_iter().filter(|seq| table.is_cause(*seq)).collect(),
        };
        let (is_read, unread) = (vec![false; answered.len()], answered.len());
        let questions = Arc::new(Questions { run, table, answered });
        let (rules, keys) = (rules.clone(), BTreeMap::new());
        let recorded = Recorded { questions, reader, rules, skip_errors, is_read, unread, keys };
        Ok(Samples(Some(recorded)))
    }

    /// The samples of a call, in order.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read, or are damaged.
    pub fn of_call(
        &mut self,
        call: &CallPath,
    ) -> Result<BTreeMap<Sample, (Key, RecordedSample)>, LogError> {
        self.0.as_mut().map_or(Ok(BTreeMap::new()), |recorded| recorded.of_call(call))
    }

    /// How many answered questions were not read.
    pub fn unread(&self) -> usize {
        self.0.as_ref().map_or(0, |recorded| recorded.unread)
    }

    /// The calls of the first questions that were not read.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read, or are damaged.
    pub fn first_unread(&mut self, most: usize) -> Result<Vec<CallPath>, LogError> {
        let Some(recorded) = self.0.as_mut() else { return Ok(Vec::new()) };
        let answered = recorded.questions.answered.iter().zip(&recorded.is_read);
        let unread = answered.filter(|(_, is_read)| !**is_read).map(|(seq, _)| *seq);
        let seqs: Vec<Seq> = unread.take(most).collect();
        let mut calls = Vec::new();
        each_event_at(&mut recorded.reader, recorded.questions.run, &seqs, |stored| {
            calls.extend(stored.call);
            Ok::<_, LogError>(())
        })?;
        Ok(calls)
    }

    /// Where the questions are; `None` if there are none.
    pub(crate) fn questions(&self) -> Option<Arc<Questions>> {
        self.0.as_ref().map(|recorded| recorded.questions.clone())
    }
}

impl Recorded {
    fn of_call(
        &mut self,
        call: &CallPath,
    ) -> Result<BTreeMap<Sample, (Key, RecordedSample)>, LogError> {
        let (questions, run) = (self.questions.clone(), self.questions.run);
        let mut asked: BTreeMap<Sample, (Seq, PromptHash)> = BTreeMap::new();
        let (places, mut found) = (questions.table.calls(call), Vec::new());
        each_event_at(&mut self.reader, run, &places, |stored| {
            let seq = stored.seq;
            if stored.call.as_ref() == Some(call)
                && let Event::RequestSent(sent) = stored.event().map_err(damaged)?
            {
                found.push(seq);
                // One that was asked again after a crash takes the place of the lost one.
                asked.insert(sent.sample, (seq, sent.prompt));
            }
            Ok::<_, LogError>(())
        })?;
        for seq in found {
            if let Ok(at) = questions.answered.binary_search(&seq)
                && !std::mem::replace(&mut self.is_read[at], true)
            {
                self.unread -= 1;
            }
        }
        let mut samples = BTreeMap::new();
        for (number, (request, prompt)) in asked {
            let (attempts, partial) = self.attempts(request)?;
            if attempts.is_empty() && self.skip_errors {
                continue;
            }
            let key = Key { call: call.clone(), prompt: self.key_of(prompt)? };
            samples.insert(number, (key, RecordedSample { request, attempts, partial }));
        }
        Ok(samples)
    }

    /// The recorded attempts of a question, and whether its client left before the last was whole.
    fn attempts(&mut self, request: Seq) -> Result<(Vec<Attempt>, bool), LogError> {
        let (run, skip_errors) = (self.questions.run, self.skip_errors);
        let (mut attempts, mut partial) = (Vec::new(), false);
        let places = self.questions.table.caused_by(request);
        each_event_at(&mut self.reader, run, &places, |stored| {
            let place = Place { run, seq: stored.seq };
            let (reopens, left) = match stored.event().map_err(damaged)? {
                Event::ResponseReceived(_) | Event::AnswerReused(_) => (false, false),
                Event::AttemptFailed(failed) if !skip_errors => {
                    let kept = failed.details.http.as_ref().and_then(Kept::read);
                    let left = kept.is_some_and(|kept| kept.end == Some(End::ClientLeft));
                    (!failed.details.gave_up && !left, left)
                }
                _ => return Ok(()),
            };
            attempts.push(Attempt { place, reopens });
            partial = left;
            Ok::<_, LogError>(())
        })?;
        Ok((attempts, partial))
    }

    /// The key of a stored prompt.
    fn key_of(&mut self, prompt: PromptHash) -> Result<PromptHash, LogError> {
        if self.rules.is_empty() {
            return Ok(prompt);
        }
        if let Some(key) = self.keys.get(&prompt) {
            return Ok(*key);
        }
        let request = self.reader.request(prompt)?;
        let key = request.map_or(prompt, |request| self.rules.key(&request));
        self.keys.insert(prompt, key);
        Ok(key)
    }
}

/// The questions that have an answer. An index does not tell answers from failures.
fn succeeded(reader: &mut CheckedReader, run: RunId) -> Result<Vec<Seq>, LogError> {
    let (mut questions, mut after) = (Vec::new(), Seq(0));
    loop {
        let events = reader.events(run, after, BATCH)?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        for stored in events {
            match stored.event().map_err(damaged)? {
                Event::ResponseReceived(received) => questions.push(received.request),
                Event::AnswerReused(reused) => questions.push(reused.request),
                _ => {}
            }
        }
    }
    questions.sort_unstable();
    questions.dedup();
    Ok(questions)
}
