//! Counts of values by group while a study runs, without the values themselves.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use retold::id::RunId;
use retold::log::Log;
use retold::run::clock::Stopwatch;
use retold_figures::leading_tables;
use retold_study::figures::figure_run;
use retold_study::studies::Studies;

/// How long after the last count the next one begins, at least, and in times of how long that took: counting reads the whole run.
const EVERY: Duration = Duration::from_secs(4);
const TIMES: u32 = 30;

/// The groups of the first figure that a run leads with, counted by a thread of its own.
pub(crate) struct GroupsSoFar {
    log: Log,
    run: RunId,
    studies: Studies,
    watch: Stopwatch,
    counted: Arc<Mutex<Counted>>,
}

/// The last count.
#[derive(Default)]
struct Counted {
    text: Option<String>,
    is_counting: bool,
    /// The thread that counted last: a program that ended before it had closed the log would leave SQLite's files beside it.
    thread: Option<JoinHandle<()>>,
    /// When the next one may begin, after the beginning of the run.
    next: Duration,
}

impl GroupsSoFar {
    /// Of a run of a study that leads with a figure; `None` of others.
    pub(crate) fn new(log: &Log, run: RunId, experiment: &str, studies: &Studies) -> Option<Self> {
        let leads = studies.find(experiment).is_some_and(|study| !study.headline().is_empty());
        let counted = Arc::new(Mutex::new(Counted { next: EVERY, ..Counted::default() }));
        let (log, studies, watch) = (log.clone(), studies.clone(), Stopwatch::start());
        leads.then_some(GroupsSoFar { log, run, studies, watch, counted })
    }

    /// The last count, if there is one. Never waits: the next one begins if it is due.
    pub(crate) fn text(&self) -> Option<String> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.watch.elapsed();
        if !counted.is_counting && now >= counted.next {
            counted.is_counting = true;
            counted.thread = Some(self.count(now));
        }
        counted.text.clone()
    }

    fn count(&self, now: Duration) -> JoinHandle<()> {
        let GroupsSoFar { log, run, studies, counted, .. } = self;
        let (log, run, studies, counted) = (log.clone(), *run, studies.clone(), counted.clone());
        std::thread::spawn(move || {
            let watch = Stopwatch::start();
            let text = counts(&log, run, &studies);
            let took = watch.elapsed();
            let mut counted = counted.lock().unwrap_or_else(PoisonError::into_inner);
            counted.is_counting = false;
            counted.next = now + took + EVERY.max(took * TIMES);
            counted.text = text.or(counted.text.take());
        })
    }
}

impl Drop for GroupsSoFar {
    fn drop(&mut self) {
        let thread = self.counted.lock().unwrap_or_else(PoisonError::into_inner).thread.take();
        // If it has panicked, there is no count.
        let _ = thread.map(JoinHandle::join);
    }
}

/// The counts of the first figure; `None` if there are none yet, or if the run cannot be read, which its execution reports.
fn counts(log: &Log, run: RunId, studies: &Studies) -> Option<String> {
    let mut reader = log.checked_reader().ok()?;
    let of = figure_run(studies, run.short(8), run, &mut reader).ok()?;
    let leading = leading_tables(&mut [of], studies.parsers()).ok()?;
    leading.tables.first()?.counts_so_far()
}
