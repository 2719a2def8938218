//! However a log is damaged, every command that reads a run from its beginning names the same event as the first that cannot be
//! trusted. One that begins elsewhere names it, meets a later one, or does not meet the damage.

use std::fs;

use regex::Regex;
use rusqlite::Connection;
use serde_json::json;

use crate::serve::{Served, recording};
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;

pub(super) const PAGE: usize = 16_384;

/// The study of the last run.
const CONFIG: &str = concat!(env!("RETOLD_ROOT"), "/config/deliberation_small.yaml");

/// A log of three runs in one file, and the id of the last one, which is the longest.
pub(super) fn three() -> (Place, String) {
    let place = Place::new();
    for name in ["game24_small.jsonl", "society_small.jsonl"] {
        place.ok(&format!("import {}", recording(name)));
    }
    place.ok(&format!("run {CONFIG} --no-outputs --quiet"));
    merged(&place);
    let (list, _) = place.json("log");
    let last = list["runs"].as_array().unwrap().last().unwrap();
    assert!(last["events"].as_u64().unwrap() > 1000, "{last}");
    (place, last["run"].as_str().unwrap().to_owned())
}

fn merged(place: &Place) {
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}

pub(super) fn sql(place: &Place, change: &str) {
    let db = Connection::open(place.path("retold.db")).unwrap();
    without_triggers(&db, |db| db.execute_batch(change)).unwrap();
    drop(db);
    merged(place);
}

/// The first page of a table, by its number from 0.
fn root(place: &Place, table: &str) -> usize {
    let db = Connection::open(place.path("retold.db")).unwrap();
    let find = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    db.query_row(find, [table], |r| r.get::<_, u32>(0)).unwrap() as usize - 1
}

/// The pages of the events, in order, by their numbers from 0.
pub(super) fn pages_of_events(place: &Place) -> Vec<usize> {
    let file = fs::read(place.path("retold.db")).unwrap();
    let root = root(place, "events") * PAGE;
    let two = |at: usize| usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
    let child = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize - 1;
    assert_eq!(file[root], 5, "the root leads to other pages");
    let cells = (0..two(root + 3)).map(|cell| child(root + two(root + 12 + 2 * cell)));
    cells.chain([child(root + 8)]).collect()
}

pub(super) fn patch(place: &Place, change: impl FnOnce(&mut [u8])) {
    let mut file = fs::read(place.path("retold.db")).unwrap();
    change(&mut file);
    fs::write(place.path("retold.db"), file).unwrap();
}

