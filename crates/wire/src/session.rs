//! One program's run as far as it is known, and the events in it so far. The work of a session is in `dispatch` (where an
//! answer comes from), `play`, `relay` and `report`.

use std::sync::{Arc, Mutex};

use retold::event::RunOutcome;
use retold::id::{CallPath, RunId, Seq};
use retold::log::{Log, LogError};
use retold::run::{Budget, OutcomeLanes, Recorder, RecorderError, Spending, how_it_ended};
use tokio::sync::{Notify, Semaphore};
use tokio::time::Instant;

use crate::answer_registry::{AnswerRegistry, GivenAnswer, NotOne};
use crate::digest::Digest;
use crate::equivalents::Equivalents;
use crate::key::{AttemptPlace, Key};
use crate::limits::{LONG_ANSWERS, MISSES_COMPARED};
use crate::lock::lock;
use crate::nearest_match::NearestMatch;
use crate::queued_calls::QueuedCalls;
use crate::readers::{Readers, SharedEvent};
use crate::recorded::Library;
use crate::recorded_prompts::RecordedPrompts;
use crate::replay_queue::{ReplayTurn, Ticket};
use crate::rules::Rules;
use crate::samples::Samples;
use crate::sharing::{EqualRequest, Sharing};
use crate::summary::SessionSummary;
use crate::upstream::Upstreams;
use crate::wire_request::WireRequest;

/// How many hosts of a summary are named.
const HOSTS_SHOWN: usize = 20;

/// How many calls of a summary are named.
const CALLS_SHOWN: usize = 5;

/// How fast a recorded stream is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// At once.
    #[default]
    AtOnce,
    /// As it arrived when it was recorded.
    Recorded,
}

/// The parts of a session.
pub struct SessionSetup {
    /// The log.
    pub log: Log,
    /// The run that is recorded or replayed.
    pub run: RunId,
    /// Writes the run; `None` for a replay.
    pub recorder: Option<Recorder>,
    /// The samples that are recorded already, in this run or in the one it is forked from.
    pub samples: Samples,
    /// Whether new events go to the run that the samples are from.
    pub same_run: bool,
    /// Which parts of a request count.
    pub rules: Rules,
    /// Where requests go; `None` for a replay.
    pub upstreams: Option<Upstreams>,
    /// The most that the requests may cost.
    pub budget: Budget,
    /// Whether one answer serves all requests that are equal.
    pub shared: bool,
    /// How fast recorded streams are sent.
    pub pace: Pace,
}

/// A session, which all connections share.
pub struct Session {
    pub(crate) run: RunId,
    pub(crate) log: Log,
    pub(crate) library: Library,
    pub(crate) prompts: RecordedPrompts,
    equivalents: Equivalents,
    samples: Samples,
    pub(crate) rules: Rules,
    pub(crate) upstreams: Option<Upstreams>,
    pub(crate) budget: Budget,
    pub(crate) same_run: bool,
    pub(crate) pace: Pace,
    state: Mutex<SessionState>,
    /// Apart from the state, which is not held while an event is made.
    recording: Mutex<SessionRecorder>,
    /// The decisions and facts that are recorded and were not reported yet. Held while the log is read, and while new ones
    /// are recorded.
    pub(crate) lanes: Mutex<OutcomeLanes>,
    pub(crate) long_answers: Semaphore,
    idle: Notify,
}

/// What changes with each exchange. Nothing is awaited while it is held.
struct SessionState {
    queue: QueuedCalls,
    /// `None` if equal requests do not share answers.
    sharing: Option<Sharing>,
    /// The answers that the program was given.
    given: AnswerRegistry,
    summary: SessionSummary,
    /// The number of misses that were compared with the recorded requests.
    compared: usize,
    /// How many exchanges and reports are under way.
    under_way: usize,
    /// Whether nothing more is begun.
    is_closed: bool,
    /// When the program died, if it did.
    died: Option<Instant>,
}

/// What writes the run.
struct SessionRecorder {
    recorder: Option<Recorder>,
    /// Why nothing more can be recorded.
    failed: Option<RecorderError>,
}

/// An exchange or a report under way, until it is dropped.
pub(crate) struct Working(Arc<Session>);

impl Drop for Working {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.under_way -= 1;
        if state.under_way == 0 {
            self.0.idle.notify_waiters();
        }
    }
}

