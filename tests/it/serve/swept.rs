//! A log of several runs that was cut off at any length, or has a page or a row that is not as it was written: no command and no
//! page says so of a run that verification finds sound, some say it of each other one, and all leave the log and its folder as they
//! are.

use std::collections::BTreeMap;
use std::fs;

use rusqlite::Connection;
use serde_json::Value;

use super::damaged::{dangers, files};
use super::{Feeding, Served, recording};
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;

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

/// The pages of a run.
const PAGES: [&str; 6] = ["", "/stats", "/state", "/check", "/event/1", "/exchange/4"];

/// The first time that a page of a run is loaded, it names the event, or says that the run is being
/// read.
fn first_load(place: &Place, name: &str, page: &str, due: Option<u64>, law: Law) {
    let served = Served::log(place, name);
    let answer = served.ask("GET", page, "Accept: application/json\r\n");
    let shown: Value = serde_json::from_str(&answer.body).unwrap();
    let is_pending = |notice: &Value| notice["text"].as_str().unwrap().contains("still being read");
    if shown["notices"].as_array().unwrap().iter().any(is_pending) {
        assert_eq!(answer.status, 202, "{name}: {page}: {shown}");
        return;
    }
    let named = dangers(&shown).iter().filter_map(|(_, from)| *from).min();
    assert!(law.holds(named, due), "{name}: the first load of {page}: {} {shown}", answer.status);
}

/// What has to be named of a damaged run.
#[derive(Clone, Copy, PartialEq)]
enum Law {
    /// By all that read it, the event that verification names first: a row of an event or of its content is gone, which every
    /// reader meets there.
    SameEvent,
    /// Any event, and by some nothing: where a reader first meets a damaged page depends on where it began, and some need less
    /// than all of a run.
    AnyEvent,
}

impl Law {
    fn holds(self, named: Option<u64>, due: Option<u64>) -> bool {
        match self {
            Law::SameEvent => named == due,
            Law::AnyEvent => named.is_none() || due.is_some(),
        }
    }
}

/// The event that a command names: in its object, or in its error if it computes nothing.
fn named_by(object: &Value) -> Option<u64> {
    let error = object["error"]["message"].as_str().unwrap_or_default();
    let in_error =
        error.split_once("is damaged at seq ").and_then(|(_, rest)| rest.split_once(':'));
    object["damaged"]["from"].as_u64().or_else(|| in_error?.0.parse().ok())
}

/// The first event of each run that cannot be trusted, as `verify` has it.
fn verified(place: &Place, name: &str) -> BTreeMap<String, u64> {
    let (found, code) = place.json(&format!("--log {name} verify"));
    let problems = found["problems"].as_array().unwrap();
    assert_eq!(code, i32::from(!problems.is_empty()), "{name}: {found}");
    let mut first = BTreeMap::new();
    for problem in found["problems"].as_array().unwrap() {
        if let (Some(run), Some(seq)) = (problem["run"].as_str(), problem["seq"].as_u64()) {
            let seq = first.get(run).map_or(seq, |before: &u64| seq.min(*before));
            first.insert(run.to_owned(), seq);
        }
    }
    first
}

