//! The checks of runs, event by event, in the background.
//!
//! A run is checked when it is first shown. One that grows while it is shown is checked again when it is twice as long, and
//! when it has ended: the events that it gets in between are compared with their hashes where they are read (see `roll`), so
//! that a long run that is being recorded is not read again and again. If it has not grown, but the log's files were
//! changed, it is checked again: the earlier result does not apply to the files as they are now.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use retold::id::{RunId, Seq};
use retold::log::{Fault, LogError};
use retold::run::clock::Stopwatch;

use crate::background::{Background, WAIT_TIMEOUT, lock};
use retold_archive::FileStamp;
use retold_archive::Verdict;

/// How long a page waits for the check of runs that are not long.
const LONGER: Duration = Duration::from_secs(2);

/// The most events whose check is waited for so long.
const MOST_AWAITED: u64 = 20_000;

/// How many times as long as a check took it is not repeated because the log was changed.
const PAUSE: u32 = 10;

/// A run that is to be checked.
#[derive(Debug, Clone)]
pub(crate) struct Due {
    pub(crate) run: RunId,
    /// Its last event.
    pub(crate) last: Seq,
    /// Whether that is its end.
    pub(crate) is_over: bool,
    /// The log's files.
    pub(crate) files: FilesNow,
}

impl Due {
    /// True if the log's files were changed, by any process, other than by new events of the run.
    fn is_changed(&self, now: &Due) -> bool {
        let has_grown = !self.is_over && now.last > self.last;
        self.files.may_differ(&now.files) && !has_grown
    }
}

/// How a log's files are.
#[derive(Debug, Clone)]
pub(crate) enum FilesNow {
    /// It was read into memory.
    None,
    /// As they are.
    Are(FileStamp),
    /// That cannot be found out.
    Unknown,
}

impl FilesNow {
    fn may_differ(&self, now: &FilesNow) -> bool {
        match (self, now) {
            (FilesNow::None, FilesNow::None) => false,
            (FilesNow::Are(before), FilesNow::Are(now)) => before != now,
            _ => true,
        }
    }
}

/// The state of a run's check.
#[derive(Debug, Clone, Default)]
pub(crate) struct CheckState {
    pub(crate) verdict: Verdict,
    /// Whether it is being checked: for the first time, or because the log was changed.
    pub(crate) is_pending: bool,
    /// Whether the log was changed since, and it is too soon to check it again.
    pub(crate) is_changed: bool,
}

/// The checks of all runs that were shown.
#[derive(Default)]
pub(crate) struct Checks {
    runs: Mutex<BTreeMap<RunId, Arc<RunCheck>>>,
    /// Whether a thread goes through several runs.
    is_surveying: AtomicBool,
}

/// The check of one run.
type RunCheck = Background<CheckStand>;

/// How far the check of a run has come.
#[derive(Default)]
struct CheckStand {
    is_running: bool,
    /// The last check that has ended.
    checked: Option<CheckOutcome>,
    /// The run as it was when it was last to be shown.
    seen: Option<Due>,
    /// Whether the log was changed between two times when it was to be shown.
    is_changed: bool,
    verdict: Verdict,
}

/// A check that has ended.
struct CheckOutcome {
    due: Due,
    /// Whether it had been checked before, and the log was changed.
    is_again: bool,
    took: Duration,
    ended: Stopwatch,
}

impl CheckOutcome {
    /// Whether the run may be checked once more because of that: while other runs are written to the log, this
    /// takes a part of the time.
    fn may_be_again(&self) -> bool {
        !self.is_again || self.ended.elapsed() > self.took * PAUSE
    }
}

impl CheckStand {
    /// The run is to be shown.
    fn look(&mut self, due: &Due) {
        self.is_changed |= self.seen.as_ref().is_some_and(|seen| seen.is_changed(due));
        self.seen = Some(due.clone());
    }

    /// Marks the result as outdated: the log as it is now contradicts it.
    fn doubt(&mut self) {
        self.is_changed = true;
        if let Some(checked) = &mut self.checked {
            checked.is_again = false;
        }
    }

