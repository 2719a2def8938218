//! The format of a log file. `scripts/fixtures` writes the files again, after a decision that changes the format.

use std::error::Error;
use std::path::Path;

use retold::event::chain::{ChainLink, GENESIS, LinkedEvent};
use retold::event::{Event, MerkleTree, NewEvent, RunFinished};
use retold::id::{EventHash, OutcomeDigest, RunId, Seq, Time};
use retold::log::ledger::Ledger;
use retold::log::{Append, Backend, FileFault, Head, Log, LogError, SqliteBackend, SqliteOptions};
use retold::run::Mode;

use crate::support::cases::fixtures;
use crate::support::logs::{Folder, again, assert_sound, copy, events, row};
use crate::support::mixed::{Mixed, chat};
use crate::support::oracle::Oracle;
use crate::support::tamper::found;
use crate::support::trial::Trial;

const RUN: RunId = RunId([1; 8]);
const MIXED: Mixed = Mixed { people: 3 };

// These must not change without a decision that changes the format: otherwise heads that somebody saved
// and outcome digests that somebody published could no longer be checked. The head changes with the
// canonical bytes of an event, the digest with those of a decision or fact, the prompt hash with those of
// a request.
const GOLDEN_HEAD: &str = "167493977216f26778dd3f0452006fdbc11509f0ee5f8e6c505e8be8bb1dd59f";
const GOLDEN_DIGEST: &str = "08219447142b56c500039de83d5062996ed402457bb5ca1dcb542ed9e6fbaa6d";
const GOLDEN_PROMPT: &str = "4da650f810d4bf42f1e58470a15e04725e1d764f41fb916fc4a9e71f216cf43f";
const GOLDEN_LEDGER: &str = "5cc602db3a5408ecd8fdc674b5ff24b759e4451e0f37c133e5527355d6e975ef";
const GOLDEN_LINK: &str = "bb1f5caa5711093f9f768ba6d3e35d2f621de9a3bcc271c2ee371373f19c9223";

