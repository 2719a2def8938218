//! `retold copy --to FILE`.

use rusqlite::Connection;

use super::lost::killed;
use crate::serve::damaged::files;
use crate::support::cli::{Place, assert_said};
use crate::support::logs::{assert_sound, open};

#[test]
fn a_copy_holds_what_the_log_held() {
    let place = Place::with_run();
    // Another connection keeps the log open, as a running program does, so what was recorded is in
    // the WAL.
    let other = Connection::open(place.path("retold.db")).unwrap();
    let _: i64 = other.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    place.ok("run small.yaml --quiet --set seed=8");
    let (copied, code) = place.json("copy --to copy.db");
    assert_eq!((code, copied["runs"].as_array().unwrap().len()), (0, 2), "{copied}");
    assert_eq!(place.json("log --log copy.db").0["runs"], place.json("log").0["runs"]);
    place.ok("verify --log copy.db");
    place.ok("replay latest --log copy.db");
    assert_eq!(place.ok("export latest - --log copy.db"), place.ok("export latest -"));
}

#[test]
fn what_cannot_be_copied() {
    let place = Place::with_run();
    place.write("there.db", "precious");
    let all = place.session(&[
        "copy --to there.db",
        "copy --to none/copy.db",
        "copy --to copy.db --log none.db",
        "copy --to copy.db --with-key",
        "copy",
        "copy --to copy.db --compact",
    ]);
    assert_eq!(place.read("there.db"), "precious");
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("DROP TRIGGER events_no_delete; DELETE FROM events WHERE id & 4294967295 = 3")
        .unwrap();
    drop(db);
    let said = place.run("copy --to copy.db");
    assert!(said.code == 1 && said.out.contains("seq 3: the event is missing"), "{said:?}");
    assert_said!("copies_refused", all);
}

/// Whatever the state of the log: a copy only reads it.
#[test]
fn a_copy_leaves_the_log_and_its_folder_as_they_are() {
    // A process that was killed left the events of a run in the WAL.
    let place = killed();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy.db").display().to_string();
    let before = files(place.root());
    assert!(!before["retold.db-wal"].is_empty());
    let (copied, code) = place.json(&format!("copy --to {copy}"));
    assert_eq!((code, copied["runs"].as_array().unwrap().len()), (0, 2), "{copied}");
    assert!(files(place.root()) == before, "the folder was changed");
    place.ok(&format!("verify --log {copy}"));
}

#[test]
fn writers_continue_while_a_copy_is_made() {
    let place = Place::with_run();
    let mut recording = place.command();
    recording.args(["run", "small.yaml", "--quiet", "--set", "seed=9", "--set", "samples=40"]);
    recording.args(["--set", "model.latency_ms=100", "--concurrency", "1"]);
    let mut recording = recording.spawn().unwrap();
    let mut ends = Vec::new();
    for n in 0..3 {
        place.ok(&format!("copy --to copy{n}.db"));
        let copy = open(&place.path(&format!("copy{n}.db")));
        assert_sound(&copy);
        let heads = copy.reader().unwrap().runs().unwrap();
        ends.push(heads.iter().map(|head| head.head.seq.0).sum::<u64>());
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    assert!(recording.wait().unwrap().success());
    assert!(ends.is_sorted() && ends[0] < ends[2], "the log grew meanwhile: {ends:?}");
    // The same command brings a copy up to date.
    place.ok("copy --to copy0.db");
    assert_eq!(place.json("log --log copy0.db").0["runs"], place.json("log").0["runs"]);
}
