//! One program's run: where its answers come from, and what is recorded of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::http::{HeaderValue, header};
use hyper::{Response, StatusCode};
use retold::event::RunOutcome;
use retold::id::{CallPath, RunId};
use retold::log::{Log, LogError};
use retold::run::{OutcomeLanes, Recorder, RecorderError, how_it_ended};
use serde_json::to_vec;
use tokio::sync::{Notify, Semaphore};

use crate::answer_registry::{AnswerRegistry, Given};
use crate::asked::{Asked, Incoming, Key};
use crate::dialect::{self, Dialect, Problem};
use crate::digest::Digest;
use crate::limits::{LONG_ANSWERS, MISSES_COMPARED};
use crate::nearest::{NearestMatch, Prompts, Why};
use crate::outlet::{Outgoing, Outlet};
use crate::play;
use crate::queued_calls::QueuedCalls;
use crate::readers::{Found, Readers};
use crate::recorded::Library;
use crate::relay;
use crate::replay_queue::{Place, Turn};
use crate::rules::Rules;
use crate::samples::Samples;
use crate::sharing::Sharing;
use crate::summary::Summary;
use crate::upstream::Upstreams;

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

/// What a session is made of.
pub struct Setup {
    /// The log.
    pub log: Log,
    /// The run that is recorded or replayed.
    pub run: RunId,
    /// Writes the run; `None` for a replay.
    pub recorder: Option<Recorder>,
    /// What is recorded already, in this run or in the one it is forked from.
    pub samples: Samples,
    /// Whether new events go to the run that the samples are from.
    pub same_run: bool,
    /// What of a request counts.
    pub rules: Rules,
    /// Where requests go; `None` for a replay.
    pub upstreams: Option<Upstreams>,
    /// Whether one answer serves all requests that are equal.
    pub shared: bool,
    /// How fast recorded streams are sent.
    pub pace: Pace,
}

/// A session: the state that all connections share.
pub struct Session {
    pub(crate) run: RunId,
    pub(crate) log: Log,
    recorder: Mutex<Option<Recorder>>,
    shelf: Mutex<QueuedCalls>,
    pub(crate) library: Library,
    samples: Samples,
    prompts: Prompts,
    pub(crate) rules: Rules,
    pub(crate) upstreams: Option<Upstreams>,
    /// `None` if equal requests do not share answers.
    sharing: Option<Sharing>,
    pub(crate) same_run: bool,
    pub(crate) pace: Pace,
    summary: Mutex<Summary>,
    /// How many misses were compared with what is recorded.
    compared: Mutex<usize>,
    /// The decisions and facts that are recorded and were not reported yet.
    pub(crate) lanes: Mutex<OutcomeLanes>,
    /// The answers that the program was given.
    pub(crate) handed: Mutex<AnswerRegistry>,
    /// Why nothing more can be recorded.
    failed: Mutex<Option<RecorderError>>,
    pub(crate) long_answers: Semaphore,
    /// What is under way.
    working: Mutex<Work>,
    idle: Notify,
}

/// What is under way.
#[derive(Debug, Default)]
struct Work {
    exchanges: usize,
    /// Whether nothing more is begun.
    is_closed: bool,
}

/// An exchange under way, until it is dropped.
pub(crate) struct Working(Arc<Session>);

