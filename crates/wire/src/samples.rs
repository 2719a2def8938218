//! Which samples a recorded run has, read call by call.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use retold::event::{Event, ForkedFrom};
use retold::id::{CallPath, PromptHash, RunId, Sample, Seq};
use retold::log::{
    CallTable, CheckedReader, Index, Log, LogError, Reader, RunEvents, each_event_at,
};
use retold::run::{how_it_ended, latest_start, resumptions};

use crate::departure::Departure;
use crate::failures::{FailedAttempt, FailureReplay};
use crate::key::{AttemptPlace, Key};
use crate::readers::{Readers, SharedEvent};
use crate::recorded::how_it_travelled;
use crate::replay_queue::{Attempt, RecordedSample};
use crate::restored_request::restore;
use crate::rules::Rules;
use crate::transmission::{BodyEnd, Transmission};

/// The samples of a run. Opening it reads the index of the run, not its events: those of a call are
/// read when it is first asked for, so a long run is replayed at once.
#[derive(Clone)]
pub struct Samples(Option<Arc<RecordedSamples>>);

struct RecordedSamples {
    questions: Questions,
    readers: Arc<Readers>,
    rules: Rules,
    failures: FailureReplay,
    resumed: Option<LastResume>,
    /// What a fork shares of it; everything if `None`.
    shared: Option<ForkedFrom>,
    /// Those of the run that was forked, for what was cut off before it came to them.
    parent: Option<Box<RecordedSamples>>,
}

/// Where a run was continued last.
#[derive(Debug, Clone, Copy)]
struct LastResume {
    seq: Seq,
    /// What became of the attempts that had failed before.
    failures: FailureReplay,
}

/// The recorded samples of one call.
#[derive(Default)]
pub(crate) struct CallSamples {
    /// Its samples, sorted.
    pub(crate) samples: Vec<(Sample, Key, RecordedSample)>,
    /// Its questions.
    pub(crate) questions: Vec<Seq>,
    /// The first attempt at the first of its samples, which is probably the next to be sent.
    pub(crate) first: Option<(AttemptPlace, SharedEvent)>,
}

/// Where the questions of a run are.
pub(crate) struct Questions {
    pub(crate) run: RunId,
    table: CallTable,
    /// Those that have an answer, or failed attempts that count; sorted.
    pub(crate) answered: Vec<Seq>,
}

impl Questions {
    /// All questions, sorted.
    pub(crate) fn all(&self) -> Vec<Seq> {
        self.table.questions()
    }

    /// Whether anything came of a question.
    pub(crate) fn is_tried(&self, question: Seq) -> bool {
        self.table.is_cause(question)
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

    /// Those of a recorded run; `failures` says what becomes of the attempts that failed.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub fn open(
        log: &Log,
        run: RunId,
        rules: &Rules,
        failures: FailureReplay,
    ) -> Result<Self, LogError> {
        let (rules, readers) = (rules.clone(), Arc::new(Readers::new(log)));
        let reader = &mut log.checked_reader()?;
        let recorded = RecordedSamples::read(reader, run, None, &rules, failures, &readers)?;
        Ok(Samples(Some(Arc::new(recorded))))
    }

    /// Those with which a run is continued: its own, and if it is a fork that was cut off, also those that it would still
    /// have taken from its parent. Nothing that was paid for is asked again, however often the program dies.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read, or are damaged.
    pub fn to_continue(
        log: &Log,
        run: RunId,
        rules: &Rules,
        retry_failed: bool,
    ) -> Result<Self, LogError> {
        Samples::chain(log, run, None, rules, retry_failed)
    }

    /// Those that a fork begins with, and with which it is continued after that.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read, or are damaged.
    pub fn to_fork(log: &Log, from: ForkedFrom, rules: &Rules) -> Result<Self, LogError> {
        Samples::chain(log, from.run, Some(from), rules, from.retry_failed)
    }

    fn chain(
        log: &Log,
        run: RunId,
        shared: Option<ForkedFrom>,
        rules: &Rules,
        retry_failed: bool,
    ) -> Result<Self, LogError> {
        let failures = FailureReplay::asked_again(retry_failed);
        let (readers, reader) = (Arc::new(Readers::new(log)), &mut log.checked_reader()?);
        let (mut runs, mut next) = (Vec::new(), Some((run, shared)));
        while let Some((run, shared)) = next.take() {
            runs.push(RecordedSamples::read(reader, run, shared, rules, failures, &readers)?);
            // What a run has taken from its parent up to a place is its own.
            let is_whole = shared.is_none_or(|shared| shared.before.is_none());
            if is_whole && how_it_ended(reader, run)?.is_none() {
                let started = latest_start(reader, run)?;
                next = started.forked_from.map(|parent| (parent.run, Some(parent)));
            }
        }
        let mut chain = None;
        for run in runs.into_iter().rev() {
            chain = Some(RecordedSamples { parent: chain.map(Box::new), ..run });
        }
        Ok(Samples(chain.map(Arc::new)))
    }

