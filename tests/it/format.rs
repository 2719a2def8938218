//! The format of a log file: what is written today must be readable by every later release.

use std::error::Error;
use std::path::Path;

use retold::event::chain::{ChainLink, GENESIS};
use retold::event::{Event, NewEvent, RunFinished};
use retold::id::{EventHash, OutcomeDigest, RunId, Seq, Time};
use retold::log::ledger::{Ledger, LedgerChange, LedgerEntry, LedgerHead};
use retold::log::{Append, Backend, FORMAT, Head, Log, LogError, SqliteBackend, SqliteOptions};
use retold::run::Mode;

use crate::support::cases::fixtures;
use crate::support::logs::{Folder, again, assert_sound, copy, events, open, row};
use crate::support::mixed::{Mixed, chat};
use crate::support::oracle::Oracle;
use crate::support::tamper::found;
use crate::support::trial::Trial;

const RUN: RunId = RunId([1; 8]);
const MIXED: Mixed = Mixed { people: 3 };

// These must never change for files of format 1.x: otherwise heads that somebody saved and outcome
// digests that somebody published could no longer be checked. The head changes with the canonical
// bytes of an event, the digest with those of a decision or fact, the prompt hash with those of a
// request.
const GOLDEN_HEAD: &str = "e636cd0c0de9aa0f30b9eb761bcbbf526b6b9c7dabad9195b6749d324c6f9359";
// In format 2.0 the decisions of dialogues are logged earlier.
const GOLDEN_HEAD_2: &str = "2598bf961dcb34b64eaaf5ea80aa38a6949894a452fa8c5abba6741bc4f0c9b3";
const GOLDEN_DIGEST: &str = "08219447142b56c500039de83d5062996ed402457bb5ca1dcb542ed9e6fbaa6d";
const GOLDEN_PROMPT: &str = "4da650f810d4bf42f1e58470a15e04725e1d764f41fb916fc4a9e71f216cf43f";
const GOLDEN_LEDGER: &str = "c88192569dfa936942c93f85e91f488855edb0e842c3e717d6a1f88819fdb1ca";
const GOLDEN_LINK: &str = "bb1f5caa5711093f9f768ba6d3e35d2f621de9a3bcc271c2ee371373f19c9223";

/// Always the same run: the times are set by hand.
async fn golden_run() -> (Log, Vec<NewEvent>) {
    let mut trial = Trial::in_memory(Oracle::prompt());
    // One at a time, so that the answers always come in the same order.
    trial.limits.concurrency = 1;
    trial.record(&MIXED).await;
    let mut reader = trial.log.reader().unwrap();
    let stored = events(reader.as_mut(), RUN);
    let timed = stored.iter().map(|event| {
        let time = Time(1_767_225_600_000 + event.seq.0 as i64 * 250);
        let mut new = NewEvent { time, ..again(reader.as_mut(), event) };
        // Latencies are measured, so they differ each time.
        if new.kind == "ResponseReceived" {
            new.body = "{\"latency_ms\":12}".into();
        }
        new
    });
    let timed = timed.collect();
    (trial.log, timed)
}

fn write(log: &Log, events: Vec<NewEvent>) -> EventHash {
    let append = Append::new(RUN, Head::START, events);
    let hash = append.events.last().unwrap().head().hash;
    log.backend().committer().unwrap().commit(&[append]).unwrap();
    hash
}

