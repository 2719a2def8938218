//! Several processes that write to one log.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use crate::support::cli::{Place, Said, assert_said};
use crate::support::waiting::ended;

fn start(place: &Place, args: &str) -> Child {
    let mut command = place.command();
    command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ends_well(child: Child) {
    let said = Said::new(ended(child));
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
}

#[test]
fn four_writers_with_64_calls_in_flight_all_finish() {
    let place = Place::new();
    let run = "run small.yaml --quiet --new --log-wait 2 --concurrency 64 --set puzzles.rows=0..30 \
               --set samples=100";
    let writers: Vec<_> = (0..4).map(|_| start(&place, run)).collect();
    writers.into_iter().for_each(ends_well);
    assert!(place.ok("verify").ends_with("\n4 runs verified\n"));
}

#[test]
fn processes_that_make_one_log_at_the_same_time_all_get_it() {
    for _ in 0..5 {
        let place = Place::new();
        let writers: Vec<_> =
            (0..6).map(|_| start(&place, "run small.yaml --quiet --new")).collect();
        writers.into_iter().for_each(ends_well);
        assert!(place.ok("verify").ends_with("\n6 runs verified\n"));
    }
}

/// SQLite leaves a WAL where two of them close at once, or where one that may not write closes last.
#[test]
fn the_last_of_several_readers_leaves_nothing() {
    let place = Place::with_run();
    assert!(!place.path("retold.db-wal").exists());
    for round in 0..15 {
        let readers = ["log", "verify latest", "show latest", "verify head"];
        let readers: Vec<_> = readers.iter().map(|args| start(&place, args)).collect();
        readers.into_iter().for_each(ends_well);
        for suffix in ["-wal", "-shm"] {
            assert!(!place.path(&format!("retold.db{suffix}")).exists(), "{round}: {suffix}");
        }
    }
}

/// Commits one after the other, each begun as soon as the previous one has ended.
#[test]
fn a_process_that_writes_constantly_lets_others_write() {
    let place = Place::with_run();
    let busy = Connection::open(place.path("retold.db")).unwrap();
    busy.busy_timeout(Duration::from_secs(60)).unwrap();
    let done = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                busy.execute_batch("BEGIN IMMEDIATE").unwrap();
                std::thread::sleep(Duration::from_millis(4));
                busy.execute_batch("COMMIT").unwrap();
            }
        });
        // With the pauses of SQLite's own busy handler, one of the twenty commits would take
        // longer.
        let said = place.run("run small.yaml --quiet --log-wait 20");
        done.store(true, Ordering::Relaxed);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    });
}

/// SQLite does not wait by itself before it changes a file's journal mode.
#[test]
fn a_new_log_that_another_program_reads_is_waited_for() {
    let place = Place::new();
    let other = Connection::open(place.path("retold.db")).unwrap();
    other.execute_batch("PRAGMA user_version = 0; CREATE TABLE t (x); DROP TABLE t").unwrap();
    other.execute_batch("BEGIN; SELECT * FROM sqlite_schema").unwrap();
    assert_said!("crowded_new", place.session(&["run small.yaml --quiet --log-wait 1"]));
    let mut child = start(&place, "run small.yaml --quiet --log-wait 20");
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it waits");
    other.execute_batch("COMMIT").unwrap();
    ends_well(child);
}

#[test]
fn a_run_that_never_got_the_lock_says_how_to_continue() {
    let place = Place::new();
    let child = start(&place, "run small.yaml --quiet --log-wait 1 --set model.latency_ms=200");
    super::interrupted::wait_for_events(&place, 4);
    let other = Connection::open(place.path("retold.db")).unwrap();
    other.busy_timeout(Duration::from_secs(20)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let said = Said::new(ended(child));
    other.execute_batch("COMMIT").unwrap();
    assert_said!("crowded_run", format!("{}[exit {}]\n", said.err, said.code));
    place.ok("run --resume latest --quiet");
}

/// A process that keeps a core busy until this is dropped.
struct Busy(Child);

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A command that runs a program on the first core only.
fn on_one_core(place: &Place, program: &str) -> Command {
    let mut command = Command::new("taskset");
    place.shut_off(&mut command);
    command.args(["-c", "0", program]).env("PATH", "/usr/bin:/bin");
    command
}

/// A process that waits with a transaction open makes all others wait, and on a busy machine a wait
/// of some microseconds lasts milliseconds.
#[test]
fn twelve_writers_on_a_core_with_six_busy_processes_all_finish() {
    let place = Place::new();
    let busy = |_| {
        let mut command = on_one_core(&place, "sh");
        Busy(command.args(["-c", "while :; do :; done"]).spawn().unwrap())
    };
    let _busy: Vec<Busy> = (0..6).map(busy).collect();
    let run = "run small.yaml --quiet --new --log-wait 10 --concurrency 64 --set puzzles.rows=0..30 \
               --set samples=10";
    let writer = |_| {
        let mut command = on_one_core(&place, env!("CARGO_BIN_EXE_retold"));
        command.args(run.split_whitespace());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let writers: Vec<Child> = (0..12).map(writer).collect();
    writers.into_iter().for_each(ends_well);
    assert!(place.ok("verify").ends_with("\n12 runs verified\n"));
}