    /// The recorded samples of a call.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read, or is damaged.
    pub(crate) fn of_call(&self, call: &CallPath) -> Result<CallSamples, LogError> {
        match &self.0 {
            Some(recorded) => recorded.of_call(call),
            None => Ok(CallSamples::default()),
        }
    }

    /// The calls of some questions, which must be sorted.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read, or are damaged.
    pub(crate) fn calls(&self, questions: &[Seq]) -> Result<Vec<CallPath>, LogError> {
        let (Some(recorded), mut calls) = (&self.0, Vec::new()) else { return Ok(Vec::new()) };
        recorded.readers.with(|reader| {
            each_event_at(reader, recorded.questions.run, questions, |stored| {
                calls.extend(stored.call);
                Ok::<_, LogError>(())
            })
        })?;
        Ok(calls)
    }

    /// Whether failed attempts are left out.
    pub(crate) fn skip_errors(&self) -> bool {
        self.0.as_ref().is_some_and(|recorded| recorded.failures == FailureReplay::LeftOut)
    }

    /// What reads them.
    pub(crate) fn readers(&self) -> Option<Arc<Readers>> {
        self.0.as_ref().map(|recorded| recorded.readers.clone())
    }

    /// Where the questions of the run and of its parents are.
    pub(crate) fn all_questions(&self) -> impl Iterator<Item = &Questions> {
        let first = self.0.as_deref();
        std::iter::successors(first, |run| run.parent.as_deref()).map(|run| &run.questions)
    }

    /// Where the questions of the run itself are; `None` if there are none.
    pub(crate) fn questions(&self) -> Option<&Questions> {
        self.0.as_ref().map(|recorded| &recorded.questions)
    }
}

impl RecordedSamples {
    fn read(
        reader: &mut CheckedReader,
        run: RunId,
        shared: Option<ForkedFrom>,
        rules: &Rules,
        failures: FailureReplay,
        readers: &Arc<Readers>,
    ) -> Result<Self, LogError> {
        let index = Index::open(reader, run)?;
        let table = CallTable::read(&index, reader)?;
        let (answered, resumed) = match failures {
            FailureReplay::Sent => {
                let tried = table.questions().into_iter().filter(|seq| table.is_cause(*seq));
                let last = resumptions(reader, run)?.pop().map(|(seq, resumed)| LastResume {
                    seq,
                    failures: FailureReplay::asked_again(resumed.retry_failed),
                });
                (tried.collect(), last)
            }
            _ => (answered_questions(reader, run, shared)?, None),
        };
        let questions = Questions { run, table, answered };
        let (rules, readers) = (rules.clone(), readers.clone());
        let parent = None;
        Ok(RecordedSamples { questions, readers, rules, failures, resumed, shared, parent })
    }

    /// Whether an event is before the place at which a fork leaves the run.
    fn is_before(&self, seq: Seq) -> bool {
        self.shared.and_then(|shared| shared.before).is_none_or(|before| seq < before)
    }

    /// Whether the answer to a question was taken back.
    fn is_taken_back(&self, question: Seq) -> bool {
        self.shared.is_some_and(|shared| shared.without == Some(question))
    }

    /// Those of a call; of a parent, those that the run does not have.
    fn of_call(&self, call: &CallPath) -> Result<CallSamples, LogError> {
        let mut page = self.own_of_call(call)?;
        let Some(parent) = &self.parent else { return Ok(page) };
        let theirs = parent.of_call(call)?;
        // A question whose answer was only partly taken over starts afresh.
        let has_answer = |sample: &RecordedSample| sample.attempts.iter().any(|it| it.is_answer);
        let is_settled = |(number, _, sample): &(Sample, Key, RecordedSample)| {
            (*number, has_answer(sample) || self.is_taken_back(sample.request))
        };
        let own: BTreeMap<Sample, bool> = page.samples.iter().map(is_settled).collect();
        let is_missing = |(number, _, sample): &(Sample, Key, RecordedSample)| {
            own.get(number).is_none_or(|is_answered| !is_answered && has_answer(sample))
        };
        let missing: Vec<_> = theirs.samples.into_iter().filter(is_missing).collect();
        let again: BTreeSet<Sample> = missing.iter().map(|(number, ..)| *number).collect();
        page.samples.retain(|(number, ..)| !again.contains(number));
        page.samples.extend(missing);
        page.samples.sort_by_key(|(number, ..)| *number);
        page.first = page.first.or(theirs.first);
        Ok(page)
    }