/// Checks that all commands name `due`, and no other event.
fn all_name(place: &Place, run: &str, due: u64, what: &str) {
    let elsewhere = tempfile::tempdir().unwrap();
    let numbers = Regex::new(r"(?:from event|damaged at seq|, seq) (\d+)").unwrap();
    for (n, command) in [
        format!("verify {run}"),
        format!("show {run}"),
        format!("stats {run}"),
        format!("log {run} --most 100000"),
        format!("log {run} --kind DecisionMade --most 100000"),
        format!("log {run} --follow"),
        format!("check {run}"),
        format!("plan {CONFIG} --against {run}"),
        format!("replay {run}"),
        format!("diff {run} {run}"),
        format!("report {run} -o {}/OUT.html", elsewhere.path().display()),
        format!("export {run} {}/OUT.jsonl", elsewhere.path().display()),
        format!("export {run} {}/OUT --as outputs", elsewhere.path().display()),
        format!("check {run} --snapshots {}/SNAPSOUT", elsewhere.path().display()),
    ]
    .iter()
    .enumerate()
    {
        let said = place.run(&command.replace("OUT", &n.to_string()));
        let text = format!("{}{}", said.out, said.err);
        assert_eq!(said.code, 1, "{what}: {command}: {text}");
        let named: Vec<u64> =
            numbers.captures_iter(&text).map(|found| found[1].parse().unwrap()).collect();
        assert!(!named.is_empty(), "{what}: {command} names no event: {text}");
        // What runs a study again reads the end of the record first.
        let is_replayed = command.starts_with("replay") || command.ends_with("--as outputs");
        let is_right = |seq: &u64| *seq == due || is_replayed && *seq > due;
        assert!(named.iter().all(is_right), "{what}: {command}, not {due}: {text}");
        // A reader that is still open when a program ends would leave it.
        assert!(!place.path("retold.db-wal").exists(), "{what}: {command}");
    }
    for command in [format!("show {run} 3"), format!("audit {run} {}", due + 2)] {
        let said = place.run(&command);
        let text = format!("{}{}", said.out, said.err);
        let mut named = numbers.captures_iter(&text).map(|found| found[1].parse::<u64>().unwrap());
        assert!(
            said.code < 3 && named.all(|seq| seq == due),
            "{what}: {command}, not {due}: {text}"
        );
    }
    // `log` lists the events before the damage, with and without --follow.
    let listed = |how: &str| {
        let lines = place.run(&format!("log {run} {how}")).out;
        let is_event = |line: &&str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        lines.lines().filter(is_event).map(str::to_owned).collect::<Vec<String>>()
    };
    let (list, followed) = (listed("--most 100000"), listed("--follow"));
    assert!(list == followed, "{what}: {} lines, {} followed", list.len(), followed.len());
    let (json, _) = place.json(&format!("verify {run}"));
    assert_eq!(json["problems"][0]["seq"], due, "{what}: {json}");
    let (json, _) = place.json("verify");
    let problems = json["problems"].as_array().unwrap();
    let named = problems.iter().any(|one| one["run"] == run && one["seq"] == due);
    assert!(named, "{what}: verify, not {due}: {json}");
    let (json, _) = place.json(&format!("show {run}"));
    assert_eq!(json["damaged"]["from"], due, "{what}: {json}");
    // What comes before it is shown.
    if due > 1 {
        assert_eq!(json["events"], due - 1, "{what}: {json}");
    }
    assert_eq!(list.len() as u64, due - 1, "{what}");
}

/// The first event of the run that has a prompt.
fn first_with_prompt(place: &Place) -> u64 {
    let db = Connection::open(place.path("retold.db")).unwrap();
    let find = "SELECT min(id) & 4294967295 FROM events WHERE id >> 32 = 3 AND request IS NOT NULL";
    db.query_row(find, [], |r| r.get::<_, u32>(0)).unwrap().into()
}

#[test]
fn a_zeroed_page_is_damaged_from_its_first_event_on() {
    let (place, run) = three();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let pages = pages_of_events(&place);
    assert!(pages.len() > 8, "{pages:?}");
    let mut last = 0;
    // In the middle, a page that has more events than come after it, and the page that has the end of the run. SQLite finds an
    // event by the page before it, so that one alone after the damage is not found.
    let end = *pages.last().unwrap();
    let is_alone = whole[end * PAGE + 3..end * PAGE + 5] == [0, 1];
    let before = pages[pages.len() - if is_alone { 3 } else { 2 }];
    for page in [pages[pages.len() / 2], before, end] {
        patch(&place, |file| file[page * PAGE..(page + 1) * PAGE].fill(0));
        let (json, code) = place.json(&format!("show {run}"));
        let from = json["damaged"]["from"].as_u64().unwrap();
        assert!(code == 1 && from > last, "{json}");
        last = from;
        all_name(&place, &run, from, &format!("page {page}"));
        // The other runs are as they were.
        let (list, code) = place.json("log");
        assert_eq!(list["runs"].as_array().unwrap().len(), 3, "{list}");
        assert_eq!(code, 1, "{list}");
        let others = place.run(&format!("show {}", list["runs"][0]["run"].as_str().unwrap()));
        assert_eq!(others.code, 0, "{}{}", others.out, others.err);
        fs::write(place.path("retold.db"), &whole).unwrap();
    }
}

#[test]
fn a_damaged_root_of_the_events_is_named_with_every_run() {
    let (place, run) = three();
    let root = root(&place, "events");
    patch(&place, |file| file[root * PAGE..(root + 1) * PAGE].fill(0));
    all_name(&place, &run, 1, "the root");
    let (list, code) = place.json("log");
    let problems = list["problems"].as_array().unwrap();
    assert_eq!((code, problems.len()), (1, 3), "{list}");
    assert!(problems.iter().all(|problem| problem["seq"] == 1), "{list}");
}

