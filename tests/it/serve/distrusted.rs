//! The pages of one event, and of the state after one, in a run that is damaged: what comes before the
//! damage is shown, and what depends on it is refused with the reason.

use std::fs;

use retold::id::RunId;
use rusqlite::Connection;
use serde_json::Value;

use super::damaged::dangers;
use super::{Answer, Served, recording};
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;
use crate::support::waiting::soon;

/// A log with two runs; the last is the one that is looked at.
fn two() -> Place {
    let place = Place::new();
    place.ok(&format!("import {}", recording("society_small.jsonl")));
    let config = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");
    place.ok(&format!("run {config} --no-outputs --quiet"));
    place
}

/// A page as JSON, with its status, once it warns of the damage.
fn warned(served: &Served, path: &str) -> (u16, Value, u64) {
    soon(&format!("a warning on {path}"), || {
        let Answer { status, body, .. } = served.ask("GET", path, "Accept: application/json\r\n");
        let page: Value = serde_json::from_str(&body).unwrap();
        let from = dangers(&page).into_iter().find_map(|(_, from)| from)?;
        (status != 202).then_some((status, page, from))
    })
}

/// The pages and commands about a run that cannot be trusted from an event on.
fn checked(place: &Place, log: &str, from: u64) {
    let served = Served::log(place, log);
    let last = from - 1;
    let (_, _, said) = warned(&served, "/run/latest");
    assert_eq!(said, from);
    // The state after the last event that can be trusted is shown, also if none is asked for.
    for path in ["/run/latest/state".to_owned(), format!("/run/latest/state?at={last}")] {
        let (status, page, said) = warned(&served, &path);
        assert_eq!((status, said), (200, from), "{path}: {page}");
        assert_eq!((&page["at"], &page["end"]), (&last.into(), &last.into()), "{page}");
        assert!(page["state"].is_object() && page["facts"] == page["all_facts"], "{page}");
        assert_eq!(page["next"], Value::Null, "{page}");
    }
    for at in [from, from + 50] {
        let path = format!("/run/latest/state?at={at}");
        let (status, page, said) = warned(&served, &path);
        assert_eq!((status, said, &page["last_good"]), (404, from, &last.into()), "{page}");
        let error = page["error"].as_str().unwrap();
        assert!(
            error.starts_with(&format!("the state after event {at} cannot be shown")),
            "{error}"
        );
        let Answer { status, body, .. } = served.get(&path);
        assert_eq!(status, 404, "{body}");
        assert!(body.contains(&format!("/state?at={last}\"")), "{body}");
    }
    let (status, page, _) = warned(&served, &format!("/run/latest/event/{last}"));
    assert_eq!((status, &page["row"]["seq"]), (200, &last.into()), "{page}");
    let (status, page, said) = warned(&served, &format!("/run/latest/event/{from}"));
    // It may be there and be damaged; what is not there is not found.
    let is_gone = page["row"]["untrusted"] != true;
    assert_eq!((status, said), (if is_gone { 404 } else { 200 }, from), "{page}");
    // What a question led to, and how it came about, as far as the run goes.
    let (_, page, _) = warned(&served, "/run/latest?kind=RequestSent");
    let question = &page["rows"][0];
    let (asked, call) = (question["seq"].as_u64().unwrap(), question["call"].as_str().unwrap());
    assert!(asked < last, "{question}");
    for page in ["exchange", "chain"] {
        let (status, page, said) = warned(&served, &format!("/run/latest/{page}/{asked}"));
        assert_eq!(
            (status, said, page["call"].as_str()),
            (200, from, call.split('#').next()),
            "{page}"
        );
        let path = format!("/run/latest/exchange/{}", from + 1);
        let (status, page, said) = warned(&served, &path);
        assert!(matches!(status, 200 | 404) && said == from, "{path}: {page}");
    }
    for command in [format!("audit latest {asked}"), format!("show latest {call}")] {
        let said = place.run(&format!("--log {log} {command}"));
        // Damage that comes after what is looked up is met only if it is known without reading.
        assert!(said.code < 2, "{command}: {}{}", said.out, said.err);
        let is_warned = said.out.starts_with("DAMAGED: from event ");
        assert_eq!(said.code == 1, is_warned, "{}", said.out);
        assert!(said.out.contains("answer") && said.out.contains("prompt"), "{}", said.out);
    }
    let (_, page, _) = warned(&served, &format!("/run/latest/event/{from}"));
    let beyond = page["run"]["events"].as_u64().unwrap() + 1;
    let (status, page, said) = warned(&served, &format!("/run/latest/event/{beyond}"));
    assert_eq!((status, said), (404, from), "{page}");
    assert!(page["run"]["run"].as_str().is_some_and(|run| run.parse::<RunId>().is_ok()), "{page}");
    drop(served);
    for command in ["show latest", "log latest"] {
        let good = place.run(&format!("--log {log} {command} --at {last}"));
        // Damage that comes later is met only if it is known without reading.
        assert!(good.code < 2, "{command}: {}{}", good.out, good.err);
        let is_warned = good.out.starts_with("DAMAGED: from event ");
        assert_eq!(good.code == 1, is_warned, "{command}: {}", good.out);
        assert!(
            good.out.contains(&format!("state after event {last}:")),
            "{command}: {}",
            good.out
        );
        for at in [from, from + 50] {
            let bad = place.run(&format!("--log {log} {command} --at {at}"));
            assert_eq!(bad.code, 1, "{command}: {}{}", bad.out, bad.err);
            assert!(!bad.out.contains("state after event"), "{command}: {}", bad.out);
            let why = [format!("from event {from} on"), format!("damaged at seq {from}: ")];
            let all = format!("{}{}", bad.out, bad.err);
            assert!(why.iter().any(|why| all.contains(why)), "{command}: {all}");
        }
    }
}

