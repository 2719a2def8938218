//! Files that are not logs, or not logs that can be written now.

use std::io::Read;
use std::process::{Command, Stdio};

use rusqlite::Connection;

use crate::format::relabel;
use crate::support::cli::{Place, assert_said};

#[test]
fn files_that_are_not_logs() {
    let place = Place::new();
    place.write(
        "text.db",
        "This is a text, long enough to be read as the header of something else.\n",
    );
    place.write("empty.db", "");
    let other = Connection::open(place.path("other.db")).unwrap();
    other.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    drop(other);
    std::fs::create_dir(place.path("folder")).unwrap();
    assert_said!(
        "logs_no_log",
        place.session(&[
            "run small.yaml --log text.db",
            "log --log text.db",
            "run small.yaml --log other.db",
            "verify --log other.db",
            "log --log empty.db",
            "verify --log empty.db",
            "run --resume latest --log empty.db",
            "log --log none.db",
            "run small.yaml --log none/new.db",
            "run small.yaml --log text.db/new.db",
            "log --log text.db/new.db",
            "run small.yaml --log folder",
            "import none.jsonl --log none/new.db",
        ])
    );
    assert!(place.read("text.db").starts_with("This is a text"));
    assert_eq!(place.read("empty.db"), "", "who only looks changes nothing");
}

/// For these files SQLite would report a failing disk, or not name the file that it cannot open.
#[test]
fn files_that_are_not_regular() {
    let place = Place::with_run();
    std::fs::create_dir(place.path("linked")).unwrap();
    for name in ["retold.db", "retold.db-mark"] {
        std::fs::copy(place.path(name), place.path("linked").join(name)).unwrap();
    }
    std::os::unix::fs::symlink("elsewhere", place.path("linked/retold.db-wal")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.path("device.db")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("pipe.db")).status().unwrap().success());
    assert_said!(
        "logs_special",
        place.session(&[
            "log --log device.db",
            "run small.yaml --log device.db",
            "log --log pipe.db",
            "verify --log pipe.db",
            "copy --to copy.db --log pipe.db",
            "log --log linked/retold.db",
            "run small.yaml --log linked/retold.db",
        ])
    );
    assert!(!place.path("linked/elsewhere").exists());
}

/// The remains of a process that was killed while it created its log.
#[test]
fn a_half_made_log_has_no_runs() {
    let place = Place::new();
    let half = Connection::open(place.path("half.db")).unwrap();
    half.execute_batch(
        "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA user_version = 0",
    )
    .unwrap();
    half.execute_batch("CREATE TABLE t (x); DROP TABLE t").unwrap();
    drop(half);
    assert!(std::fs::metadata(place.path("half.db")).unwrap().len() > 0);
    let before = std::fs::read(place.path("half.db")).unwrap();
    for args in ["verify --log half.db", "log --log half.db", "show latest --log half.db"] {
        let said = place.run(args);
        assert!(
            said.err.contains("half.db: it has no tables yet, so it has no runs"),
            "{}",
            said.err
        );
    }
    assert_eq!(place.ok("verify --log half.db"), "0 runs verified\n");
    assert!(std::fs::read(place.path("half.db")).unwrap() == before, "a reader makes no tables");
    place.ok("run small.yaml --quiet --log half.db");
    place.ok("verify --log half.db");
}

#[test]
fn an_empty_file_becomes_a_log() {
    let place = Place::new();
    place.write("empty.db", "");
    place.ok("run small.yaml --quiet --log empty.db");
    place.ok("verify --log empty.db");
}

#[test]
fn a_log_of_a_newer_format() {
    let place = Place::with_run();
    relabel(&place.path("retold.db"), "2");
    assert_said!("logs_newer", place.session(&["log", "run small.yaml", "replay latest"]));
}

#[test]
fn a_log_that_another_program_keeps_locked() {
    let place = Place::with_run();
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Reading is still possible.
    place.ok("replay latest --log-wait 1");
    assert_said!("logs_locked", place.session(&["run small.yaml --quiet --log-wait 1"]));
    db.execute_batch("COMMIT").unwrap();
    place.ok("run small.yaml --quiet --log-wait 1");
}

#[test]
fn a_run_that_another_process_writes() {
    let place = Place::new();
    let mut child = place
        .command()
        .args(["run", "small.yaml", "--set", "model.latency_ms=3000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    super::interrupted::wait_for_events(&place, 2);
    let pid = format!("process {}", child.id());
    let said = place.run("run --resume latest");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.err.contains(&pid), "{}", said.err);
    let shown = place.shown("run --resume latest", &said).replace(&pid, "process [pid]");
    assert_said!("logs_in_use", shown);
    // Locks that a killed process held are free.
    place.ok("run --resume latest --quiet");
}

#[test]
fn output_that_is_not_read_to_the_end() {
    let place = Place::with_run();
    for args in
        [vec!["log", "latest"], vec!["export", "latest"], vec!["replay", "latest", "--json"]]
    {
        let mut child = place
            .command()
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{args:?}");
    }
}