#[test]
fn without_the_table_of_requests_the_first_event_with_a_prompt_is_the_first_damaged() {
    let (place, run) = three();
    let due = first_with_prompt(&place);
    assert!(due > 1);
    sql(&place, "DROP TABLE requests");
    all_name(&place, &run, due, "no requests");
    let (place, run) = three();
    sql(&place, "DROP TABLE contents");
    all_name(&place, &run, 1, "no contents");
}

#[test]
fn a_flipped_byte_in_the_list_of_runs_is_damage_from_the_first_event_on() {
    let (place, run) = three();
    let root = root(&place, "run_ids");
    // The number of the cells of the page.
    patch(&place, |file| file[root * PAGE + 3] ^= 1);
    all_name(&place, &run, 1, "run_ids");
}

/// The runs are known from the ledger.
#[test]
fn runs_that_cannot_be_listed_are_named() {
    let (place, run) = three();
    let root = root(&place, "run_ids");
    patch(&place, |file| file[root * PAGE..(root + 1) * PAGE].fill(0));
    for command in ["verify", "show", "stats", "log"] {
        for run in [&run, "latest"] {
            let said = place.run(&format!("{command} {run}"));
            let text = format!("{}{}", said.out, said.err);
            assert_eq!(said.code, 1, "{command}: {text}");
            assert!(text.contains(", seq 1: the list of runs cannot be read"), "{text}");
        }
    }
    let (list, code) = place.json("log");
    assert_eq!((code, list["problems"].as_array().unwrap().len()), (1, 3), "{list}");
}

/// Without a check of each page, a scan ends early there, and a look-up finds other rows.
#[test]
fn a_page_that_claims_too_many_rows_is_damage_from_its_first_event_on() {
    let (place, run) = three();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let pages = pages_of_events(&place);
    for page in [pages[pages.len() / 2], pages[pages.len() - 2]] {
        patch(&place, |file| file[page * PAGE + 3] ^= 1);
        let (json, _) = place.json(&format!("show {run}"));
        let from = json["damaged"]["from"].as_u64().unwrap_or_else(|| panic!("{json}"));
        all_name(&place, &run, from, &format!("page {page}"));
        fs::write(place.path("retold.db"), &whole).unwrap();
    }
}

/// SQLite checks a page when it is first read. After that, it takes the row for where it was.
#[test]
fn a_row_that_is_said_to_be_beyond_its_page_is_damage() {
    let (place, run) = three();
    // The last page may have only a few rows.
    let last = *pages_of_events(&place).iter().nth_back(1).unwrap();
    // The place of the eleventh row, which no page is large enough for.
    patch(&place, |file| {
        assert!(u16::from_be_bytes([file[last * PAGE + 3], file[last * PAGE + 4]]) > 10);
        file[last * PAGE + 8 + 2 * 10] ^= 0x80;
    });
    let (json, _) = place.json(&format!("show {run}"));
    let from = json["damaged"]["from"].as_u64().unwrap_or_else(|| panic!("{json}"));
    all_name(&place, &run, from, &format!("page {last}"));
}

/// Changes a key of the tree of events so that events beside it cannot be looked up. Returns the first of them.
fn change_a_key(place: &Place, change: impl FnOnce(u8) -> u8) -> u64 {
    let root = root(place, "events") * PAGE;
    let whole = fs::read(place.path("retold.db")).unwrap();
    let two = |at: usize| usize::from(u16::from_be_bytes([whole[at], whole[at + 1]]));
    let cells = two(root + 3);
    // The key comes after the number of the page; the last of its five bytes has the last seven bits.
    let key = root + two(root + 12 + 2 * (cells - 2)) + 4;
    let last = whole[key..key + 5].iter().fold(0_u64, |key, byte| key << 7 | u64::from(byte & 127));
    assert_eq!(last >> 32, 3, "the key of an event of the last run");
    let (seq, low) = (last & 0xffff_ffff, whole[key + 4]);
    assert!((1..120).contains(&low), "{low}");
    let changed = change(low);
    patch(place, |file| file[key + 4] = changed);
    if changed < low { seq } else { seq + 1 }
}