#[test]
fn a_run_that_was_cut_off_has_states_and_events_up_to_there() {
    let place = two();
    let whole = fs::read(place.path("retold.db")).unwrap();
    place.write("cut.db", &whole[..whole.len() / 16_384 * 6 / 10 * 16_384]);
    let (shown, code) = place.json("--log cut.db show latest");
    let from = shown["damaged"]["from"].as_u64().unwrap();
    assert!(code == 1 && from > 20, "{shown}");
    checked(&place, "cut.db", from);
}

#[test]
fn a_run_without_one_of_its_events_has_states_and_events_up_to_there() {
    let place = two();
    let db = Connection::open(place.path("retold.db")).unwrap();
    let delete = "DELETE FROM events WHERE id = (2 << 32) + 100";
    assert_eq!(without_triggers(&db, |db| db.execute(delete, [])), Ok(1));
    drop(db);
    checked(&place, "retold.db", 100);
}

/// A forged number makes a run look as long as a number can be.
#[test]
fn an_event_with_a_number_far_off_is_neither_waited_for_nor_makes_room_for_all_before_it() {
    for change in ["", "UPDATE events SET time = time + 1 WHERE id = (2 << 32) + 20"] {
        let place = two();
        let db = Connection::open(place.path("retold.db")).unwrap();
        let last = "SELECT max(id) & 4294967295 FROM events WHERE id < 3 << 32";
        let last: i64 = db.query_row(last, [], |row| row.get(0)).unwrap();
        let forged = "INSERT INTO events
            SELECT (2 << 32) + 4000000000, kind, time, call, sample, request, cause, content, body, hash
            FROM events WHERE id = (2 << 32) + 5";
        let sql = format!("{forged}; {change}");
        without_triggers(&db, |db| db.execute_batch(&sql)).unwrap();
        drop(db);
        let due = if change.is_empty() { last as u64 + 1 } else { 20 };
        for command in ["show latest", "log latest --most 99999"] {
            let said = place.run(command);
            assert_eq!(said.code, 1, "{command}: {}{}", said.out, said.err);
            let banner = format!("DAMAGED: from event {due} on");
            assert!(said.out.starts_with(&banner), "{command}: {}", said.out);
        }
        let served = Served::log(&place, "retold.db");
        for page in ["?by=call", "?kind=DecisionMade", "?q=vote"] {
            let (status, page, from) = warned(&served, &format!("/run/latest{page}"));
            assert!(status < 500 && from == due, "{page}");
        }
    }
}