/// The page of all runs, once each was shown: the first event of a run that cannot be trusted, and how each run ended.
fn list_of(served: &Served) -> (BTreeMap<String, u64>, BTreeMap<String, String>) {
    let mut on_list: BTreeMap<String, u64> = BTreeMap::new();
    let all = served.json("/");
    let outcomes: BTreeMap<String, String> = all["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (id(run), run["outcome"].as_str().unwrap().to_owned()))
        .collect();
    for notice in all["notices"].as_array().unwrap() {
        if let (Some(run), Some(from)) = (notice["of"].as_str(), notice["from"].as_u64()) {
            on_list.insert(run.to_owned(), from);
        }
    }
    (on_list, outcomes)
}

/// Checks a log that was cut off; returns how many of its runs are intact and damaged.
fn checked(place: &Place, name: &str, runs: &[String], law: Law) -> (usize, usize) {
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
    for (n, run) in runs.iter().enumerate() {
        let page =
            PAGES[(name.len() + n + first.get(run).map_or(0, |seq| *seq as usize)) % PAGES.len()];
        if listed.contains(&run.as_str()) {
            first_load(place, name, &format!("/run/{run}{page}"), first.get(run).copied(), law);
        }
    }
    let served = Served::log(place, name);
    assert_eq!(served.get("/compare").status, 200, "{name}");
    let (mut intact, mut damaged) = (0, 0);
    for run in runs {
        if !listed.contains(&run.as_str()) {
            let said = place.run(&format!("--log {name} show {run}"));
            assert!((1..=2).contains(&said.code), "{name}: {run}: {}{}", said.out, said.err);
            continue;
        }
        let due = first.get(run).copied();
        let page = served.json(&format!("/run/{run}"));
        let on_page = dangers(&page).iter().filter_map(|(_, from)| *from).min();
        assert!(law.holds(on_page, due), "{name}: the page of {run}: {}", page["notices"]);
        let mut pages: Vec<String> = PAGES.iter().map(|page| format!("/run/{run}{page}")).collect();
        let rows = page["table"]["rows"].as_array().into_iter().flatten();
        pages.extend(rows.take(3).map(|row| row["href"].as_str().unwrap().to_owned()));
        let decisions = served.json(&format!("/run/{run}?kind=DecisionMade"));
        let rows = decisions["rows"].as_array().into_iter().flatten();
        pages.extend(rows.step_by(9).map(|row| format!("/run/{run}/chain/{}", row["seq"])));
        for path in pages {
            let status = served.get(&path).status;
            assert!(status < 500, "{name}: {path}: {status}");
        }
        let report = elsewhere.path().join(format!("{name}{run}.html"));
        let mut named = 0;
        for command in [
            format!("show {run}"),
            format!("log {run} --most 99999"),
            format!("diff {run} {run}"),
            format!("stats {run}"),
            format!("report {run} -o {}", report.display()),
        ] {
            let (object, code) = place.json(&format!("--log {name} {command}"));
            assert!(law.holds(named_by(&object), due), "{name}: {command}: {object}");
            assert!(code == 0 || due.is_some() && code == 1, "{name}: {command}: {object}");
            named += u32::from(code == 1);
        }
        // Some commands need less than all, and others all.
        assert_eq!(named > 0, due.is_some(), "{name}: {run}: {first:?}");
        // Decisions may differ in a sound run as well.
        let (object, code) = place.json(&format!("--log {name} check {run}"));
        assert!(law.holds(named_by(&object), due) && code <= 1, "{name}: check {run}: {object}");
        let (alone, code) = place.json(&format!("--log {name} verify {run}"));
        let named =
            alone["problems"].as_array().unwrap().iter().filter_map(|one| one["seq"].as_u64());
        assert_eq!(named.min(), due, "{name}: verify {run}: {code}: {alone}");
        match due {
            Some(from) => {
                damaged += 1;
                let (on_list, outcomes) = list_of(&served);
                let on_list = on_list.get(run).copied();
                assert!(Law::AnyEvent.holds(on_list, Some(from)), "{name}: / about {run}");
                assert!(on_list.is_none() || outcomes[run] == "damaged", "{name}: {run}");
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
            let (whole_runs, others) = checked(&place, &name, &runs, Law::AnyEvent);
            (intact, damaged) = (intact + whole_runs, damaged + others);
            fs::remove_file(place.path(&name)).unwrap();
            let _ = fs::remove_file(place.path(&format!("{name}-mark")));
        }
    }
    assert!(intact > 0 && damaged > 0, "{intact} intact and {damaged} damaged runs");
}

/// Pages with rows of the large tables, by their numbers from 0: the first pages of the small tables
/// come before them.
fn leaves(file: &[u8]) -> Vec<usize> {
    let leaves: Vec<usize> =
        (13..file.len() / PAGE).filter(|page| file[page * PAGE] == 13).collect();
    assert!(leaves.len() > 4, "{leaves:?}");
    leaves
}

const PAGE: usize = 16_384;

/// Checks a log after a change to a copy of it; returns how many of its runs are intact and damaged.
fn changed(
    place: &Place,
    name: &str,
    law: Law,
    change: impl FnOnce(&mut Vec<u8>),
) -> (usize, usize) {
    let (list, _) = place.json("log");
    let runs: Vec<String> = list["runs"].as_array().unwrap().iter().map(id).collect();
    let mut file = fs::read(place.path("retold.db")).unwrap();
    change(&mut file);
    place.write(name, file);
    fs::copy(place.path("retold.db-mark"), place.path(&format!("{name}-mark"))).unwrap();
    let found = checked(place, name, &runs, law);
    fs::remove_file(place.path(name)).unwrap();
    fs::remove_file(place.path(&format!("{name}-mark"))).unwrap();
    found
}

#[test]
fn a_zeroed_page_is_damage_from_the_same_event_on_everywhere() {
    let place = three();
    let leaves = leaves(&fs::read(place.path("retold.db")).unwrap());
    let mut random = Lengths(29);
    let mut damaged = 0;
    for n in 0..cuts() {
        let page = leaves[random.next(leaves.len())];
        // A page of the log, or of the disk: then rows have the number 0.
        let (at, of) = match n % 2 {
            0 => (0, PAGE),
            _ => (random.next(4) * PAGE / 4, PAGE / 4),
        };
        let name = format!("zeroed{page}_{at}.db");
        damaged +=
            changed(&place, &name, Law::AnyEvent, |file| file[page * PAGE + at..][..of].fill(0)).1;
    }
    assert!(damaged > 0);
}

#[test]
fn a_flipped_bit_is_damage_from_the_same_event_on_everywhere() {
    let place = three();
    let leaves = leaves(&fs::read(place.path("retold.db")).unwrap());
    let mut random = Lengths(31);
    let mut damaged = 0;
    for n in 0..cuts().div_ceil(2) {
        let page = leaves[random.next(leaves.len())];
        // In the head of the page, among the places of its rows, and in a row.
        let at = match n % 3 {
            0 => random.next(8),
            1 => 8 + random.next(20),
            _ => PAGE - 1 - random.next(PAGE / 2),
        };
        let bit = random.next(8);
        let name = format!("flipped{page}_{at}_{bit}.db");
        damaged +=
            changed(&place, &name, Law::AnyEvent, |file| file[page * PAGE + at] ^= 1 << bit).1;
    }
    assert!(damaged > 0);
}

#[test]
fn a_deleted_row_is_damage_from_the_same_event_on_everywhere() {
    let place = three();
    for (n, change) in [
        "DELETE FROM events WHERE id = (1 << 32) + 100",
        "DELETE FROM events WHERE id IN ((1 << 32) + 1, (2 << 32) + 7, (3 << 32) + 30)",
        "DELETE FROM events WHERE id > (2 << 32) + 10 AND id < (3 << 32)",
        "DELETE FROM contents WHERE id = (SELECT content FROM events WHERE id > (3 << 32) + 20
            AND content IS NOT NULL ORDER BY id LIMIT 1)",
        "DELETE FROM requests WHERE id = (SELECT request FROM events WHERE id > (1 << 32) + 90
            AND request IS NOT NULL ORDER BY id LIMIT 1)",
        "UPDATE contents SET body = body || 'x' WHERE id % 7 = 3 AND typeof(body) = 'text'",
        "DROP TABLE requests",
    ]
    .iter()
    .enumerate()
    {
        let name = format!("deleted{n}.db");
        let law = if n < 4 { Law::SameEvent } else { Law::AnyEvent };
        let (_, damaged) = changed(&place, &name, law, |file| {
            let copy = tempfile::tempdir().unwrap();
            let path = copy.path().join("copy.db");
            fs::write(&path, &*file).unwrap();
            let db = Connection::open(&path).unwrap();
            without_triggers(&db, |db| db.execute_batch(change)).unwrap();
            db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
            drop(db);
            *file = fs::read(&path).unwrap();
        });
        assert!(damaged > 0, "{change}");
    }
}