    /// Whether the log was changed since the run was checked.
    fn is_changed(&self, due: &Due) -> bool {
        let checked = self.checked.as_ref();
        checked.is_some_and(|checked| self.is_changed || checked.due.is_changed(due))
    }

    fn is_due(&self, due: &Due) -> bool {
        let Some(checked) = &self.checked else { return !self.is_running };
        let before = &checked.due;
        match self.is_running {
            true => false,
            _ if due.is_over && !before.is_over => true,
            _ if self.is_changed(due) => checked.may_be_again(),
            // Damage may have been repaired.
            _ if self.verdict.is_damaged() => due.last != before.last,
            _ => due.last.0 >= before.last.0.saturating_mul(2).max(1),
        }
    }

    fn check_state(&self) -> CheckState {
        let is_changed = self.seen.as_ref().is_some_and(|seen| self.is_changed(seen));
        let is_on_the_way =
            self.is_running || self.seen.as_ref().is_some_and(|seen| self.is_due(seen));
        CheckState {
            verdict: self.verdict.clone(),
            is_pending: self.checked.is_none() || is_changed && is_on_the_way,
            is_changed: is_changed && !is_on_the_way,
        }
    }
}

impl Checks {
    fn of(&self, run: RunId) -> Arc<RunCheck> {
        lock(&self.runs).entry(run).or_default().clone()
    }

    /// The state of a run's check.
    pub(crate) fn state(&self, run: RunId) -> CheckState {
        self.of(run).state().check_state()
    }

    /// Checks runs in the background, one after the other, and waits a while for those that were never
    /// checked, or not since the log was changed: two seconds if they are not long, or else a moment. `check`
    /// checks one run.
    pub(crate) fn await_all(
        self: &Arc<Self>,
        all: Vec<Due>,
        check: impl Fn(RunId) -> Result<Verdict, LogError> + Send + 'static,
    ) {
        let events: u64 = all.iter().map(|due| due.last.0).sum();
        let timeout = if events <= MOST_AWAITED { LONGER } else { WAIT_TIMEOUT };
        let begun = Stopwatch::start();
        for due in &all {
            self.of(due.run).state().look(due);
        }
        self.begin(all.clone(), check);
        for due in all {
            let left = timeout.saturating_sub(begun.elapsed());
            drop(self.of(due.run).wait_while(left, |stand| stand.check_state().is_pending));
        }
    }

    /// Marks the results of all runs as outdated: each run is checked again when it is to be shown.
    pub(crate) fn doubt(&self) {
        let all: Vec<Arc<RunCheck>> = lock(&self.runs).values().cloned().collect();
        all.iter().for_each(|check| check.state().doubt());
    }

    fn begin(
        self: &Arc<Self>,
        all: Vec<Due>,
        check: impl Fn(RunId) -> Result<Verdict, LogError> + Send + 'static,
    ) {
        let is_due = |due: &Due| self.of(due.run).state().is_due(due);
        if !all.iter().any(is_due) {
            return;
        }
        // One run has a thread of its own. Several have one together: a log may have many.
        let is_survey = all.len() > 1;
        if is_survey && self.is_surveying.swap(true, Ordering::AcqRel) {
            return;
        }
        let checks = self.clone();
        std::thread::spawn(move || {
            for due in all {
                check_if_due(&checks.of(due.run), due, &check);
            }
            if is_survey {
                checks.is_surveying.store(false, Ordering::Release);
            }
        });
    }
}

