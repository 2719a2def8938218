//! `retold backup`.

use std::sync::atomic::{AtomicBool, Ordering};

use retold::id::RunId;
use retold::log::{BackedUp, SqliteBackend, SqliteOptions, verify_all};
use rusqlite::Connection;

use super::lost::killed;
use crate::serve::damaged::files;
use crate::support::cli::{Place, assert_said};
use crate::support::logs::{Folder, assert_sound, open, row};

fn names(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.root()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_copy_holds_what_the_log_held() {
    let place = Place::with_run();
    // Another connection keeps the log open, as a running program does, so what was recorded is in
    // the WAL.
    let other = Connection::open(place.path("retold.db")).unwrap();
    let _: i64 = other.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    place.ok("run small.yaml --quiet --set seed=8");
    let (copied, code) = place.json("backup copy.db");
    assert_eq!((code, &copied["runs"]), (0, &2.into()), "{copied}");
    assert_eq!(copied["head"], place.json("verify head").0["head"]);
    let bytes = std::fs::metadata(place.path("copy.db")).unwrap().len();
    assert_eq!(copied["bytes"], bytes);
    assert!(
        !names(&place).iter().any(|name| name.starts_with("copy.db-") || name.ends_with(".part"))
    );
    assert_eq!(place.ok("verify --log copy.db"), place.ok("verify"));
    place.ok("replay latest --log copy.db");
    assert_eq!(place.ok("export latest - --log copy.db"), place.ok("export latest -"));
}

#[test]
fn what_cannot_be_copied() {
    let place = Place::with_run();
    place.write("there.db", "precious");
    std::os::unix::fs::symlink(place.path("nowhere.db"), place.path("link.db")).unwrap();
    let mut all = place.session(&[
        "backup there.db",
        "backup link.db",
        "backup none/copy.db",
        "backup copy.db --log none.db",
    ]);
    assert_eq!(place.read("there.db"), "precious");
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("DROP TRIGGER events_no_delete; DELETE FROM events WHERE id & 4294967295 = 3")
        .unwrap();
    drop(db);
    all.push_str(&place.session(&["backup copy.db"]));
    assert!(!place.path("copy.db").exists());
    assert!(!names(&place).iter().any(|name| name.ends_with(".part")), "{:?}", names(&place));
    assert_said!("backups_refused", all);
}

/// Whatever the state of the log: a backup only reads it.
#[test]
fn a_backup_leaves_the_log_and_its_folder_as_they_are() {
    // A process that was killed left the events of a run in the WAL.
    let place = killed();
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("copy.db").display().to_string();
    let before = files(place.root());
    assert!(!before["retold.db-wal"].is_empty());
    let (copied, code) = place.json(&format!("backup {copy}"));
    assert_eq!((code, &copied["runs"]), (0, &2.into()), "{copied}");
    assert!(files(place.root()) == before, "the folder was changed");
    place.ok(&format!("verify --log {copy}"));
    // Nothing was recorded yet.
    Connection::open(place.path("begun.db")).unwrap().execute_batch("VACUUM").unwrap();
    place.write("empty.db", "");
    for (name, bytes) in [("empty.db", 0), ("begun.db", 4096)] {
        let before = files(place.root());
        assert_eq!(before[name].len(), bytes, "{name}");
        let said = place.run(&format!("backup none.db --log {name}"));
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
        let why = if bytes == 0 { "the file is empty" } else { "it has no tables yet" };
        assert!(said.err.contains(&format!("{name}: {why}, so it has no runs")), "{}", said.err);
        assert!(said.err.contains("nothing was copied"), "{}", said.err);
        assert!(files(place.root()) == before, "{name}: the folder was changed");
    }
}

#[test]
fn writers_continue_while_a_copy_is_made() {
    let folder = Folder::new();
    let log = folder.log();
    let mut writer = log.begin(RunId([1; 8])).unwrap();
    let done = &AtomicBool::new(false);
    let path = folder.path();
    std::thread::scope(|scope| {
        let copying = scope.spawn(|| {
            let mut ends = Vec::new();
            for n in 0..3 {
                let backend = SqliteBackend::open(&path, SqliteOptions::default()).unwrap();
                let copy = path.with_extension(format!("copy{n}"));
                let BackedUp { .. } = backend.backup(&copy).unwrap();
                let copy = open(&copy);
                assert_sound(&copy);
                ends.push(
                    verify_all(copy.reader().unwrap().as_mut())
                        .unwrap()
                        .0
                        .first()
                        .map_or(0, |run| run.events),
                );
            }
            done.store(true, Ordering::Relaxed);
            ends
        });
        let mut n = 0;
        while !done.load(Ordering::Relaxed) && !copying.is_finished() {
            writer.submit(row(n)).unwrap();
            n += 1;
            if n % 10 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        }
        let ends = copying.join().unwrap();
        assert!(ends.is_sorted() && ends[0] < ends[2], "the log grew meanwhile: {ends:?}");
    });
}