impl Session {
    /// A session.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn new(setup: SessionSetup) -> Result<Arc<Self>, LogError> {
        let SessionSetup {
            log,
            run,
            recorder,
            samples,
            same_run,
            rules,
            upstreams,
            budget,
            shared,
            pace,
        } = setup;
        let live = upstreams.is_some();
        let lanes = if same_run {
            let mut reader = log.reader()?;
            let is_closed = how_it_ended(reader.as_mut(), run)? == Some(RunOutcome::Finished);
            OutcomeLanes::read(reader.as_mut(), run, is_closed)?
        } else {
            // A fork reports its own.
            OutcomeLanes::none(run)
        };
        let readers = samples.readers().unwrap_or_else(|| Arc::new(Readers::new(&log)));
        let state = SessionState {
            queue: QueuedCalls::new(samples.clone(), live, same_run),
            sharing: shared.then(Sharing::default),
            given: AnswerRegistry::default(),
            summary: SessionSummary::default(),
            compared: 0,
            under_way: 0,
            is_closed: false,
            died: None,
        };
        Ok(Arc::new(Session {
            run,
            library: Library::with(readers),
            log,
            prompts: RecordedPrompts::new(samples.clone()),
            equivalents: Equivalents::default(),
            samples,
            rules,
            upstreams,
            budget,
            same_run,
            pace,
            state: Mutex::new(state),
            recording: Mutex::new(SessionRecorder { recorder, failed: None }),
            lanes: Mutex::new(lanes),
            long_answers: Semaphore::new(LONG_ANSWERS),
            idle: Notify::new(),
        }))
    }

    /// Begins an exchange or a report; `None` if the session is closed.
    pub(crate) fn begin_work(self: &Arc<Self>) -> Option<Working> {
        let mut state = lock(&self.state);
        if state.is_closed {
            return None;
        }
        state.under_way += 1;
        Some(Working(self.clone()))
    }

    /// Begins the exchange of a request; `None` if the session is closed.
    pub(crate) fn begin_request(self: &Arc<Self>) -> Option<Working> {
        let working = self.begin_work()?;
        self.count(|summary| summary.requests += 1);
        Some(working)
    }

    /// Refuses new requests; those in flight are finished.
    pub fn close(&self) {
        lock(&self.state).is_closed = true;
    }

    /// Notes that the program died, and with it all its clients.
    pub fn program_died(&self) {
        lock(&self.state).died.get_or_insert_with(Instant::now);
    }

    /// Whether the program had died by this time.
    pub(crate) fn had_died_by(&self, time: Instant) -> bool {
        lock(&self.state).died.is_some_and(|died| died <= time)
    }

    /// Whether a client that left before its answer was whole is waited for: a run that goes on has whole answers.
    pub(crate) fn waits_for_departures(&self) -> bool {
        self.upstreams.is_none() && !self.skips_errors()
    }

    /// Waits until no exchange is under way.
    pub async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if lock(&self.state).under_way == 0 {
                return;
            }
            notified.await;
        }
    }

    /// Changes the summary.
    pub(crate) fn count(&self, change: impl FnOnce(&mut SessionSummary)) {
        change(&mut lock(&self.state).summary);
    }

    /// Notes that an answer led the program to a host that is none of the upstreams.
    pub(crate) fn led_to(&self, host: String) {
        self.count(|summary| {
            if summary.led_to.len() < HOSTS_SHOWN {
                summary.led_to.insert(host);
            }
        });
    }

    /// Counts a request that is not recorded.
    pub(crate) fn count_miss(&self, miss: NearestMatch) {
        self.count(|summary| {
            summary.missed += 1;
            if summary.misses.len() < MISSES_COMPARED {
                summary.misses.push(miss);
            }
        });
    }

    /// Counts a miss; true if it is to be compared with the recorded requests.
    pub(crate) fn compares_a_miss(&self) -> bool {
        let mut state = lock(&self.state);
        state.compared += 1;
        state.compared <= MISSES_COMPARED
    }

    /// Whether recorded failures are left out.
    pub(crate) fn skips_errors(&self) -> bool {
        self.samples.skip_errors()
    }

    /// Reads the recorded samples of a call, if that was not done before. Returns the attempt that
    /// is probably the next to be sent.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub(crate) fn read(
        &self,
        call: &CallPath,
    ) -> Result<Option<(AttemptPlace, SharedEvent)>, LogError> {
        let name = Digest::new(call.as_str());
        if lock(&self.state).queue.has(name) {
            return Ok(None);
        }
        let mut page = self.samples.of_call(call)?;
        let first = page.first.take();
        let SessionState { queue, sharing, .. } = &mut *lock(&self.state);
        // Another request may have read it meanwhile.
        if !queue.has(name) {
            queue.add(name, page, |key, place| {
                if let Some(sharing) = sharing {
                    sharing.note(key, Some(place));
                }
            });
        }
        Ok(first)
    }

    /// The turn of a request whose call was read; `retry` is the number of times that its client has tried before, if that
    /// is known.
    pub(crate) fn take(&self, key: &Key, retry: Option<u32>) -> ReplayTurn {
        lock(&self.state).queue.take(key, retry)
    }

    /// True if this key, whose call was read, has no recorded answer left but an equal request under another key may have
    /// one.
    pub(crate) fn may_have_equal(&self, key: &Key) -> bool {
        self.samples.questions().is_some() && !lock(&self.state).queue.has_left(key)
    }

    /// Whether all that is recorded under a key was given.
    pub(crate) fn is_used_up(&self, key: &Key) -> bool {
        let state = lock(&self.state);
        state.queue.has(Digest::new(key.call.as_str())) && !state.queue.has_left(key)
    }

    /// The turn of a request that has nothing left under its own key, from an equal request; `None` if no equal one has
    /// anything left.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub(crate) fn take_equal(&self, asked: &WireRequest) -> Result<Option<ReplayTurn>, LogError> {
        let keys = self.equivalents.of(asked, &self.rules, &self.prompts, &self.library)?;
        for key in &keys {
            self.read(&key.call)?;
        }
        let queue = &mut lock(&self.state).queue;
        let next = queue.next_of(&keys, asked.retry);
        Ok(next.map(|key| queue.take(key, asked.retry)))
    }

    /// Notes that a client may try an attempt again.
    pub(crate) fn reopen(&self, ticket: Ticket) {
        lock(&self.state).queue.reopen(ticket);
    }

    /// The answer that an equal request has got; waits for it if it is under way. `None` if answers are not
    /// shared, or this request is the first.
    pub(crate) async fn wait_for_answer(&self, key: &Key) -> Option<AttemptPlace> {
        loop {
            let equal = lock(&self.state).sharing.as_mut()?.ask(key);
            match equal {
                EqualRequest::None => return None,
                EqualRequest::Asked(ended) => ended.await,
                EqualRequest::Answered(place) => return Some(place),
            }
        }
    }

    /// The shared answer that an equal request has got already.
    pub(crate) fn shared_answer(&self, key: &Key) -> Option<AttemptPlace> {
        lock(&self.state).sharing.as_ref()?.answer(key)
    }

    /// Notes what became of a request that others may share; `None` if it failed.
    pub(crate) fn share(&self, key: &Key, place: Option<AttemptPlace>) {
        if let Some(sharing) = &mut lock(&self.state).sharing {
            sharing.note(key, place);
        }
    }

    /// Notes that the program was given an answer, so that it can name it.
    pub(crate) fn give(&self, given: GivenAnswer) {
        lock(&self.state).given.note(given);
    }

    /// The answer to a question, if the program was given one.
    pub(crate) fn given_to(&self, question: Seq) -> Option<GivenAnswer> {
        lock(&self.state).given.at(question).cloned()
    }

    /// The answer with an id of the provider's, or the last one to a call.
    ///
    /// # Errors
    /// [`NotOne`] if none or several have the name.
    pub(crate) fn given_as(&self, name: &str) -> Result<GivenAnswer, NotOne> {
        lock(&self.state).given.by_name(name).cloned()
    }

    /// Uses the recorder. After an error, nothing more is recorded.
    ///
    /// # Errors
    /// [`RecorderError`] if it cannot be recorded.
    pub(crate) fn record<T>(
        &self,
        write: impl FnOnce(&mut Recorder) -> Result<T, RecorderError>,
    ) -> Result<Option<T>, RecorderError> {
        let SessionRecorder { recorder, failed } = &mut *lock(&self.recording);
        let Some(recorder) = recorder else { return Ok(None) };
        write(recorder).map(Some).inspect_err(|error| {
            failed.get_or_insert_with(|| error.clone());
        })
    }

    /// Notes that recording failed.
    pub(crate) fn fail(&self, error: &RecorderError) {
        lock(&self.recording).failed.get_or_insert_with(|| error.clone());
    }

    /// Why nothing more can be recorded.
    pub(crate) fn broken_recorder(&self) -> Option<RecorderError> {
        lock(&self.recording).failed.clone()
    }

    /// Compares the decisions and facts that the program has not reported, at its end: each recorded one that it did not
    /// make again is a difference.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn compare_the_rest(&self) -> Result<(), LogError> {
        let left = lock(&self.lanes).rest(self.log.reader()?.as_mut())?;
        if let Some((left, all)) = left {
            self.count(|summary| {
                summary.unreported = u64::try_from(all).unwrap_or(u64::MAX);
                summary.differences += summary.unreported;
                summary.difference.get_or_insert_with(|| left.to_string());
            });
        }
        Ok(())
    }

    /// What happened so far.
    pub fn summary(&self) -> SessionSummary {
        let SessionState { queue, summary, .. } = &*lock(&self.state);
        let (left, calls_left) = (queue.samples_left(), queue.calls_left(CALLS_SHOWN));
        SessionSummary { left, calls_left, ..summary.clone() }
    }

    /// The tokens and the cost of the answers so far.
    pub fn spending(&self) -> Spending {
        self.budget.spending()
    }

    /// Ends the session. `finished` says whether the run is complete; otherwise it can be resumed.
    ///
    /// # Errors
    /// [`RecorderError`] if something could not be recorded.
    pub async fn end(&self, finished: bool) -> Result<(), RecorderError> {
        let (recorder, failed) = {
            let mut recording = lock(&self.recording);
            (recording.recorder.take(), recording.failed.clone())
        };
        if let Some(error) = failed {
            return Err(error);
        }
        match recorder {
            Some(recorder) if finished => recorder.finish(&self.log).await.map(drop),
            Some(recorder) => {
                recorder.flush();
                Ok(())
            }
            None => Ok(()),
        }
    }
}