/// Checks a run, unless it was or somebody else does.
fn check_if_due(run: &RunCheck, due: Due, check: &impl Fn(RunId) -> Result<Verdict, LogError>) {
    let is_again = {
        let mut stand = run.state();
        if !stand.is_due(&due) {
            return;
        }
        stand.is_running = true;
        let is_again = stand.is_changed(&due);
        stand.is_changed = false;
        is_again
    };
    let begun = Stopwatch::start();
    run.work(
        || check(due.run).map_err(|error| error.to_string()),
        |stand, found| {
            let unchecked = |why| Verdict { whole: Some(Fault::Unchecked { why }), from: None };
            stand.is_running = false;
            stand.verdict = found.unwrap_or_else(unchecked);
            let (took, ended) = (begun.elapsed(), Stopwatch::start());
            stand.checked = Some(CheckOutcome { due: due.clone(), is_again, took, ended });
        },
    );
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    const RUN: RunId = RunId([7; 8]);

    fn due(last: u64, is_over: bool) -> Due {
        Due { run: RUN, last: Seq(last), is_over, files: FilesNow::None }
    }

    /// How often a run is checked that is looked at each time it has one event more.
    #[test]
    fn a_run_that_grows_is_not_checked_at_each_look() {
        let (checks, times) = (Arc::new(Checks::default()), Arc::new(AtomicU64::new(0)));
        let look = |due| {
            let times = times.clone();
            checks.await_all(vec![due], move |_| {
                times.fetch_add(1, Ordering::Relaxed);
                Ok(Verdict::default())
            });
            assert!(!checks.state(RUN).is_pending);
        };
        for last in 100..250 {
            look(due(last, false));
        }
        // At 100 and at 200, or a little later if the first check took that long.
        let settled = || {
            let check = checks.of(RUN);
            check.state().checked.as_ref().is_some_and(|checked| checked.due.last.0 >= 200)
        };
        let begun = Stopwatch::start();
        while !settled() && begun.elapsed() < Duration::from_secs(300) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(times.load(Ordering::Relaxed), 2);
        // At its end, once.
        for _ in 0..3 {
            look(due(251, true));
        }
        while times.load(Ordering::Relaxed) < 3 && begun.elapsed() < Duration::from_secs(300) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(times.load(Ordering::Relaxed), 3);
    }

    /// What a run got explains that the files are others; what it got before does not explain it later.
    #[test]
    fn a_run_that_grew_is_checked_again_if_its_log_is_changed_then() {
        let now = |last: u64, files: FilesNow| Due { files, ..due(last, false) };
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let files = |text: &str| {
            std::fs::write(&log, text).unwrap();
            FilesNow::Are(FileStamp::new(&log).unwrap())
        };
        let mut stand = CheckStand::default();
        let mut look = |due: Due| {
            stand.look(&due);
            if stand.checked.is_none() {
                let ended = Stopwatch::start();
                let took = Duration::ZERO;
                stand.checked =
                    Some(CheckOutcome { due: due.clone(), is_again: false, took, ended });
            }
            stand.is_due(&due)
        };
        let first = files("1");
        assert!(!look(now(100, first.clone())) && !look(now(100, first)));
        let grown = files("12");
        assert!(!look(now(120, grown.clone())) && !look(now(120, grown.clone())));
        // What cannot be found out may have been changed.
        assert!(look(now(120, FilesNow::Unknown)));
        let changed = files("1234");
        stand.is_changed = false;
        stand.seen = Some(now(120, grown));
        stand.look(&now(120, changed.clone()));
        assert!(stand.is_due(&now(120, changed.clone())) && stand.check_state().is_pending);
        stand.look(&now(121, changed));
        assert!(stand.check_state().is_pending, "it was not checked since");
    }

    #[test]
    fn a_check_that_panics_is_over() {
        let checks = Arc::new(Checks::default());
        checks.await_all(vec![due(1, true)], |_| panic!("of a test"));
        let known = checks.state(RUN);
        assert!(known.verdict.whole.is_some_and(|why| why.to_string().contains("internal error")));
        assert!(!known.is_pending);
    }

    #[test]
    fn a_long_run_is_not_waited_for() {
        let checks = Arc::new(Checks::default());
        let (release, held) = std::sync::mpsc::channel::<()>();
        let held = Mutex::new(held);
        let begun = Stopwatch::start();
        checks.await_all(vec![due(1_000_000, true)], move |_| {
            let _ = lock(&held).recv_timeout(Duration::from_secs(300));
            Ok(Verdict::default())
        });
        assert!(checks.state(RUN).is_pending && begun.elapsed() < Duration::from_secs(60));
        release.send(()).unwrap();
        let begun = Stopwatch::start();
        while checks.state(RUN).is_pending {
            assert!(begun.elapsed() < Duration::from_secs(300), "the check did not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