/// Writes the first files of this format again:
/// `RETOLD_TEST_REGENERATE=format-2.0 cargo test format::regenerate`. What the format has gained
/// since is in `format-2.0-whole.db`; these stay as they are.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "how a person asks for new fixtures")]
async fn regenerate() {
    if std::env::var("RETOLD_TEST_REGENERATE").as_deref() != Ok("format-2.0") {
        return;
    }
    let folder = Folder::new();
    write(&folder.log(), golden_run().await.1);
    let one_file = "PRAGMA wal_checkpoint(TRUNCATE)";
    folder.sql().query_row(one_file, [], |_| Ok(())).unwrap();
    std::fs::create_dir_all(fixtures("logs")).unwrap();
    std::fs::copy(folder.path(), fixtures("logs/format-2.0.db")).unwrap();
    let db = folder.sql();
    db.execute_batch("DROP TRIGGER contents_no_update").unwrap();
    let flip = "UPDATE contents SET body = replace(body, 'I ', 'J ')
        WHERE id = (SELECT content FROM events WHERE id = (1 << 32) + 3)";
    assert_eq!(db.execute(flip, []).unwrap(), 1);
    let restored = "CREATE TRIGGER contents_no_update BEFORE UPDATE ON contents BEGIN SELECT RAISE(FAIL, 'a retold log is append-only'); END";
    db.execute_batch(restored).unwrap();
    db.query_row(one_file, [], |_| Ok(())).unwrap();
    std::fs::copy(folder.path(), fixtures("logs/format-2.0-changed-answer.db")).unwrap();
}

/// A copy of a fixture, since reading creates files beside it.
fn fixture(name: &str) -> Folder {
    let folder = Folder::new();
    std::fs::copy(fixtures("logs").join(name), folder.path()).unwrap();
    folder
}

#[tokio::test]
async fn a_log_of_every_format_opens_verifies_and_replays() {
    for name in ["format-1.0.db", "format-1.1.db", "format-2.0.db"] {
        let log = fixture(name);
        let log = open(&log.path());
        assert_sound(&log);
        let head = log.reader().unwrap().runs().unwrap()[0].head.hash;
        let due = if name.starts_with("format-1") { GOLDEN_HEAD } else { GOLDEN_HEAD_2 };
        assert_eq!(head.to_string(), due, "{name}");
        let trial = Trial::new(&log, 1, Oracle::prompt());
        let replayed = trial.go(Mode::Replay, &MIXED).await.outcome_digest;
        assert_eq!(replayed.to_string(), GOLDEN_DIGEST, "{name}");
    }
}

#[test]
fn the_ledger_of_format_1_1_does_not_change() {
    let folder = fixture("format-1.1.db");
    let log = folder.log();
    let ledger = Ledger::read(log.reader().unwrap().as_mut()).unwrap().unwrap();
    assert_eq!((ledger.head().number, ledger.runs()), (2, 1), "started and finished");
    assert_eq!(ledger.head().hash.to_string(), GOLDEN_LEDGER);
}

/// The format that the file states.
fn stated(folder: &Folder) -> String {
    let sql = "SELECT value FROM meta WHERE name = 'format'";
    folder.sql().query_row(sql, [], |r| r.get(0)).unwrap()
}

#[test]
fn a_log_of_format_1_0_gains_a_ledger_when_it_is_first_written() {
    let folder = fixture("format-1.0.db");
    let log = folder.log();
    let ledger = |log: &Log| Ledger::read(log.reader().unwrap().as_mut()).unwrap();
    assert!(ledger(&log).is_none());
    assert_eq!(stated(&folder), "1.0", "reading changes nothing");
    let head = log.reader().unwrap().runs().unwrap()[0].head;
    let other = RunId([2; 8]);
    let append = Append::new(other, Head::START, [row(0)]);
    let end = append.events[0].head();
    log.backend().committer().unwrap().commit(&[append]).unwrap();
    assert_eq!(stated(&folder), "1.1", "not the newest format");
    let found = ledger(&log).unwrap();
    let first = LedgerEntry::after(LedgerHead::START, LedgerChange::Found, RUN, head);
    let second = LedgerEntry::after(first.ledger_head(), LedgerChange::Started, other, end);
    assert_eq!(found.entries_of(RUN).collect::<Vec<_>>(), [&first]);
    assert_eq!(found.entries_of(other).collect::<Vec<_>>(), [&second]);
    assert_sound(&log);
    // The same again: nothing is done twice.
    drop(log);
    folder.log().backend().committer().unwrap();
    assert_eq!(ledger(&folder.log()).unwrap().head(), second.ledger_head());
    // From now on the ledger covers the events of the older run.
    folder.sql().execute_batch("DROP TRIGGER events_no_delete").unwrap();
    folder
        .sql()
        .execute_batch("DELETE FROM events WHERE id > (1 << 32) + 20 AND id >> 32 = 1")
        .unwrap();
    let found: Vec<String> = found_in(&folder).iter().map(ToString::to_string).collect();
    let said = "seq 21: the run ends before it, but entry 1 of the ledger (found)";
    assert!(found.iter().any(|problem| problem.contains(said)), "{found:?}");
}

