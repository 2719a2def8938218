//! A log of several runs that was cut off at any length: every command and the page name the same event
//! as the first that cannot be trusted, and leave the log and its folder as they are.

use std::collections::BTreeMap;
use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use super::damaged::{dangers, files};
use super::{Feeding, Served, recording};
use crate::support::cli::Place;

/// How many lengths are tried, each with the high-water marks beside the log and without.
#[expect(clippy::disallowed_methods, reason = "more of them when asked for")]
fn cuts() -> usize {
    std::env::var("RETOLD_TEST_CUTS").map_or(10, |n| n.parse().unwrap())
}

/// A log of three runs, the last of them unfinished, all in one file.
fn three() -> Place {
    let place = Place::new();
    for name in ["society_small.jsonl", "game24_small.jsonl"] {
        place.ok(&format!("import {}", recording(name)));
    }
    let mut feeding = Feeding::new("adventure_small.jsonl", &place.path("retold.db"));
    feeding.feed(60);
    drop(feeding);
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    place
}

/// Random numbers that are the same in every run of the tests.
struct Lengths(u64);

impl Lengths {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

/// The first event of each run that cannot be trusted, as `verify` has it.
fn verified(place: &Place, name: &str) -> BTreeMap<String, u64> {
    let (found, code) = place.json(&format!("--log {name} verify"));
    assert_eq!(code, 1, "{name}: {found}");
    let mut first = BTreeMap::new();
    for problem in found["problems"].as_array().unwrap() {
        if let (Some(run), Some(seq)) = (problem["run"].as_str(), problem["seq"].as_u64()) {
            let seq = first.get(run).map_or(seq, |before: &u64| seq.min(*before));
            first.insert(run.to_owned(), seq);
        }
    }
    first
}

/// Checks a log that was cut off; returns how many of its runs are intact and damaged.
fn checked(place: &Place, name: &str, runs: &[String]) -> (usize, usize) {
    let elsewhere = tempfile::tempdir().unwrap();
    let before = files(place.root());
    let (list, _) = place.json(&format!("--log {name} log"));
    if !list["runs"].is_array() {
        // Not even the list of runs is left.
        for command in ["show latest", "log latest", "stats latest", "verify"] {
            let said = place.run(&format!("--log {name} {command}"));
            assert!((1..=3).contains(&said.code), "{name}: {command}: {}{}", said.out, said.err);
        }
        assert!(files(place.root()) == before, "{name}: the folder was changed");
        return (0, 0);
    }
    let listed: Vec<&str> =
        list["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    let first = verified(place, name);
    let served = Served::log(place, name);
    let mut on_list: BTreeMap<String, u64> = BTreeMap::new();
    for notice in served.json("/")["notices"].as_array().unwrap() {
        if let (Some(run), Some(from)) = (notice["of"].as_str(), notice["from"].as_u64()) {
            on_list.insert(run.to_owned(), from);
        }
    }
    let (mut intact, mut damaged) = (0, 0);
    for run in runs {
        if !listed.contains(&run.as_str()) {
            let said = place.run(&format!("--log {name} show {run}"));
            assert!((1..=2).contains(&said.code), "{name}: {run}: {}{}", said.out, said.err);
            continue;
        }
        let due = first.get(run).copied();
        assert_eq!(on_list.get(run).copied(), due, "{name}: / about {run}");
        let page = served.json(&format!("/run/{run}"));
        let on_page = dangers(&page).iter().filter_map(|(_, from)| *from).min();
        assert_eq!(on_page, due, "{name}: the page of {run}: {}", page["notices"]);
        let report = elsewhere.path().join(format!("{name}{run}.html"));
        for command in [
            format!("show {run}"),
            format!("log {run}"),
            format!("stats {run}"),
            format!("report {run} -o {}", report.display()),
        ] {
            let (object, code) = place.json(&format!("--log {name} {command}"));
            let banner: Option<u64> = object["damaged"]["from"].as_u64();
            assert_eq!(banner, due, "{name}: {command}: {object}");
            assert_eq!(code, i32::from(due.is_some()), "{name}: {command}: {object}");
        }
        match due {
            Some(from) => {
                damaged += 1;
                let said = place.run(&format!("--log {name} show {run}"));
                let banner = format!("DAMAGED: from event {from} on");
                assert!(said.out.starts_with(&banner), "{name}: {}{}", said.out, said.err);
            }
            None => {
                intact += 1;
                // What the warning advises.
                let to = elsewhere.path().join(format!("{name}{run}.jsonl"));
                place.ok(&format!("--log {name} export {run} {}", to.display()));
                place.ok(&format!("verify {}", to.display()));
            }
        }
    }
    drop(served);
    assert!(files(place.root()) == before, "{name}: the folder was changed");
    (intact, damaged)
}

#[test]
fn a_log_cut_anywhere_is_damaged_from_the_same_event_on_everywhere() {
    let place = three();
    let (list, _) = place.json("log");
    let runs: Vec<String> = list["runs"].as_array().unwrap().iter().map(id).collect();
    assert_eq!(runs.len(), 3);
    let whole = fs::read(place.path("retold.db")).unwrap();
    let mark = fs::read(place.path("retold.db-mark")).unwrap();
    let mut lengths = Lengths(13);
    let (mut intact, mut damaged) = (0, 0);
    for n in 0..cuts() {
        // Inside the last page, at the end of a page, and anywhere.
        let length = match n % 5 {
            0 => whole.len() - 1 - lengths.next(16_384),
            1 => (1 + lengths.next(whole.len() / 16_384 - 1)) * 16_384,
            _ => 1 + lengths.next(whole.len() - 1),
        };
        for with_mark in [true, false] {
            let name = format!("cut{length}{}.db", if with_mark { "marked" } else { "" });
            place.write(&name, &whole[..length]);
            if with_mark {
                place.write(&format!("{name}-mark"), &mark);
            }
            let (whole_runs, others) = checked(&place, &name, &runs);
            (intact, damaged) = (intact + whole_runs, damaged + others);
            fs::remove_file(place.path(&name)).unwrap();
            let _ = fs::remove_file(place.path(&format!("{name}-mark")));
        }
    }
    assert!(intact > 0 && damaged > 0, "{intact} intact and {damaged} damaged runs");
}

fn id(run: &Value) -> String {
    run["run"].as_str().unwrap().to_owned()
}