/// Read in order, the events are all there; looked up one by one, those beside the key are not. Only verification does both.
#[test]
fn an_event_that_cannot_be_looked_up_is_named_by_verification() {
    let (place, run) = three();
    let whole = fs::read(place.path("retold.db")).unwrap();
    for change in [|low: u8| low - 1, |low: u8| low + 3] {
        let due = change_a_key(&place, change);
        for command in ["verify".to_owned(), format!("verify {run}")] {
            let said = place.run(&command);
            assert!(said.code == 1 && said.out.contains(&format!(", seq {due}: ")), "{said:?}");
        }
        assert_eq!(place.run(&format!("show {run}")).code, 0);
        fs::write(place.path("retold.db"), &whole).unwrap();
    }
}

/// The event after a missing one is as it was written.
#[test]
fn the_event_after_a_missing_one_is_not_named() {
    let (place, run) = three();
    sql(&place, "DELETE FROM events WHERE id = (3 << 32) + 100");
    all_name(&place, &run, 100, "a missing event");
    let (place, run) = three();
    sql(&place, "DELETE FROM events WHERE id BETWEEN (3 << 32) + 100 AND (3 << 32) + 300");
    all_name(&place, &run, 100, "201 missing events");
    let (place, run) = three();
    sql(
        &place,
        "DELETE FROM requests WHERE id = (SELECT request FROM events WHERE id > (3 << 32) + 400
        AND request IS NOT NULL ORDER BY id LIMIT 1)",
    );
    let (json, _) = place.json(&format!("show {run}"));
    all_name(&place, &run, json["damaged"]["from"].as_u64().unwrap(), "a missing request");
}

/// The format tells how the rest is read. Without it, the tables do.
#[test]
fn a_log_that_does_not_state_its_format_is_read_and_not_written() {
    for change in ["DELETE FROM meta", "DROP TABLE meta"] {
        let (place, run) = three();
        sql(&place, change);
        for command in ["show", "log", "stats"] {
            let said = place.run(&format!("{command} {run}"));
            assert_eq!(said.code, 0, "{change}: {command}: {}{}", said.out, said.err);
            let warned = "warning: retold.db: table meta: it does not name the format of the log";
            assert!(said.err.contains(warned), "{change}: {command}: {}", said.err);
        }
        for command in ["verify", "log"] {
            let said = place.run(command);
            assert_eq!(said.code, 1, "{change}: {command}: {}{}", said.out, said.err);
            assert!(said.out.contains("it does not name the format"), "{command}: {}", said.out);
        }
        let said = place.run("run small.yaml --quiet");
        assert_eq!(said.code, 1, "{change}: {}{}", said.out, said.err);
        assert!(said.err.contains("it does not name the format"), "{}", said.err);
    }
}

#[test]
fn a_deleted_run_is_named_from_its_first_event_on() {
    for with_mark in [true, false] {
        let (place, run) = three();
        sql(&place, "DELETE FROM events WHERE id >> 32 = 3; DELETE FROM run_ids WHERE no = 3");
        if !with_mark {
            fs::remove_file(place.path("retold.db-mark")).unwrap();
        }
        // It is still the latest, and not the one before it.
        for name in [run.as_str(), "latest"] {
            for command in ["verify", "show", "stats", "log", "audit"] {
                let of = if command == "audit" { " 4" } else { "" };
                let said = place.run(&format!("{command} {name}{of}"));
                let text = format!("{}{}", said.out, said.err);
                assert_eq!(said.code, 1, "{command} {name}: {text}");
                assert!(text.contains(", seq 1: it was deleted: entry"), "{command}: {text}");
            }
        }
        let page = Served::log(&place, "retold.db").json("/run/latest");
        assert_eq!((&page["run"]["run"], &page["notices"][0]["from"]), (&json!(run), &json!(1)));
        let (json, code) = place.json("log");
        let problem = &json["problems"][0];
        let named = (code, problem["run"].as_str(), problem["seq"].as_u64());
        assert_eq!(named, (1, Some(&*run), Some(1)), "{json}");
        assert_eq!(json["problems"].as_array().unwrap().len(), 1, "{json}");
        let (json, _) = place.json("verify");
        let problems = json["problems"].as_array().unwrap();
        let about = problems.iter().filter(|one| one["run"] == *run);
        assert_eq!(about.count(), 1, "{json}");
    }
}

