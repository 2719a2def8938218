//! A log that is changed while it is served: what was found before says nothing of it.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::Value;

use super::damaged::dangers;
use super::{Served, imported};
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

/// A copy of the log in which an event of the second run is changed.
fn forged(place: &Place, seq: u64) -> PathBuf {
    let other = place.path("other.db");
    fs::copy(place.path("retold.db"), &other).unwrap();
    let db = Connection::open(&other).unwrap();
    let forge = format!("UPDATE events SET time = time + 1 WHERE id = (2 << 32) + {seq}");
    without_triggers(&db, |db| db.execute(&forge, [])).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    other
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
        assert!(dangers(&page).is_empty(), "{page}");
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
    for (page, status) in [("", 200), ("/event/40", 404), ("/event/3", 200)] {
        let (found, page) = now(&served, &format!("/run/{run}{page}"));
        assert_eq!((found, dangers(&page)[0].1), (status, Some(40)), "{page}");
    }
    forge(20);
    soon("the earlier event", || {
        let (_, page) = now(&served, &format!("/run/{run}"));
        (dangers(&page)[0].1 == Some(20)).then_some(())
    });
    // Other runs are not affected.
    let (list, _) = place.json("log");
    let other = list["runs"][0]["run"].as_str().unwrap();
    assert!(dangers(&served.json(&format!("/run/{other}"))).is_empty());
}

#[test]
fn a_file_that_takes_the_place_of_a_log_is_checked_at_once() {
    let (place, served, run) = served();
    fs::rename(forged(&place, 7), place.path("retold.db")).unwrap();
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
        }
        soon("its first event", || {
            let (_, page) = now(&served, &format!("/run/{run}"));
            // What an event refers to may be lost before, which the page does not read.
            let names = dangers(&page).iter().any(|(_, from)| *from >= due);
            names.then_some(())
        });
    }
}

#[test]
fn a_log_that_is_put_back_is_sound_again() {
    let (place, served, run) = served();
    let sound = fs::read(place.path("retold.db")).unwrap();
    change(&place, "UPDATE events SET time = time + 1 WHERE id = (2 << 32) + 40");
    // With a filter, the run is read for it, and its damage is met there too.
    let pages = [format!("/run/{run}"), format!("/run/{run}?kind=DecisionMade")];
    for path in &pages {
        assert_eq!(dangers(&served.json(path))[0].1, Some(40), "{path}");
    }
    fs::write(place.path("retold.db"), sound).unwrap();
    for path in &pages {
        soon("a page without a danger", || dangers(&served.json(path)).is_empty().then_some(()));
    }
}

#[test]
fn a_header_that_is_zeroed_is_damage_and_no_error_of_the_server() {
    let (place, served, run) = served();
    let mut file = fs::read(place.path("retold.db")).unwrap();
    file[..100].fill(0);
    fs::write(place.path("retold.db"), file).unwrap();
    for path in [format!("/run/{run}"), "/".to_owned(), format!("/run/{run}/event/3")] {
        let (status, page) = now(&served, &path);
        assert_ne!(status, 500, "{path}: {page}");
        assert!(!dangers(&page).is_empty(), "{path}: {page}");
    }
}

/// A file has no place for a banner.
#[test]
fn the_text_of_an_answer_that_was_changed_is_not_a_file() {
    let (place, served, run) = served();
    let (list, _) = place.json(&format!("log {run} --kind ResponseReceived --most 1"));
    let [answer, question] = ["seq", "cause"].map(|of| list["events"][0][of].as_u64().unwrap());
    let files = ["answer", "prompt"].map(|what| format!("/run/{run}/exchange/{question}/{what}"));
    files.iter().for_each(|file| assert_eq!(served.get(file).status, 200, "{file}"));
    for _ in 0..3 {
        // Also while the next check is not due yet.
        let event = format!("WHERE id = (2 << 32) + {answer}");
        change(&place, &format!("UPDATE events SET time = time + 1 {event}"));
        let refused = served.get(&files[0]);
        let why = format!("is damaged at seq {answer}: ");
        assert!(refused.status == 404 && refused.body.contains(&why), "{}", refused.body);
    }
    assert_eq!(served.get(&files[1]).status, 200, "the prompt comes before it");
}