    fn own_of_call(&self, call: &CallPath) -> Result<CallSamples, LogError> {
        let run = self.questions.run;
        let (mut page, mut asked) = (CallSamples::default(), Vec::new());
        for seq in self.questions.table.calls(call) {
            if self.is_before(seq)
                && let Some(stored) = self.readers.event(AttemptPlace { run, seq })?
                && stored.call.as_ref() == Some(call)
                && stored.is_question()
                && let (Some(sample), Some(prompt)) = (stored.sample, stored.prompt)
            {
                page.questions.push(seq);
                asked.push((sample, seq, prompt));
            }
        }
        // One that was asked again after a crash takes the place of the lost one.
        asked.sort_unstable_by_key(|(sample, seq, _)| (*sample, std::cmp::Reverse(*seq)));
        asked.dedup_by_key(|(sample, ..)| *sample);
        let mut all = Vec::with_capacity(asked.len());
        for (number, request, prompt) in asked {
            all.push((number, prompt, self.attempts(request, &mut page.first)?));
        }
        if let Some(resumed) = self.resumed {
            let answered = last_answered(&all, Some(resumed.seq));
            all.retain_mut(|(.., made)| made.is_met(resumed, answered));
        }
        let answered = last_answered(&all, None);
        let mut keys = BTreeMap::new();
        for (number, prompt, made) in all {
            let Some(sample) = made.into_sample(run, self.failures, answered) else { continue };
            let key = if self.rules.is_empty() {
                prompt
            } else if let Some(key) = keys.get(&prompt) {
                *key
            } else {
                let key = self.key_of(prompt)?;
                keys.insert(prompt, key);
                key
            };
            let key = Key { call: call.clone(), prompt: key };
            page.samples.push((number, key, sample));
        }
        Ok(page)
    }

    /// The recorded attempts of a question.
    fn attempts(
        &self,
        request: Seq,
        first: &mut Option<(AttemptPlace, SharedEvent)>,
    ) -> Result<QuestionAttempts, LogError> {
        let run = self.questions.run;
        let mut attempts: Vec<(Attempt, _)> = Vec::new();
        let (mut made, mut partial) = (0, false);
        let caused = self.questions.table.caused_by(request).into_iter();
        // Without attempts, it is asked again in its place.
        for seq in caused.filter(|seq| self.is_before(*seq) && !self.is_taken_back(request)) {
            let place = AttemptPlace { run, seq };
            let Some(stored) = self.readers.event(place)? else { continue };
            let (failed, reopens, left, is_again) = if stored.is_answer() {
                // Its body need not be read if nothing was before it.
                let is_again = made > 0 && how_it_travelled(&stored)?.is_some_and(|it| it.again);
                (None, false, false, is_again)
            } else {
                match stored.event().map_err(LogError::from)? {
                    Event::AttemptFailed(failed) => {
                        let details = &failed.details;
                        let kept =
                            details.http.as_ref().and_then(Transmission::read).unwrap_or_default();
                        let left = kept.end == Some(BodyEnd::ClientLeft);
                        let reopens = !details.gave_up && !left;
                        (Some(FailedAttempt::new(details, &kept)), reopens, left, kept.again)
                    }
                    Event::ClientLeft(left) => {
                        if let Some((attempt, _)) = attempts.last_mut() {
                            attempt.departure = Some(Departure::from(&left));
                        }
                        continue;
                    }
                    _ => continue,
                }
            };
            made += 1;
            // The program that was run last has met none of the attempts before.
            if is_again {
                attempts.clear();
            }
            // One whose client had left was asked again.
            if std::mem::replace(&mut partial, left) {
                attempts.pop();
            }
            let is_answer = failed.is_none();
            attempts.push((Attempt { place, reopens, is_answer, departure: None }, failed));
            first.get_or_insert((place, stored));
        }
        Ok(QuestionAttempts { request, attempts, made, partial })
    }

    /// The key of a stored prompt, under the rules.
    fn key_of(&self, prompt: PromptHash) -> Result<PromptHash, LogError> {
        let request = self.readers.with(|reader| reader.request(prompt))?;
        Ok(request.map_or(Ok(prompt), |request| self.rules.key(&request))?)
    }
}