#[test]
fn a_log_of_format_1_keeps_its_format() {
    for (name, after) in [("format-1.0.db", "1.1"), ("format-1.1.db", "1.1")] {
        let folder = fixture(name);
        let log = folder.log();
        assert!(!log.format().keeps_declarations(), "{name}");
        let head = log.reader().unwrap().runs().unwrap()[0].head;
        let append = Append::new(RUN, head, [row(0)]);
        log.backend().committer().unwrap().commit(&[append]).unwrap();
        assert_eq!(stated(&folder), after, "{name}");
        assert_sound(&log);
        let other = log.begin(RunId([3; 8])).unwrap();
        assert!(!other.format().keeps_declarations(), "{name}");
    }
    for log in [Folder::new().log(), Log::in_memory()] {
        assert_eq!(log.format(), FORMAT);
        assert!(log.format().keeps_declarations());
    }
}

fn found_in(folder: &Folder) -> Vec<retold::log::Problem> {
    found(&folder.path())
}

#[test]
fn a_changed_format_is_not_sealed_again() {
    let folder = fixture("format-1.0.db");
    folder
        .sql()
        .execute_batch(
            "DROP TRIGGER meta_no_update; UPDATE meta SET value = 'x' WHERE name = 'seal';
             CREATE TRIGGER meta_no_update BEFORE UPDATE ON meta BEGIN SELECT RAISE(FAIL, 'a retold log is append-only'); END",
        )
        .unwrap();
    let Err(LogError::Damaged { what, .. }) = folder.log().backend().committer() else { panic!() };
    assert_eq!(what, "table meta: the format and its seal do not match");
    assert_eq!(stated(&folder), "1.0");
}

#[tokio::test]
async fn this_release_still_writes_the_same_hashes() {
    // The order in which answers arrive is part of a head, so the head is taken from the frozen
    // file; the digest is that of a new run.
    let frozen = fixture("format-1.0.db");
    let again = copy(&frozen.log(), &crate::support::trial::memory(), RUN, usize::MAX);
    assert_eq!(again.to_string(), GOLDEN_HEAD);
    let (log, _) = golden_run().await;
    let digest = crate::support::logs::facts(&log, RUN).pop();
    let Some(Event::RunFinished(RunFinished { outcome_digest, .. })) = digest else { panic!() };
    assert_eq!(outcome_digest.to_string(), GOLDEN_DIGEST);
    let _: OutcomeDigest = outcome_digest;
    assert_eq!(chat("What is 6 times 7?").hash().to_string(), GOLDEN_PROMPT);
    let event = row(42);
    let link = ChainLink::of_new(&event, RUN, Seq(1), None);
    assert_eq!(
        link.canonical(),
        r#"{"body":{"causes":[],"fact":42},"kind":"Occurred","run":"0101010101010101","seq":1,"time":1700000000042,"version":1}"#
    );
    assert_eq!(link.hash_after(GENESIS).to_string(), GOLDEN_LINK);
}

#[test]
fn a_changed_answer_is_reported_in_every_format() {
    for format in ["1.0", "1.1", "2.0"] {
        let name = &format!("format-{format}-changed-answer.db");
        let found = found(&fixture(name).path());
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!("format_changed_answer", shown.join("\n"));
    }
}