impl Drop for Working {
    fn drop(&mut self) {
        let mut working = lock(&self.0.working);
        working.exchanges -= 1;
        if working.exchanges == 0 {
            self.0.idle.notify_waiters();
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// A session.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn new(setup: Setup) -> Result<Arc<Self>, LogError> {
        let Setup { log, run, recorder, samples, same_run, rules, upstreams, shared, pace } = setup;
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
        Ok(Arc::new(Session {
            run,
            library: Library::with(readers),
            log,
            recorder: Mutex::new(recorder),
            shelf: Mutex::new(QueuedCalls::new(samples.clone(), live, same_run)),
            prompts: Prompts::new(samples.clone()),
            samples,
            rules,
            upstreams,
            sharing: shared.then(Sharing::default),
            same_run,
            pace,
            summary: Mutex::default(),
            compared: Mutex::default(),
            lanes: Mutex::new(lanes),
            handed: Mutex::default(),
            failed: Mutex::default(),
            long_answers: Semaphore::new(LONG_ANSWERS),
            working: Mutex::default(),
            idle: Notify::new(),
        }))
    }

    /// Answers a request.
    pub(crate) async fn handle(self: Arc<Self>, incoming: Incoming) -> Response<Outgoing> {
        let Some(working) = self.begin_work() else { return ended(dialect::at(&incoming.path)) };
        self.count(|summary| summary.requests += 1);
        if let Some(error) = self.broken() {
            return refused(dialect::at(&incoming.path), 500, "retold_log", &error);
        }
        let asked = match incoming.asked(&self.rules) {
            Ok(asked) => asked,
            Err(error) => {
                let said = error.to_string();
                let problem = Problem { status: 400, code: "retold_request", message: &said };
                return self.refusal(&incoming, problem).await;
            }
        };
        let read = match self.read(&asked.key.call) {
            Ok(read) => read,
            Err(error) => return refused(asked.dialect, 500, "retold_log", &error.to_string()),
        };
        if self.upstreams.is_some()
            && let Some(sharing) = &self.sharing
            && let Some(place) = sharing.awaited(&asked.key).await
        {
            return play::shared(&self, &asked, place).await;
        }
        let turn = lock(&self.shelf).take(&asked.key, asked.retry);
        match turn {
            Turn::Recorded(ticket, attempt) => {
                play::recorded(&self, &asked, ticket, (attempt, read)).await
            }
            Turn::Live(ticket) => {
                let (waiting, answer) = Outlet::awaited();
                let dialect = asked.dialect;
                // The answer is read to its end even if the client leaves.
                tokio::spawn(relay::relay(self.clone(), working, incoming, asked, ticket, waiting));
                answer.await.unwrap_or_else(|_| {
                    refused(dialect, 500, "retold_error", "retold lost this request: this is a bug")
                })
            }
            Turn::Nothing => self.missing(&asked).await,
        }
    }

    /// Refuses a request before it is asked.
    pub(crate) async fn refuse(
        self: Arc<Self>,
        incoming: Incoming,
        problem: Problem<'_>,
    ) -> Response<Outgoing> {
        let Some(_working) = self.begin_work() else { return ended(dialect::at(&incoming.path)) };
        self.count(|summary| summary.requests += 1);
        self.refusal(&incoming, problem).await
    }

    /// What a client gets whose request is not asked: it is recorded, or in the record already.
    async fn refusal(
        self: &Arc<Self>,
        incoming: &Incoming,
        problem: Problem<'_>,
    ) -> Response<Outgoing> {
        let dialect = dialect::at(&incoming.path);
        let answer = refused(dialect, problem.status, problem.code, problem.message);
        if self.broken().is_some() {
            return answer;
        }
        let Ok(asked) = incoming.asked_without_body(&self.rules, problem.code) else {
            return answer;
        };
        let Ok(read) = self.read(&asked.key.call) else { return answer };
        match self.take(&asked) {
            Turn::Recorded(ticket, attempt) => {
                play::recorded(self, &asked, ticket, (attempt, read)).await
            }
            Turn::Live(ticket) => {
                relay::refused_here(self, &asked, ticket, &problem).await;
                answer
            }
            Turn::Nothing => {
                // What failed may be left out of the replay.
                if !self.samples.skip_errors() {
                    let why = Why::Refused(problem.message.to_owned());
                    self.missed(NearestMatch {
                        call: asked.key.call,
                        why,
                        rules: String::new(),
                        lacks_key: self.rules.lacks_key().map(str::to_owned),
                    });
                }
                answer
            }
        }
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
    fn missed(&self, miss: NearestMatch) {
        self.count(|summary| {
            summary.missed += 1;
            if summary.misses.len() < MISSES_COMPARED {
                summary.misses.push(miss);
            }
        });
    }

    /// A request that is not recorded.
    async fn missing(self: &Arc<Self>, asked: &Asked) -> Response<Outgoing> {
        if let Some(place) = self.sharing.as_ref().and_then(|it| it.answered(&asked.key)) {
            return play::shared(self, asked, place).await;
        }
        let compared = {
            let mut compared = lock(&self.compared);
            *compared += 1;
            *compared
        };
        let not_compared = || NearestMatch {
            call: asked.key.call.clone(),
            why: Why::NotCompared,
            rules: String::new(),
            lacks_key: self.rules.lacks_key().map(str::to_owned),
        };
        let miss = if compared > MISSES_COMPARED {
            not_compared()
        } else {
            let (session, asked) = (self.clone(), asked.clone());
            let compared = tokio::task::spawn_blocking(move || {
                session.prompts.miss(&asked, &session.rules, &session.library)
            });
            // A log that cannot be read is reported by whoever reads the next answer.
            compared.await.ok().and_then(Result::ok).unwrap_or_else(not_compared)
        };
        let said = format!("retold replay: {miss}");
        self.missed(miss);
        refused(asked.dialect, 404, "retold_not_recorded", &said)
    }

    /// Notes what became of a request that others may share; `None` if it failed.
    pub(crate) fn share(&self, key: &Key, place: Option<Place>) {
        if let Some(sharing) = &self.sharing {
            sharing.note(key, place);
        }
    }

    /// Uses the recorder. After an error, nothing more is recorded.
    pub(crate) fn record<T>(
        &self,
        write: impl FnOnce(&mut Recorder) -> Result<T, RecorderError>,
    ) -> Result<Option<T>, RecorderError> {
        match lock(&self.recorder).as_mut() {
            Some(recorder) => write(recorder).map(Some).inspect_err(|error| self.fail(error)),
            None => Ok(None),
        }
    }

    /// Notes that recording failed.
    pub(crate) fn fail(&self, error: &RecorderError) {
        lock(&self.failed).get_or_insert_with(|| error.clone());
    }

    /// Why nothing more can be recorded, for a client.
    fn broken(&self) -> Option<String> {
        self.broken_recorder().map(|error| format!("retold cannot record: {error}"))
    }

    /// Why nothing more can be recorded.
    pub(crate) fn broken_recorder(&self) -> Option<RecorderError> {
        lock(&self.failed).clone()
    }

    /// Notes that the program was given an answer, so that it can name it.
    pub(crate) fn given(&self, given: Given) {
        lock(&self.handed).note(given);
    }

    /// Reads what is recorded of a call, if that was not done before. Returns the attempt that is
    /// probably the next to be sent.
    fn read(&self, call: &CallPath) -> Result<Option<(Place, Found)>, LogError> {
        let name = Digest::new(call.as_str());
        if lock(&self.shelf).has(name) {
            return Ok(None);
        }
        let mut page = self.samples.of_call(call)?;
        let first = page.first.take();
        let mut shelf = lock(&self.shelf);
        // Another request may have read it meanwhile.
        if !shelf.has(name) {
            shelf.add(name, page, |key, place| {
                self.share(key, Some(place));
            });
        }
        Ok(first)
    }

    /// The turn of a request that gets a shared answer.
    pub(crate) fn take(&self, asked: &Asked) -> Turn {
        lock(&self.shelf).take(&asked.key, Some(0))
    }

    /// Notes that a client may try an attempt again.
    pub(crate) fn reopen(&self, ticket: crate::replay_queue::Ticket) {
        lock(&self.shelf).reopen(ticket);
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Summary)) {
        change(&mut lock(&self.summary));
    }

    /// Begins an exchange or a report; `None` if the session is closed.
    pub(crate) fn begin_work(self: &Arc<Self>) -> Option<Working> {
        let mut working = lock(&self.working);
        if working.is_closed {
            return None;
        }
        working.exchanges += 1;
        Some(Working(self.clone()))
    }

    /// Refuses whatever comes from now on; what is under way goes on.
    pub fn close(&self) {
        lock(&self.working).is_closed = true;
    }

    /// Waits until no exchange is under way.
    pub async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if lock(&self.working).exchanges == 0 {
                return;
            }
            notified.await;
        }
    }

    /// Compares what the program has not reported, at its end: each recorded decision or fact that it did
    /// not make again is a difference.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn compare_the_rest(&self) -> Result<(), LogError> {
        let left = lock(&self.lanes).left(self.log.reader()?.as_mut())?;
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
    pub fn summary(&self) -> Summary {
        let shelf = lock(&self.shelf);
        let (left, calls_left) = (shelf.left(), shelf.calls_left(CALLS_SHOWN));
        Summary { left, calls_left, ..lock(&self.summary).clone() }
    }

    /// Ends the session. `finished` says whether the run is complete; otherwise it can be resumed.
    ///
    /// # Errors
    /// [`RecorderError`] if something could not be recorded.
    pub async fn end(&self, finished: bool) -> Result<(), RecorderError> {
        let recorder = lock(&self.recorder).take();
        if let Some(error) = lock(&self.failed).clone() {
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

/// What a client gets whose run has ended.
pub(crate) fn ended(dialect: &dyn Dialect) -> Response<Outgoing> {
    refused(
        dialect,
        503,
        "retold_ended",
        "the run has ended, and this was neither asked nor recorded",
    )
}

/// An error in the shape of an API, which its clients do not try again.
pub(crate) fn refused(
    dialect: &dyn Dialect,
    status: u16,
    code: &'static str,
    message: &str,
) -> Response<Outgoing> {
    let body = dialect.error(&Problem { status, code, message });
    // JSON that was just made can be written.
    let body = to_vec(&body).unwrap_or_default();
    let mut response = Response::new(Outgoing::Whole(Some(body.into())));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert("x-should-retry", HeaderValue::from_static("false"));
    response
}