/// The attempts at a question.
struct QuestionAttempts {
    request: Seq,
    /// The attempts that the program which was run last has met.
    attempts: Vec<(Attempt, Option<FailedAttempt>)>,
    /// How many attempts the log has.
    made: u32,
    partial: bool,
}

impl QuestionAttempts {
    /// Whether it was answered, before this seq if there is one.
    fn is_answered(&self, before: Option<Seq>) -> bool {
        let is_before = |attempt: &Attempt| before.is_none_or(|seq| attempt.place.seq < seq);
        self.attempts.iter().any(|(attempt, _)| attempt.is_answer && is_before(attempt))
    }

    /// Takes out what had failed before the run was continued and was not sent to the program again.
    /// Returns whether the program that was run last has met it at all. `answered` is the last question of
    /// its call that was answered before that.
    fn is_met(&mut self, resumed: LastResume, answered: Option<Seq>) -> bool {
        let is_before =
            |(attempt, _): &(Attempt, Option<FailedAttempt>)| attempt.place.seq < resumed.seq;
        let before: Vec<_> = self.attempts.iter().copied().filter(is_before).collect();
        let Some((last, _)) = before.last() else { return true };
        let failed = last.place.seq;
        let sent = resumed.failures.select(before, answered);
        let is_left = sent.is_empty() && self.attempts.iter().all(is_before);
        if is_left {
            // The program itself asked once more. Otherwise it did not come so far again.
            return !resumed.failures.skips(failed, answered);
        }
        self.attempts.retain(|it| !is_before(it) || sent.contains(&it.0));
        true
    }

    /// The attempts that are sent again; `None` if the program is not to notice that the question was asked. `answered` is
    /// the last question of its call that was answered.
    fn into_sample(
        self,
        run: RunId,
        failures: FailureReplay,
        answered: Option<Seq>,
    ) -> Option<RecordedSample> {
        let QuestionAttempts { request, attempts, made, partial } = self;
        let failed = attempts.last().map(|(attempt, _)| attempt.place.seq);
        let attempts = failures.select(attempts, answered);
        let is_skipped = match failures {
            FailureReplay::LeftOut => true,
            _ => failed.is_some_and(|failed| failures.skips(failed, answered)),
        };
        let is_skipped = is_skipped && attempts.is_empty();
        (!is_skipped).then_some(RecordedSample { run, request, attempts, made, partial })
    }
}

/// The upstreams that a run has asked, read out of all its requests.
///
/// # Errors
/// [`LogError`] if it cannot be read, or is damaged.
pub fn upstreams_asked(log: &Log, run: RunId) -> Result<BTreeSet<String>, LogError> {
    let mut reader = log.checked_reader()?;
    let (mut upstreams, mut prompts) = (BTreeSet::new(), BTreeSet::new());
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(&mut reader)? {
        if stored.is_question()
            && let (Some(prompt), Some(call)) = (stored.prompt, &stored.call)
            && prompts.insert(prompt)
            && let Some(request) = reader.request(prompt)?
            && request.tool().is_none()
            && let Some(restored) = restore(&request, call)
        {
            upstreams.insert(restored.upstream);
        }
    }
    Ok(upstreams)
}

/// The last question of a call that was answered, before this seq if there is one.
fn last_answered(
    all: &[(Sample, PromptHash, QuestionAttempts)],
    before: Option<Seq>,
) -> Option<Seq> {
    let answered = all.iter().filter(|(.., made)| made.is_answered(before));
    answered.map(|(.., made)| made.request).max()
}

/// The questions that have an answer. An index does not tell answers from failures.
fn answered_questions(
    reader: &mut CheckedReader,
    run: RunId,
    shared: Option<ForkedFrom>,
) -> Result<Vec<Seq>, LogError> {
    let (before, without) = shared.map_or((None, None), |it| (it.before, it.without));
    let (mut questions, mut events) = (Vec::new(), RunEvents::new(run));
    while let Some(stored) = events.next(reader)? {
        if before.is_some_and(|before| stored.seq >= before) {
            break;
        }
        match stored.event().map_err(LogError::from)? {
            Event::ResponseReceived(received) => questions.push(received.request),
            Event::AnswerReused(reused) => questions.push(reused.request),
            _ => {}
        }
    }
    questions.retain(|question| Some(*question) != without);
    questions.sort_unstable();
    questions.dedup();
    Ok(questions)
}