/// Always the same run: the times are set by hand.
async fn golden_run() -> (Log, Vec<NewEvent>) {
    let mut trial = Trial::in_memory(Oracle::prompt());
    // One at a time, so that the answers always come in the same order.
    trial.limits.concurrency = 1;
    trial.record(&MIXED).await;
    let mut reader = trial.log.reader().unwrap();
    let stored = events(reader.as_mut(), RUN);
    let (mut tree, mut head) = (MerkleTree::default(), Head::START);
    let timed = stored.iter().map(|event| {
        let time = Time(1_767_225_600_000 + event.seq.0 as i64 * 250);
        let mut new = NewEvent { time, ..again(reader.as_mut(), event) };
        // Latencies are measured, so they differ each time.
        if new.kind == "ResponseReceived" {
            new.body = "{\"latency_ms\":12}".into();
        }
        if let Event::RunFinished(finished) = event.event().unwrap() {
            let finished = RunFinished { events_root: tree.root(), ..finished };
            new = NewEvent::from_event(&Event::RunFinished(finished), time, None).unwrap();
        }
        head = LinkedEvent::new(new.clone(), RUN, head).head();
        tree.push(head.hash);
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

/// Whether a person asks for new fixtures: see `scripts/fixtures`.
#[expect(clippy::disallowed_methods, reason = "how a person asks for new fixtures")]
pub(crate) fn is_regenerated() -> bool {
    std::env::var_os("RETOLD_TEST_REGENERATE").is_some()
}

#[tokio::test]
async fn regenerate() {
    if !is_regenerated() {
        return;
    }
    let folder = Folder::new();
    write(&folder.log(), golden_run().await.1);
    let one_file = "PRAGMA wal_checkpoint(TRUNCATE)";
    folder.sql().query_row(one_file, [], |_| Ok(())).unwrap();
    std::fs::create_dir_all(fixtures("logs")).unwrap();
    std::fs::copy(folder.path(), fixtures("logs/sound.db")).unwrap();
    let db = folder.sql();
    db.execute_batch("DROP TRIGGER contents_no_update").unwrap();
    let flip = "UPDATE contents SET body = replace(body, 'I ', 'J ')
        WHERE id = (SELECT content FROM events WHERE id = (1 << 32) + 3)";
    assert_eq!(db.execute(flip, []).unwrap(), 1);
    let restored = "CREATE TRIGGER contents_no_update BEFORE UPDATE ON contents BEGIN SELECT RAISE(FAIL, 'a retold log is append-only'); END";
    db.execute_batch(restored).unwrap();
    db.query_row(one_file, [], |_| Ok(())).unwrap();
    std::fs::copy(folder.path(), fixtures("logs/changed-answer.db")).unwrap();
}

/// A copy of a fixture, since reading creates files beside it.
fn fixture(name: &str) -> Folder {
    let folder = Folder::new();
    std::fs::copy(fixtures("logs").join(name), folder.path()).unwrap();
    folder
}

#[tokio::test]
async fn a_recorded_log_opens_verifies_and_replays() {
    let folder = fixture("sound.db");
    let log = folder.log();
    assert_sound(&log);
    let head = log.reader().unwrap().runs().unwrap()[0].head.hash;
    assert_eq!(head.to_string(), GOLDEN_HEAD);
    let trial = Trial::new(&log, 1, Oracle::prompt());
    let replayed = trial.go(Mode::Replay, &MIXED).await.outcome_digest;
    assert_eq!(replayed.to_string(), GOLDEN_DIGEST);
}

#[test]
fn the_ledger_does_not_change() {
    let folder = fixture("sound.db");
    let log = folder.log();
    let ledger = Ledger::read(log.reader().unwrap().as_mut()).unwrap();
    assert_eq!((ledger.head().number, ledger.runs()), (2, 1), "started and finished");
    assert_eq!(ledger.head().hash.to_string(), GOLDEN_LEDGER);
}

#[test]
fn nothing_is_written_to_a_log_whose_format_was_changed() {
    let folder = fixture("sound.db");
    folder
        .sql()
        .execute_batch(
            "DROP TRIGGER meta_no_update; UPDATE meta SET value = 'x' WHERE name = 'seal';
             CREATE TRIGGER meta_no_update BEFORE UPDATE ON meta BEGIN SELECT RAISE(FAIL, 'a retold log is append-only'); END",
        )
        .unwrap();
    let Err(LogError::Damaged { fault, .. }) = folder.log().backend().committer() else { panic!() };
    assert_eq!(*fault, FileFault::Seal.into());
}

#[tokio::test]
async fn this_release_still_writes_the_same_hashes() {
    // The order in which answers arrive is part of a head, so the head is taken from the frozen
    // file; the digest is that of a new run.
    let frozen = fixture("sound.db");
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
fn a_changed_answer_is_reported() {
    let found = found(&fixture("changed-answer.db").path());
    let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("format_changed_answer", shown.join("\n"));
}

/// Changes the format that the file states.
pub(crate) fn relabel(path: &Path, format: &str) {
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

/// Kinds of a later release, and versions of kinds.
#[test]
fn an_unknown_kind_is_kept_whole() {
    let folder = fixture("sound.db");
    let log = folder.log();
    let mut committer = log.backend().committer().unwrap();
    let head = log.reader().unwrap().runs().unwrap()[0].head;
    let foretold =
        NewEvent { kind: "Foretold".into(), version: 3, content: Some("x".into()), ..row(1) };
    let newer = NewEvent { version: 2, ..row(2) };
    committer.commit(&[Append::new(RUN, head, [foretold, newer])]).unwrap();
    assert_sound(&log);
    // Import into another log and export again: the hashes stay the same.
    let ours = Folder::new();
    copy(&log, &ours.log(), RUN, usize::MAX);
    assert_sound(&ours.log());
    let read = |log: &Log| events(log.reader().unwrap().as_mut(), RUN);
    assert_eq!(read(&log), read(&ours.log()));
}

#[test]
fn another_format_is_refused() {
    for format in ["2", "2.0"] {
        let folder = fixture("sound.db");
        relabel(&folder.path(), format);
        let path = folder.path().display().to_string();
        let error = SqliteBackend::open(&folder.path(), SqliteOptions::default()).unwrap_err();
        assert!(matches!(error, LogError::NewerFormat { .. }), "{error:?}");
        let message = format!("{path} has log format {format}; this program reads format 1");
        assert_eq!(error.to_string(), message);
    }
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
    let open = || SqliteBackend::open(&path, SqliteOptions::default()).map(|b| b.info().name);
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