/// Changes the format that the file states.
fn relabel(path: &Path, format: &str) {
    let db = rusqlite::Connection::open(path).unwrap();
    let seal =
        blake3::Hasher::new().update(b"retold meta v1\n").update(format.as_bytes()).finalize();
    db.execute_batch(&format!(
        "DROP TRIGGER meta_no_update; UPDATE meta SET value = '{format}' WHERE name = 'format';
         UPDATE meta SET value = '{}' WHERE name = 'seal';
         CREATE TRIGGER meta_no_update BEFORE UPDATE ON meta BEGIN SELECT RAISE(FAIL, 'a retold log is append-only'); END",
        seal.to_hex()
    ))
    .unwrap();
}

#[test]
fn a_newer_minor_is_read_and_kept_whole() {
    let older = fixture("format-1.1.db");
    newer_minor(&older, "1.7");
    newer_minor(&fixture("format-2.0.db"), "2.7");
}

fn newer_minor(folder: &Folder, format: &str) {
    relabel(&folder.path(), format);
    let db = folder.sql();
    db.execute_batch(
        "ALTER TABLE events ADD COLUMN colour TEXT; ALTER TABLE contents ADD COLUMN language TEXT;
         CREATE TABLE annotations (id INTEGER PRIMARY KEY, text TEXT);
         INSERT INTO meta VALUES ('writer', 'retold 3')",
    )
    .unwrap();
    let log = folder.log();
    let mut committer = log.backend().committer().unwrap();
    let head = log.reader().unwrap().runs().unwrap()[0].head;
    let foretold =
        NewEvent { kind: "Foretold".into(), version: 3, content: Some("x".into()), ..row(1) };
    let newer = NewEvent { version: 2, ..row(2) };
    committer.commit(&[Append::new(RUN, head, [foretold, newer])]).unwrap();
    assert_sound(&log);
    // Import into one of our logs and export again: the hashes stay the same.
    let ours = Folder::new();
    copy(&log, &ours.log(), RUN, usize::MAX);
    assert_sound(&ours.log());
    let read = |log: &Log| events(log.reader().unwrap().as_mut(), RUN);
    assert_eq!(read(&log), read(&ours.log()));
}

#[test]
fn a_newer_major_is_refused() {
    let folder = fixture("format-1.0.db");
    relabel(&folder.path(), "3.1");
    let path = folder.path().display().to_string();
    let error = SqliteBackend::open(&folder.path(), SqliteOptions::default()).unwrap_err();
    assert!(matches!(error, LogError::NewerFormat { .. }), "{error:?}");
    assert_eq!(FORMAT.to_string(), "2.0");
    let message = format!("{path} has log format 3.1; this program reads formats up to 2.0");
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_error_keeps_the_one_of_sqlite() {
    let path = Folder::new().path().join("missing/log.db");
    let error = SqliteBackend::open_or_create(&path, SqliteOptions::default()).unwrap_err();
    assert!(matches!(error, LogError::CannotOpen { .. }), "{error:?}");
    let mut causes = std::iter::successors(error.source(), |cause| (*cause).source());
    assert!(causes.any(|cause| cause.is::<rusqlite::Error>()), "{error:?}");
}

#[test]
fn other_files_are_refused() {
    let folder = Folder::new();
    let path = folder.path();
    let open = || SqliteBackend::open(&path, SqliteOptions::default()).map(|b| b.name());
    assert!(matches!(open(), Err(LogError::Missing { .. })));
    std::fs::write(&path, "not a log at all, but long enough to look like a file of some kind")
        .unwrap();
    match open() {
        Err(LogError::NotALog { reason, .. }) => assert_eq!(reason, "it is not an SQLite file"),
        other => panic!("{other:?}"),
    }
    std::fs::remove_file(&path).unwrap();
    folder.sql().execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    assert!(matches!(open(), Err(LogError::NotALog { .. })));
    let create = SqliteBackend::open_or_create(&path, SqliteOptions::default());
    assert!(matches!(create, Err(LogError::NotALog { .. })), "nothing is made in a foreign file");
}