/// Nothing is left of it but what the ledger, or the mark beside the log, says.
#[test]
fn a_deleted_run_has_a_page_with_the_banner() {
    for with_mark in [true, false] {
        let place = three();
        let (list, _) = place.json("log");
        let deleted = id(&list["runs"][1]);
        let db = Connection::open(place.path("retold.db")).unwrap();
        let change = "DELETE FROM events WHERE id >> 32 = 2; DELETE FROM run_ids WHERE no = 2";
        without_triggers(&db, |db| db.execute_batch(change)).unwrap();
        db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(db);
        if !with_mark {
            fs::remove_file(place.path("retold.db-mark")).unwrap();
        }
        first_load(&place, "retold.db", &format!("/run/{deleted}"), Some(1), Law::SameEvent);
        let served = Served::log(&place, "retold.db");
        let page = served.json("/");
        let of = |notice: &&Value| notice["of"] == *deleted;
        let named: Vec<&Value> = page["notices"].as_array().unwrap().iter().filter(of).collect();
        assert_eq!(named.len(), 1, "{page}");
        assert_eq!(
            (&named[0]["from"], &named[0]["level"]),
            (&1.into(), &"danger".into()),
            "{page}"
        );
        assert_eq!(page["runs"].as_array().unwrap().len(), 2, "{page}");
        for path in ["", "/stats", "?by=call"] {
            let page = served.json(&format!("/run/{deleted}{path}"));
            let said = dangers(&page);
            assert_eq!(said[0].1, Some(1), "{path}: {page}");
            assert!(said[0].0.contains("it was deleted: entry"), "{path}: {said:?}");
            assert_eq!(page["run"]["outcome"], "damaged", "{path}: {page}");
        }
        assert_eq!(served.get("/run/0000000000000000").status, 404);
        let (found, code) = place.json(&format!("verify {deleted}"));
        let problem = &found["problems"][0];
        assert_eq!(
            (code, &found["run"], &problem["run"]),
            (1, &list["runs"][1]["run"], &found["run"])
        );
        assert_eq!(problem["seq"], 1, "{found}");
    }
}

fn id(run: &Value) -> String {
    run["run"].as_str().unwrap().to_owned()
}