/// From a ledger that was changed, it does not follow that what it does not name came later.
#[test]
fn an_older_run_that_was_deleted_is_not_the_latest() {
    for ledger in ["", "; DELETE FROM ledger WHERE no = 1", "; DELETE FROM ledger"] {
        let (place, run) = three();
        let delete = "DELETE FROM events WHERE id >> 32 = 1; DELETE FROM run_ids WHERE no = 1";
        sql(&place, &format!("{delete}{ledger}"));
        let (shown, _) = place.json("show latest");
        assert_eq!(shown["run"]["run"].as_str().or(shown["run"].as_str()), Some(&*run), "{shown}");
    }
}

/// To compare the ledger with the list of runs, no event has to be read.
#[test]
fn a_log_whose_ledger_does_not_fit_is_named_by_its_head_and_its_list() {
    for change in [
        "DELETE FROM ledger",
        "DELETE FROM ledger WHERE no > 2",
        "DELETE FROM run_ids WHERE no = 1",
        "DELETE FROM events WHERE id >> 32 = 1; DELETE FROM run_ids WHERE no = 1",
        "DELETE FROM events WHERE id > (3 << 32) + 900",
    ] {
        let (place, _) = three();
        assert_eq!((place.run("verify head").code, place.run("log").code), (0, 0));
        sql(&place, change);
        fs::remove_file(place.path("retold.db-mark")).unwrap();
        for command in ["verify head", "log"] {
            let said = place.run(command);
            assert!(said.code == 1, "{change}: {command}: {said:?}");
            assert!(said.err.contains("retold.db is damaged"), "{change}: {command}: {said:?}");
        }
    }
}

/// No event is damaged: what is left can be saved, and the exit code says that the run may have had more.
#[test]
fn a_run_is_exported_from_a_log_whose_ledger_cannot_be_read() {
    let (place, run) = three();
    place.ok(&format!("export {run} whole.jsonl"));
    let ledger = root(&place, "ledger");
    patch(&place, |file| file[ledger * PAGE..][..PAGE].fill(0));
    let why = "the ledger cannot be read: database disk image is malformed";
    let said = place.run(&format!("export {run} left.jsonl"));
    assert!(said.code == 1 && said.out.starts_with(&format!("DAMAGED: {why}\n")), "{said:?}");
    let read = |name: &str| fs::read(place.path(name)).unwrap();
    assert_eq!(read("left.jsonl"), read("whole.jsonl"));
    for command in ["export - --as exchanges", "export -"] {
        let said = place.run(&command.replace("export", &format!("export {run}")));
        assert!(said.code == 1 && said.out.starts_with('{'), "{said:?}");
        assert!(said.err.contains(why), "{command}: {}", said.err);
    }
}

/// The list says that it is not a check, unless it has found something.
#[test]
fn the_list_of_runs_says_what_is_known_to_be_wrong() {
    let (place, run) = three();
    assert!(!place.ok("log").contains("DAMAGED"));
    sql(&place, "DELETE FROM events WHERE id > (3 << 32) + 500");
    let said = place.run("log");
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let short = &run[..8];
    let line = format!("DAMAGED: from event 501 on, run {short} cannot be trusted: ");
    assert!(said.out.contains(&line), "{}", said.out);
    assert!(said.err.contains("retold.db is damaged: 1 problem"), "{}", said.err);
}

