//! A recording killed with SIGKILL at any moment loses no answer that was handed on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rand_chacha::rand_core::Rng;
use retold::event::{Event, StoredEvent};
use retold::id::{OutcomeDigest, Seq};
use retold::log::Log;
use retold::run::{Experiment, Finish, Mode, Report, Run, Stop, rng_for};

use crate::support::child;
use crate::support::logs::{Folder, assert_sound, events, open};
use crate::support::mixed::{Fact, chat, fact, number};
use crate::support::oracle::Oracle;
use crate::support::trial::Trial;

const KILLS: u64 = 100;
const CALLS: u64 = 500;
const IN_FLIGHT: usize = 64;

/// Asks many questions at once and prints each answer as soon as it arrives.
struct Burst {
    tell: fn(&str),
}

impl Experiment for Burst {
    type Event = Fact;
    type State = i64;

    fn apply(state: &mut i64, event: &Fact) {
        *state += event.n;
    }

    async fn run(&self, run: &mut Run<Self>) -> Result<(), Stop> {
        let questions =
            (0..CALLS).map(|i| number(&format!("call/{i}"), chat(format!("Number {i}"))));
        let mut n = 0;
        run.ask_each(questions, |run, answer| {
            if let Ok(answer) = answer {
                (self.tell)(&format!("{} call/{n}", answer.response));
                run.record(fact("told", answer.value), &[answer.decision])?;
            }
            n += 1;
            Ok(())
        })
        .await
    }

    fn report(&self, state: &i64) -> Report {
        Report { json: (*state).into(), ..Report::default() }
    }
}

fn trial(log: &Log, slow: Duration) -> Trial {
    let mut trial = Trial::new(log, 1, Oracle::shuffled(1, slow, |_| None));
    trial.limits.concurrency = IN_FLIGHT;
    trial
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// What the process to be killed does.
#[test]
fn child() {
    let Some(path) = child::task() else { return };
    let trial = trial(&open(Path::new(&path)), Duration::from_millis(20));
    child::say("begins");
    let ended = block_on(trial.go(Mode::Record, &Burst { tell: child::say }));
    child::say(&format!("ended {}", ended.outcome_digest));
}

#[test]
fn nothing_handed_on_is_lost_in_a_kill_at_any_moment() {
    let undisturbed = Folder::new();
    let said = undisturbed.path().with_extension("said");
    let mut process = child::start("crash::child", undisturbed.path().to_str().unwrap(), &said);
    process.hear("begins");
    process.wait();
    let last = process.said().pop().unwrap();
    let expected: OutcomeDigest = last.strip_prefix("ended ").unwrap().parse().unwrap();

    let mut rng = rng_for(1, "moments of death");
    let (mut answers, mut most_open, mut kills, mut cut_short) = (BTreeSet::new(), 0, 0, 0);
    // A moment is a number of answers handed on, not a time, because the speed of machines varies.
    while cut_short < KILLS && kills < 2 * KILLS {
        let folder = Folder::new();
        let said = folder.path().with_extension("said");
        let mut process = child::start("crash::child", folder.path().to_str().unwrap(), &said);
        process.hear("begins");
        process.hear_so_many("call/", rng.next_u64() % (CALLS - IN_FLIGHT as u64));
        std::thread::sleep(Duration::from_micros(rng.next_u64() % 5000));
        process.kill();
        let said = process.said();
        let (answered, open) = check_after_death(&folder, &said, expected);
        answers.insert(answered);
        most_open = most_open.max(open);
        kills += 1;
        cut_short += u64::from(!said.iter().any(|line| line.starts_with("ended")));
        assert!(open <= IN_FLIGHT, "kill {kills}: {open} calls would be paid for twice");
    }
    let least = answers.first().unwrap();
    eprintln!(
        "{kills} kills, {cut_short} before the end, {} different lengths from {least} answers, {most_open} open at most",
        answers.len()
    );
    assert_eq!(cut_short, KILLS, "of {kills} kills");
    assert!(answers.len() > 20, "they died at different moments: {answers:?}");
}

/// How many answers a killed process left, and how many questions without one.
fn check_after_death(folder: &Folder, said: &[String], expected: OutcomeDigest) -> (usize, usize) {
    let log = folder.log();
    assert_sound(&log);
    let trial = trial(&log, Duration::ZERO);
    let left = events(log.reader().unwrap().as_mut(), trial.run);
    let (answers, open) = exchanges(&left);
    for line in said.iter().filter(|line| line.contains(" call/")) {
        let (seq, call) = line.split_once(' ').unwrap();
        assert_eq!(answers.get(&Seq(seq.parse().unwrap())).map(String::as_str), Some(call));
    }
    let mode = if left.is_empty() { Mode::Record } else { Mode::Resume };
    let ended = block_on(trial.go(mode, &Burst { tell: |_| {} }));
    assert!(matches!(ended.finish, Finish::Finished), "{:?}", ended.finish);
    assert_eq!(ended.outcome_digest, expected);
    assert_eq!(ended.progress.model_calls, CALLS - answers.len() as u64, "only what is missing");
    assert_sound(&log);
    let replayed = block_on(trial.go(Mode::Replay, &Burst { tell: |_| {} }));
    assert_eq!(replayed.outcome_digest, expected);
    (answers.len(), open)
}

/// The call of each answer, and how many questions have none.
fn exchanges(events: &[StoredEvent]) -> (BTreeMap<Seq, String>, usize) {
    let (mut questions, mut answers) = (BTreeMap::new(), BTreeMap::new());
    for stored in events {
        match stored.event().unwrap() {
            Event::RequestSent(sent) => drop(questions.insert(stored.seq, sent.call.to_string())),
            Event::ResponseReceived(answer) => {
                answers.insert(stored.seq, questions.remove(&answer.request).unwrap());
            }
            _ => {}
        }
    }
    (answers, questions.len())
}

/// The disk is full after any number of pages: the run stops, verifies, and can be continued once
/// there is room.
#[test]
fn a_full_disk_stops_the_run_and_more_room_lets_it_continue() {
    use retold::log::{LogError, NoRoom, SqliteBackend, SqliteOptions};
    let expected = block_on(Trial::in_memory(Oracle::prompt()).record(&Burst { tell: |_| {} }));
    for kilobytes in [430, 470, 520, 590] {
        let folder = Folder::new();
        drop(folder.log());
        let options =
            SqliteOptions { max_bytes: Some(kilobytes * 1024), ..SqliteOptions::default() };
        let small = Log::new(Arc::new(SqliteBackend::open(&folder.path(), options).unwrap()));
        let ended = block_on(
            trial(&small, Duration::from_millis(1)).go(Mode::Record, &Burst { tell: |_| {} }),
        );
        match ended.finish {
            Finish::Stopped(Stop::Log(LogError::Full { why, .. })) => {
                let limit = kilobytes * 1024;
                let is_limit = [NoRoom::Limit(limit), NoRoom::DiskOrLimit(limit)].contains(&why);
                assert!(is_limit, "{why}");
            }
            other => panic!("{kilobytes} kB: {other:?}"),
        }
        drop(small);
        let (_, open) = check_after_death(&folder, &[], expected);
        assert!(open <= 2 * IN_FLIGHT, "{open}");
    }
}
