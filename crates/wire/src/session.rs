//! One program's run as far as it is known, and the events in it so far. Each part of a session owns its state: `session_queue`
//! (the recorded answers that are left), `session_work` (what is under way), `session_counts` and `session_recorder`. Its work
//! is done by `dispatch` (where an answer comes from), `play`, `relay` and `report`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use retold::event::RunOutcome;
use retold::id::{CallPath, RunId};
use retold::log::{Log, LogError};
use retold::run::{Budget, OutcomeLanes, Recorder, RecorderError, how_it_ended};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::answer_registry::AnswerRegistry;
use crate::batching::HeldRequests;
use crate::equivalents::Equivalents;
use crate::handed_urls::HandedUrls;
use crate::limits::{LONG_ANSWERS, LONGEST_ANSWERS};
use crate::lock::lock;
use crate::open_tools::OpenTools;
use crate::readers::Readers;
use crate::recorded::Library;
use crate::recorded_prompts::RecordedPrompts;
use crate::rules::Rules;
use crate::samples::Samples;
use crate::session_counts::SessionCounts;
use crate::session_queue::SessionQueue;
use crate::session_recorder::SessionRecorder;
use crate::session_work::{SessionWork, Working};
use crate::summary::SessionSummary;
use crate::tool_links::ToolLinks;
use crate::upstream::Upstreams;

/// How many calls of a summary are named.
const CALLS_SHOWN: usize = 5;

/// How long it is waited between two looks at what is held.
const LAYER_LOOKS: Duration = Duration::from_millis(250);

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
    /// Which parts of a request count.
    pub rules: Rules,
    /// Where requests go; `None` for a replay.
    pub upstreams: Option<Upstreams>,
    /// The most that the requests may cost.
    pub budget: Budget,
    /// Whether one answer serves all requests that are equal.
    pub shared: bool,
    /// Whether the draws of the program are recorded.
    pub is_chance_recorded: bool,
    /// Whether requests that can be answered by batch are held for one.
    pub holds: bool,
    /// How fast recorded streams are sent.
    pub pace: Pace,
    /// The longest body of a request or an answer, in bytes.
    pub longest_body: usize,
}

/// A session, which all connections share.
pub struct Session {
    pub(crate) run: RunId,
    pub(crate) log: Log,
    pub(crate) library: Library,
    pub(crate) prompts: RecordedPrompts,
    pub(crate) equivalents: Equivalents,
    pub(crate) rules: Rules,
    pub(crate) upstreams: Option<Upstreams>,
    /// The most that the requests may cost, and what they have cost.
    pub budget: Budget,
    pub(crate) pace: Pace,
    pub(crate) is_chance_recorded: bool,
    /// The requests that are held for a batch; `None` if all are asked at once.
    pub(crate) held: Option<HeldRequests>,
    /// The exchanges that are under way.
    pub work: Arc<SessionWork>,
    pub(crate) queue: SessionQueue,
    /// The tools of the program that are running.
    pub(crate) tools: OpenTools,
    /// Which answers called them, and what they gave.
    pub(crate) tool_links: Mutex<ToolLinks>,
    /// The answers that the program was given, so that it can name them.
    pub(crate) given: Mutex<AnswerRegistry>,
    pub(crate) counts: SessionCounts,
    pub(crate) recorder: SessionRecorder,
    /// The decisions and facts that are recorded and were not reported yet. Held while the log is read, and while new ones
    /// are recorded.
    pub(crate) lanes: Mutex<OutcomeLanes>,
    /// URLs in bodies that lead through us.
    pub(crate) handed_urls: HandedUrls,
    /// The part of the program that is running, such as a test: the calls of all requests begin with it.
    pub(crate) part: Mutex<Option<CallPath>>,
    pub(crate) long_answers: Semaphore,
    pub(crate) longest_answers: Semaphore,
    pub(crate) longest_body: usize,
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
            rules,
            upstreams,
            budget,
            shared,
            is_chance_recorded,
            holds,
            pace,
            longest_body,
        } = setup;
        let mut reader = log.reader()?;
        let is_closed = how_it_ended(reader.as_mut(), run)? == Some(RunOutcome::Finished);
        let lanes = OutcomeLanes::read(reader.as_mut(), run, is_closed)?;
        drop(reader);
        let readers = samples.readers().unwrap_or_else(|| Arc::new(Readers::new(&log)));
        Ok(Arc::new(Session {
            run,
            library: Library::with(readers),
            log,
            prompts: RecordedPrompts::new(samples.clone()),
            equivalents: Equivalents::default(),
            tools: OpenTools::default(),
            tool_links: Mutex::default(),
            queue: SessionQueue::new(run, samples, (upstreams.is_some(), holds), shared),
            rules,
            upstreams,
            budget,
            pace,
            is_chance_recorded,
            held: holds.then(HeldRequests::default),
            work: Arc::default(),
            given: Mutex::default(),
            counts: SessionCounts::default(),
            recorder: SessionRecorder::new(recorder),
            lanes: Mutex::new(lanes),
            handed_urls: HandedUrls::default(),
            part: Mutex::default(),
            long_answers: Semaphore::new(LONG_ANSWERS),
            longest_answers: Semaphore::new(LONGEST_ANSWERS),
            longest_body,
        }))
    }

    /// Begins the exchange of a request; `None` if the session is closed.
    pub(crate) fn begin_request(&self) -> Option<Working> {
        let working = self.work.begin()?;
        self.counts.change(|summary| summary.requests += 1);
        Some(working)
    }

    /// True if a client that left before its answer was whole is waited for: a run that goes on has whole answers.
    pub(crate) fn waits_for_departures(&self) -> bool {
        self.upstreams.is_none() && !self.queue.skips_errors()
    }

    /// Waits until requests are held, nothing else is under way, and no further one has come for a while.
    pub async fn layer(&self, quiet: Duration) {
        loop {
            let (held, last) = self.held.as_ref().map(HeldRequests::count).unwrap_or_default();
            let due = last.map(|last| last + quiet);
            match due {
                Some(due) if due <= Instant::now() && self.work.count() <= held => return,
                _ => tokio::time::sleep(quiet.min(LAYER_LOOKS)).await,
            }
        }
    }

    /// Compares the decisions and facts that the program has not reported, at its end: each recorded one that it did not
    /// make again is a difference.
    ///
    /// # Errors
    /// [`LogError`] if the log cannot be read.
    pub fn compare_the_rest(&self) -> Result<(), LogError> {
        let left = lock(&self.lanes).rest(self.log.reader()?.as_mut())?;
        if let Some((left, all)) = left {
            self.counts.change(|summary| {
                summary.unreported = u64::try_from(all).unwrap_or(u64::MAX);
                summary.differences += summary.unreported;
                summary.difference.get_or_insert_with(|| left.to_string());
            });
        }
        Ok(())
    }

    /// What happened so far.
    pub fn summary(&self) -> SessionSummary {
        let (left, calls_left) = self.queue.left(CALLS_SHOWN);
        SessionSummary { left, calls_left, ..self.counts.summary() }
    }

    /// Ends the session. `finished` says whether the run is complete; otherwise it can be resumed.
    ///
    /// # Errors
    /// [`RecorderError`] if something could not be recorded.
    pub async fn end(&self, finished: bool) -> Result<(), RecorderError> {
        self.recorder.end(finished, &self.log).await
    }
}
