//! Logs that are not as they were written are shown, read-only, with the first event that cannot be
//! trusted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use super::{Feeding, Served, recording};
use crate::support::cli::Place;

/// Every file of a folder, byte for byte. The index of a WAL that is shared by the processes that
/// have it open is left out.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.path().is_file());
    files
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .filter(|(name, _)| !name.ends_with("-shm"))
        .collect()
}

/// A log with one run, all of it in one file.
fn with_log() -> Place {
    let place = Place::new();
    place.ok(&format!("import {}", recording("deliberation_small.jsonl.zst")));
    place
}

/// The dangers that a page warns of, and the event from which on.
fn dangers(page: &Value) -> Vec<(String, Option<u64>)> {
    let notices = page["notices"].as_array().unwrap().iter();
    let dangers = notices.filter(|notice| notice["level"] == "danger");
    dangers.map(|n| (n["text"].as_str().unwrap().to_owned(), n["from"].as_u64())).collect()
}

/// What a run's page warns of once everything was checked in the background.
fn warned(served: &Served, path: &str) -> Vec<(String, Option<u64>)> {
    loop {
        let found = dangers(&served.json(path));
        if !found.is_empty() {
            return found;
        }
    }
}

#[test]
fn a_changed_answer_is_shown_with_a_warning_from_there_on() {
    let place = with_log();
    let db = Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    let triggers: Vec<String> =
        db.prepare(sql).unwrap().query_map([], |r| r.get(0)).unwrap().map(Result::unwrap).collect();
    for name in triggers {
        db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    // The latency of an answer in the middle.
    let changed: i64 = db
        .query_row(
            "SELECT id & 4294967295 FROM events WHERE (id & 4294967295) > 200 AND sample IS NULL
            AND content IS NOT NULL LIMIT 1",
            [],
            |r| r.get(0),
        )
        .unwrap();
    db.execute("UPDATE events SET time = time + 1 WHERE (id & 4294967295) = ?1", [changed])
        .unwrap();
    drop(db);
    let before = files(place.root());
    let changed = changed as u64;
    // The terminal says so, too.
    for command in ["show latest".to_owned(), format!("show latest {changed}")] {
        let said = place.run(&command);
        assert_eq!(said.code, 1, "{}{}", said.out, said.err);
        assert!(said.out.contains(&format!("from event {changed} on")), "{}", said.out);
    }
    let (json, code) = place.json("show latest");
    assert_eq!((code, &json["damaged"]["from"]), (1, &changed.into()), "{json}");
    assert_eq!(json["trusted"]["events"], changed - 1);
    let served = Served::log(&place, "retold.db");
    for page in ["", "/participants", "/state", "/exchange/60", "?failed=1"] {
        let warned = warned(&served, &format!("/run/latest{page}"));
        assert_eq!(warned[0].1, Some(changed), "{page}: {warned:?}");
        assert!(warned[0].0.contains(&format!("From event {changed} on")), "{warned:?}");
    }
    let html = served.html("/run/latest");
    assert!(html.contains("role=\"alert\""), "{html}");
    // Rows after it say so, those before do not.
    let rows = served.json(&format!("/run/latest?after={}", changed - 3));
    let untrusted: Vec<bool> =
        rows["rows"].as_array().unwrap().iter().map(|row| row["untrusted"] == true).collect();
    assert_eq!(untrusted[..4], [false, false, true, true]);
    drop(served);
    assert_eq!(files(place.root()), before, "the folder was changed");
}

#[test]
fn a_log_that_was_cut_off_is_shown_as_far_as_it_goes() {
    let place = with_log();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let mut shown = 0;
    for tenth in 4..10 {
        let name = format!("cut{tenth}.db");
        place.write(&name, &whole[..whole.len() * tenth / 10]);
        let said = place.run(&format!("--log {name} show latest"));
        let before = files(place.root());
        let served = Served::log(&place, &name);
        let page = served.json("/");
        let note = page["notices"][0]["text"].as_str().unwrap();
        assert!(note.contains("was cut off"), "{note}");
        drop(served.html("/"));
        if page["runs"].as_array().unwrap().is_empty() {
            continue;
        }
        let warned = warned(&served, "/run/latest");
        let from = warned.iter().filter_map(|(_, from)| *from).min().unwrap();
        let rows = served.json("/run/latest");
        shown += rows["rows"].as_array().unwrap().len();
        assert_eq!(said.code, 1, "{}", said.err);
        assert!(said.out.contains(&format!("from event {from} on")), "{}", said.out);
        assert!(from > 1, "{warned:?}");
        drop(served);
        assert_eq!(files(place.root()), before, "the folder was changed");
    }
    assert!(shown > 0, "nothing was left in any of them");
}

#[test]
fn a_log_of_a_killed_process_is_shown_without_touching_its_wal() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("alive.db"));
    feeding.feed(50);
    // As it is on disk at this moment, without the index of the WAL.
    for suffix in ["", "-wal", "-mark"] {
        fs::copy(place.path(&format!("alive.db{suffix}")), place.path(&format!("left.db{suffix}")))
            .unwrap();
    }
    let wal = fs::read(place.path("left.db-wal")).unwrap();
    assert!(!wal.is_empty());
    let before = files(place.root());
    let served = Served::log(&place, "left.db");
    let page = served.json("/run/latest");
    assert_eq!(page["run"]["events"], 50, "{page}");
    assert!(dangers(&page).is_empty(), "{page}");
    assert!(page["notices"][0]["text"].as_str().unwrap().contains("private copy"), "{page}");
    drop(served);
    assert_eq!(files(place.root()), before, "the folder was changed");
}

#[test]
fn a_damaged_wal_is_said_and_left_alone() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("alive.db"));
    for _ in 0..20 {
        feeding.feed(5);
    }
    for suffix in ["", "-wal", "-mark"] {
        fs::copy(place.path(&format!("alive.db{suffix}")), place.path(&format!("left.db{suffix}")))
            .unwrap();
    }
    let mut wal = fs::read(place.path("left.db-wal")).unwrap();
    let middle = wal.len() / 2;
    wal[middle] ^= 1;
    fs::write(place.path("left.db-wal"), wal).unwrap();
    let before = files(place.root());
    let served = Served::log(&place, "left.db");
    let page = served.json("/");
    assert!(dangers(&page).iter().any(|(text, _)| text.contains("the WAL is damaged")), "{page}");
    let run = served.json("/run/latest");
    let from = dangers(&run).iter().find_map(|(_, from)| *from);
    assert!(from.is_some_and(|from| from > 1 && from <= 100), "{run}");
    drop(served);
    assert_eq!(files(place.root()), before, "the folder was changed");
}

#[test]
fn reading_a_sound_log_changes_nothing_beside_it() {
    let place = with_log();
    let before = files(place.root());
    let served = Served::log(&place, "retold.db");
    for page in ["", "/state", "/check", "/participants", "/chain/60", "?failed=1"] {
        drop(served.html(&format!("/run/latest{page}")));
    }
    drop(served);
    assert_eq!(files(place.root()), before);
}