/// A page that is cut off may have earlier events than those that are known to be missing at the end.
#[test]
fn a_log_that_was_cut_off_is_named_alike_and_so_is_the_list_of_runs() {
    let (place, run) = three();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let pages = whole.len() / PAGE;
    let cuts = [pages / 2, pages - 9, pages - 5, pages - 3, pages - 2, pages - 1];
    for bytes in cuts.map(|left| left * PAGE).into_iter().chain([whole.len() - 1]) {
        place.write("retold.db", &whole[..bytes]);
        assert_eq!(place.run("verify head").code, 1, "{bytes} of {}", whole.len());
        let (json, _) = place.json(&format!("verify {run}"));
        let due = json["problems"][0]["seq"].as_u64().unwrap();
        for command in ["show", "stats", "check", "check --snapshots snaps"] {
            let (json, code) = place.json(&format!("{command} {run}"));
            let from = json["damaged"]["from"].as_u64();
            // What an event refers to may be lost, which not every command reads.
            let is_named = match json["error"]["message"].as_str() {
                Some(error) => error.contains("is damaged at seq "),
                None => from >= Some(due),
            };
            assert!(code == 1 && is_named, "{bytes} bytes: {command}: {json}");
        }
        let (list, code) = place.json("log");
        let problems = list["problems"].as_array().unwrap();
        assert_eq!(code, 1, "{bytes} bytes: {list}");
        for row in list["runs"].as_array().unwrap() {
            let run = &row["run"];
            let (json, _) = place.json(&format!("verify {}", run.as_str().unwrap()));
            let due = json["problems"][0]["seq"].as_u64();
            let named = problems.iter().find(|one| one["run"] == *run);
            let named = named.and_then(|one| one["seq"].as_u64());
            // The list reads no run.
            let is_right = named.is_none_or(|named| due.is_some_and(|due| due <= named));
            assert!(is_right, "{bytes} bytes: {run} in {list}");
            assert_eq!(row["outcome"] == "damaged", named.is_some(), "{bytes} bytes: {list}");
        }
    }
}

/// Look-ups, scans and the marks then say different things of where a run ends.
#[test]
fn swapped_pages_are_named_alike() {
    let (place, run) = three();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let pages = pages_of_events(&place);
    let n = pages.len();
    let mut damaged = 0;
    for (one, other) in [(n - 1, n - 2), (n - 1, n / 2), (n / 2, n / 2 + 1), (0, n - 1), (1, n / 2)]
    {
        let (one, other) = (pages[one], pages[other]);
        patch(&place, |file| {
            for byte in 0..PAGE {
                file.swap(one * PAGE + byte, other * PAGE + byte);
            }
        });
        let (json, _) = place.json(&format!("verify {run}"));
        let due = &json["problems"][0]["seq"];
        damaged += u32::from(due.is_u64());
        for command in ["show", "stats", "log", "check", "check --snapshots snaps"] {
            let (json, _) = place.json(&format!("{command} {run}"));
            let is_named = match json["error"]["message"].as_str() {
                Some(error) => error.contains(&format!("damaged at seq {due}: ")),
                None => json["damaged"]["from"] == *due,
            };
            assert!(is_named, "pages {one} and {other}: {command}, not {due}: {json}");
        }
        fs::write(place.path("retold.db"), &whole).unwrap();
    }
    assert!(damaged >= 4, "{damaged}");
}

/// Stdout is the page, so the banner goes to stderr.
#[test]
fn a_recording_of_which_only_the_first_line_is_left_is_damaged_from_event_1_on() {
    let place = Place::new();
    let whole = fs::read_to_string(recording("society_small.jsonl")).unwrap();
    place.write("left.jsonl", whole.lines().next().unwrap());
    let banner = "DAMAGED: from event 1 on, this run cannot be trusted: left.jsonl is cut off";
    for command in ["show", "stats", "replay", "report -o page.html"] {
        let said = place.run(&format!("{command} left.jsonl"));
        assert!(said.code == 1 && said.out.starts_with(banner), "{command}: {said:?}");
    }
    let said = place.run("report left.jsonl -o -");
    assert!(said.code == 1 && said.out.is_empty() && said.err.starts_with(banner), "{said:?}");
    assert!(!place.path("page.html").exists());
}
