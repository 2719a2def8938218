//! A log that is changed while it is served: what was found before says nothing of it.

use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use super::damaged::dangers;
use super::{Feeding, Served, imported};
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;
use crate::support::waiting::soon;

/// A page that is not waited for, with its status.
fn now(served: &Served, path: &str) -> (u16, Value) {
    let answer = served.ask("GET", path, "Accept: application/json\r\n");
    (answer.status, serde_json::from_str(&answer.body).unwrap())
}

/// What `verify` names first of a run.
fn due(place: &Place, run: &str) -> Option<u64> {
    let (found, _) = place.json(&format!("verify {run}"));
    found["problems"][0]["seq"].as_u64()
}

fn change(place: &Place, sql: &str) {
    let db = Connection::open(place.path("retold.db")).unwrap();
    without_triggers(&db, |db| db.execute_batch(sql)).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}

/// Whether a page says of itself that what it shows was not checked as it is now.
fn is_open(page: &Value) -> bool {
    let notices = page["notices"].as_array().unwrap();
    notices.iter().any(|notice| {
        let text = notice["text"].as_str().unwrap();
        text.contains("still being checked") || text.contains("checked again soon")
    })
}

fn served() -> (Place, Served, String) {
    let place = imported();
    fs::rename(place.path("all.db"), place.path("retold.db")).unwrap();
    fs::rename(place.path("all.db-mark"), place.path("retold.db-mark")).unwrap();
    let (list, _) = place.json("log");
    let run = list["runs"][1]["run"].as_str().unwrap().to_owned();
    let served = Served::log(&place, "retold.db");
    for path in [format!("/run/{run}"), "/".to_owned()] {
        let page = served.json(&path);
        assert!(dangers(&page).is_empty() && !is_open(&page), "{page}");
    }
    (place, served, run)
}

#[test]
fn an_event_that_is_changed_while_its_run_is_shown_is_named_by_the_next_page() {
    let (place, served, run) = served();
    let forge = |seq: u64| {
        let at = format!("WHERE id = (2 << 32) + {seq}");
        change(&place, &format!("UPDATE events SET time = time + 1 {at}"));
    };
    forge(40);
    for page in ["", "/event/40", "/event/3"] {
        let (status, page) = now(&served, &format!("/run/{run}{page}"));
        assert_eq!((status, dangers(&page)[0].1), (200, Some(40)), "{page}");
    }
    // It was checked again just now, so that the next check may come a little later; then the page says so.
    forge(20);
    let named = soon("the earlier event", || {
        let (_, page) = now(&served, &format!("/run/{run}"));
        let found = dangers(&page)[0].1;
        assert!(found == Some(20) || is_open(&page), "{page}");
        (found == Some(20)).then_some(page)
    });
    assert!(!is_open(&named), "{named}");
    // Other runs are not affected.
    let (list, _) = place.json("log");
    let other = list["runs"][0]["run"].as_str().unwrap();
    assert!(dangers(&served.json(&format!("/run/{other}"))).is_empty());
}

#[test]
fn a_file_that_takes_the_place_of_a_log_is_checked_at_once() {
    let (place, served, run) = served();
    fs::copy(place.path("retold.db"), place.path("other.db")).unwrap();
    let db = Connection::open(place.path("other.db")).unwrap();
    let forge = "UPDATE events SET time = time + 1 WHERE id = (2 << 32) + 7";
    without_triggers(&db, |db| db.execute_batch(forge)).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    fs::rename(place.path("other.db"), place.path("retold.db")).unwrap();
    let (status, page) = now(&served, &format!("/run/{run}"));
    assert_eq!((status, dangers(&page)[0].1), (200, Some(7)), "{page}");
}

#[test]
fn a_log_that_is_cut_off_while_it_is_served_is_shown_as_by_a_new_server() {
    let (place, served, _) = served();
    let (list, _) = place.json("log");
    let run = list["runs"].as_array().unwrap().last().unwrap()["run"].as_str().unwrap().to_owned();
    let whole = fs::metadata(place.path("retold.db")).unwrap().len();
    for left in [whole - 20_000, whole / 4 * 3, whole / 2] {
        let file = fs::File::options().write(true).open(place.path("retold.db")).unwrap();
        file.set_len(left).unwrap();
        let due = due(&place, &run);
        assert!(due.is_some());
        for path in [format!("/run/{run}"), format!("/run/{run}/event/1"), "/".to_owned()] {
            let (status, page) = now(&served, &path);
            assert_ne!(status, 500, "{left} of {whole}: {path}: {page}");
            let found = dangers(&page);
            assert!(!found.is_empty(), "{left} of {whole}: {path}: {page}");
            let names = found.iter().any(|(_, from)| *from == due);
            assert!(names || is_open(&page), "{left} of {whole}: {path}, not {due:?}: {page}");
        }
        soon("its first event", || {
            let (_, page) = now(&served, &format!("/run/{run}"));
            let names = dangers(&page).iter().any(|(_, from)| *from == due);
            (names && !is_open(&page)).then_some(())
        });
    }
}

/// A check takes seconds: until it has ended, no page looks as if nothing had happened.
#[test]
fn a_long_run_is_not_shown_as_it_was_found_before() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    feeding.feed(60);
    feeding.occur(30_000);
    drop(feeding);
    let served = Served::log(&place, "retold.db");
    let sound = soon("the check", || {
        let page = served.json("/run/latest");
        (!is_open(&page)).then_some(page)
    });
    assert!(dangers(&sound).is_empty(), "{sound}");
    for seq in [20_000, 10_000, 5] {
        change(&place, &format!("UPDATE events SET time = time + 1 WHERE id & 4294967295 = {seq}"));
        soon("the event that was changed", || {
            let (_, page) = now(&served, "/run/latest");
            let is_named = dangers(&page).iter().any(|(_, from)| *from == Some(seq));
            assert!(is_named || is_open(&page), "{seq}: {page}");
            (is_named && !is_open(&page)).then_some(())
        });
    }
}
