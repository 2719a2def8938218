//! `retold copy` of damaged runs: what is left makes a new run, and a fork of that asks only what is lost.

use regex::Regex;
use rusqlite::Connection;
use serde_json::Value;

use super::first_event::{PAGE, pages_of_events, patch, sql, three};
use crate::support::cli::{Place, assert_said};
use crate::support::tamper::without_triggers;

/// Changes the body of the event of a kind with a number, counted from 0, of the only run; returns its seq.
fn damage(place: &Place, kind: &str, number: i64) -> i64 {
    let db = Connection::open(place.path("retold.db")).unwrap();
    let find = "SELECT e.id & 4294967295 FROM events e JOIN kinds k ON k.id = e.kind
        WHERE k.name = ?1 ORDER BY e.id LIMIT 1 OFFSET ?2";
    let seq: i64 = db.query_row(find, (kind, number), |row| row.get(0)).unwrap();
    let change = "UPDATE events SET body = body || ' ' WHERE id & 4294967295 = ?1";
    assert_eq!(without_triggers(&db, |db| db.execute(change, [seq])).unwrap(), 1);
    seq
}

/// The new run that a copy makes.
fn rest(place: &Place) -> (String, Value) {
    let (copied, code) = place.json("copy --to rest.db");
    assert_eq!(code, 1, "{copied}");
    let run = copied["runs"][0].clone();
    (run["rest"].as_str().unwrap_or_else(|| panic!("{copied}")).to_owned(), run)
}

/// Whatever is damaged, a fork of the rest has the outcome of the whole run, and its model is asked only what is lost.
#[test]
fn a_fork_of_what_is_left_pays_only_for_what_is_lost() {
    for (kind, asked) in [("ResponseReceived", 1), ("RequestSent", 1), ("DecisionMade", 0)] {
        let place = Place::with_run();
        let whole = place.json("show latest").0;
        let seq = damage(&place, kind, 3);
        let (run, copied) = rest(&place);
        assert!(copied["damage"].as_str().unwrap().contains(&format!("seq {seq}")), "{copied}");
        let lost = copied["lost"].as_u64().unwrap();
        let shown = place.json(&format!("show {run} --log rest.db")).0;
        assert_eq!(shown["lost"]["run"], whole["run"], "{kind}");
        assert_eq!(shown["lost"]["lost"][0][0], seq, "{kind}");
        assert_eq!(shown["outcome"], "abandoned", "{kind}");
        // It has all others, besides its own second event and end.
        let events = |shown: &Value| shown["events"].as_u64().unwrap();
        assert_eq!(events(&shown), events(&whole) - 1 - lost + 2, "{kind}: {copied}");
        let forked = place.json(&format!("fork {run} --log rest.db")).0;
        assert_eq!(forked["outcome_digest"], whole["outcome_digest"], "{kind}");
        let forked = place.json("show latest --log rest.db").0;
        let answered = |key: &str| forked[key].as_u64().unwrap();
        assert_eq!(answered("exchanges") - answered("reused_answers"), asked, "{kind}: {forked}");
        assert!(place.ok("verify --log rest.db").contains("2 runs verified"), "{kind}");
        place.ok("replay latest --log rest.db");
    }
}

#[test]
fn what_copying_a_damaged_run_says() {
    let place = Place::with_run();
    damage(&place, "DecisionMade", 1);
    let mut said = place.session(&["copy --to rest.db", "copy --to rest.db"]);
    let (run, _) = rest(&place);
    said.push_str(&place.session(&[&format!("show {run} --log rest.db")]));
    let refused = place.run(&format!("run --resume {run} --log rest.db"));
    assert_eq!(refused.code, 2, "{}", refused.err);
    let digest = Regex::new("outcome digest [0-9a-f]+").unwrap();
    let old = place.json("log").0["runs"][0]["run"].as_str().unwrap()[..8].to_owned();
    let old_id = place.json("log").0["runs"][0]["run"].as_str().unwrap().to_owned();
    let said = said.replace(&run, "[rest]").replace(&run[..8], "[rest]");
    let said = said.replace(&old_id, "[old]").replace(&old, "[old]");
    assert_said!("rescued", digest.replace_all(&said, "outcome digest [digest]"));
}

/// Without its first event, nobody knows what a run was.
#[test]
fn a_run_without_its_first_event_is_not_copied() {
    let place = Place::with_run();
    damage(&place, "RunStarted", 0);
    let said = place.run("copy --to rest.db");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("was not copied") && said.err.contains("seq 1"), "{}", said.err);
    assert_eq!(place.json("log --log rest.db").0["runs"], serde_json::json!([]));
}

/// The run that was damaged: what `copy` says of it, and what its rest says that it lacks.
fn copied(place: &Place, run: &str) -> (Value, Value) {
    let (copied, code) = place.json(&format!("copy {run} --to rest.db"));
    assert_eq!(code, 1, "{copied}");
    let copied = copied["runs"][0].clone();
    let rest = copied["rest"].as_str().unwrap_or_else(|| panic!("{copied}"));
    let shown = place.json(&format!("show {rest} --log rest.db")).0;
    (copied, shown["lost"]["lost"].clone())
}

/// SQLite cannot read the page, and a run that is known to have more is not read beyond it by any other command.
#[test]
fn what_comes_after_a_lost_page_is_kept() {
    let (place, run) = three();
    let events = place.json(&format!("show {run}")).0["events"].as_u64().unwrap();
    let pages = pages_of_events(&place);
    let page = pages[pages.len() / 2];
    patch(&place, |file| file[page * PAGE..][..PAGE].fill(0));
    let (copied, lost) = copied(&place, &run);
    let ends = lost.as_array().unwrap().iter().map(|range| range[1].as_u64().unwrap());
    assert!(ends.clone().count() > 0 && ends.max().unwrap() < events - 1, "{copied}: {lost}");
    // All others are there, but for the end.
    let [kept, lacks] = ["events", "lost"].map(|of| copied[of].as_u64().unwrap());
    assert_eq!(kept + lacks + 1, events, "{copied}: {lost}");
    assert!(kept > events / 2, "{copied}: {lost}");
    assert!(place.ok("verify --log rest.db").contains("1 run verified"));
}

/// The number of an event is forged, and so is the hash of the one after it: nobody counts up to them.
#[test]
fn events_with_numbers_far_off_take_no_time_and_no_memory() {
    let (place, run) = three();
    let copy = |to: u64, of: u64| {
        format!(
            "INSERT INTO events SELECT (3 << 32) + {to}, kind, time, call, sample, request, cause, content, body, hash
             FROM events WHERE id = (3 << 32) + {of}"
        )
    };
    sql(&place, &format!("{}; {}", copy(4_000_000_000, 5), copy(4_000_000_001, 6)));
    let (copied, lost) = copied(&place, &run);
    assert!(lost.as_array().unwrap().len() < 5, "{copied}: {lost}");
}
