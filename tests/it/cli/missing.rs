//! Logs and recordings of which a part is missing: every command that reads says so in the same words,
//! with the same exit code, and changes nothing.

use std::collections::BTreeMap;
use std::fs;

use rusqlite::Connection;

use crate::serve::damaged::files;
use crate::serve::{Served, recording};
use crate::support::cli::{Place, Said, assert_said};
use crate::support::tamper::without_triggers;

/// A log with two finished runs; of the last, something is changed without its triggers.
fn changed(sql: &str) -> (Place, String, String) {
    let place = Place::with_run();
    place.ok("run small.yaml --quiet");
    let (list, _) = place.json("log");
    let [one, other] = [0, 1].map(|n| list["runs"][n]["run"].as_str().unwrap().to_owned());
    let db = Connection::open(place.path("retold.db")).unwrap();
    without_triggers(&db, |db| db.execute_batch(sql)).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    // Only the ledger knows how far the runs went.
    fs::remove_file(place.path("retold.db-mark")).unwrap();
    (place, one, other)
}

/// Runs a command, which must leave the folder as it is.
fn looked(place: &Place, args: &str) -> Said {
    let before = files(place.root());
    let said = place.run(args);
    let after = files(place.root());
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert!(before == after, "{args}: {:?}, then {:?}", names(&before), names(&after));
    said
}

const LAST: &str = "id >> 32 = (SELECT max(no) FROM run_ids)";

#[test]
fn a_run_whose_tail_was_deleted_is_known_by_the_ledger() {
    let (place, intact, _) =
        changed(&format!("DELETE FROM events WHERE {LAST} AND (id & 4294967295) > 20"));
    let banner = " cannot be trusted: the run ends before it, but entry 4 \
                  of the ledger (finished) says that it had seq 22";
    let id = place.json("show latest").0["run"].as_str().unwrap()[..8].to_owned();
    let page = tempfile::tempdir().unwrap();
    let to = page.path().join("x").display().to_string();
    for args in [
        "show latest".to_owned(),
        "show latest 3".to_owned(),
        "show latest --at 12".to_owned(),
        "log latest".to_owned(),
        "log latest --most 2".to_owned(),
        "log latest --search solve".to_owned(),
        "stats latest".to_owned(),
        "audit latest solve/0#0".to_owned(),
        "audit latest --independence".to_owned(),
        format!("report latest -o {to}.html"),
        format!("diff latest {intact}"),
        format!("diff {intact} latest"),
    ] {
        let said = looked(&place, &args);
        // Of two runs, it is said which one is damaged.
        let of = if args.starts_with("diff") { format!("run {id}") } else { "this run".to_owned() };
        let banner = format!("DAMAGED: from event 21 on, {of}{banner}");
        assert!(said.out.starts_with(&banner), "{args}: {}{}", said.out, said.err);
        assert_eq!(
            (said.code, said.out.matches("DAMAGED").count()),
            (1, 1),
            "{args}: {}",
            said.err
        );
        assert!(said.err.contains("error: "), "{args}: {}", said.err);
        let (object, code) = place.json(&format!("{args} --quiet").replace(&to, &format!("{to}j")));
        assert_eq!((code, &object["damaged"]["from"]), (1, &21.into()), "{args}: {object}");
    }
    assert!(!page.path().join("x.html").exists(), "no report of a damaged run");
    // A recording of it would pass for the whole run.
    let said = looked(&place, &format!("export latest {to}.jsonl"));
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(!page.path().join("x.jsonl").exists());
    for args in ["verify", "verify latest"] {
        let (object, code) = place.json(args);
        let problem = &object["problems"][0];
        assert_eq!((code, &problem["seq"]), (1, &21.into()), "{object}");
        assert_eq!(object["problems"].as_array().unwrap().len(), 1, "{object}");
    }
    let list = looked(&place, "log");
    assert!(list.out.contains(" damaged ") && list.out.contains(" finished "), "{}", list.out);
    // The other run is as it was.
    for args in ["show", "log", "stats", "check", "export"] {
        let said = looked(&place, &format!("{args} {intact}"));
        assert_eq!(said.code, 0, "{args}: {}{}", said.out, said.err);
        assert!(!said.out.contains("DAMAGED"), "{args}: {}", said.out);
    }
    assert_eq!(looked(&place, "verify head").code, 1);
    let planned = looked(&place, &format!("plan small.yaml --against {intact}"));
    assert_eq!(planned.code, 0, "{}", planned.err);
    assert_said!("missing_tail", place.session(&["show latest", "verify latest"]));
}

#[test]
fn a_run_of_which_nothing_is_left_is_damaged_from_its_first_event_on() {
    for (what, sql) in [
        ("its events", format!("DELETE FROM events WHERE {LAST}")),
        (
            "the run",
            format!(
                "DELETE FROM events WHERE {LAST}; DELETE FROM run_ids WHERE no = (SELECT max(no) FROM run_ids)"
            ),
        ),
    ] {
        let (place, _, run) = changed(&sql);
        for command in ["show", "log", "stats"] {
            let said = looked(&place, &format!("{command} {run}"));
            assert_eq!(said.code, 1, "{what}: {command}: {}{}", said.out, said.err);
            let banner = "DAMAGED: from event 1 on, this run cannot be trusted: ";
            assert!(said.out.starts_with(banner), "{what}: {command}: {}{}", said.out, said.err);
        }
    }
}

/// Files that SQLite would take for an empty database and overwrite.
#[test]
fn a_file_that_is_not_a_log_is_left_as_it_is() {
    let place = Place::new();
    place.write("zero.db", "");
    place.write("byte.db", "x");
    place.write("some.db", "x".repeat(40));
    place.write("header.db", b"SQLite format 3\0");
    place.write("noise.db", [7; 40_000]);
    let mut all = String::new();
    for log in ["zero", "byte", "some", "header", "noise"] {
        for command in
            ["log", "verify", "show latest", "stats latest", "verify head", "export latest"]
        {
            let args = format!("--log {log}.db {command}");
            let said = looked(&place, &args);
            let due = if log == "zero" { 0..=2 } else { 1..=3 };
            assert!(due.contains(&said.code), "{args}: {}{}", said.out, said.err);
            let names =
                said.err.contains(&format!("{log}.db")) || said.out.contains(&format!("{log}.db"));
            assert!(names, "{args}: {}{}", said.out, said.err);
            if ["log", "verify"].contains(&command) {
                all.push_str(&place.shown(&args, &said));
            }
        }
    }
    // A file of one byte is not overwritten by a run either.
    let said = looked(&place, "run small.yaml --quiet --log byte.db");
    assert_eq!(said.code, 3, "{}", said.err);
    assert_said!("missing_no_log", all);
}

#[test]
fn a_log_of_which_an_end_is_missing_is_searched_without_a_file_beside_it() {
    let (place, ..) = changed("UPDATE events SET time = time + 1 WHERE (id & 4294967295) = 9");
    for args in ["log latest --search answer", "log latest --search answer --json"] {
        assert_eq!(place.run(args).code, 1, "{args}");
    }
    // A log of which another run was cut off.
    let (place, intact, _) =
        changed(&format!("DELETE FROM events WHERE {LAST} AND (id & 4294967295) > 20"));
    assert_eq!(looked(&place, &format!("log {intact} --search answer")).code, 0);
    let sound = Place::with_run();
    sound.ok("log latest --search answer");
    assert!(sound.path("retold.db-search").exists(), "a sound log has its index beside it");
}

#[test]
fn a_run_that_was_cut_off_is_not_copied_and_the_log_left_as_it_is() {
    let place = Place::with_run();
    let whole = fs::read(place.path("retold.db")).unwrap();
    place.write("retold.db", &whole[..whole.len() * 2 / 3]);
    let before = fs::read(place.path("retold.db")).unwrap();
    let said = place.run("copy --to copy.db");
    assert!(fs::read(place.path("retold.db")).unwrap() == before, "it was changed");
    assert_eq!(said.code, 1, "{}", said.err);
    let bytes = format!("the file was cut off: it has {} of", whole.len() * 2 / 3);
    assert!(said.err.contains("was not copied") && said.err.contains(&bytes), "{}", said.err);
    // The index of a WAL, which the comparison of the folder leaves out.
    assert!(!place.path("retold.db-shm").exists());
}

/// The same damage has the same exit code, whether it is in a log or in a recording.
#[test]
fn a_damaged_recording_is_shown_as_far_as_it_goes() {
    let place = Place::with_run();
    place.ok("export latest whole.jsonl");
    let whole = place.read("whole.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    let is_event = |line: &&&str| line.contains("\"seq\":20,");
    let event = lines.iter().find(is_event).unwrap();
    place.write("changed.jsonl", whole.replace(event, &event.replace("\"time\":1", "\"time\":2")));
    place.write("broken.jsonl", whole.replace(event, "{\"kind\": no"));
    place.write("cut.jsonl", &whole[..whole.find(event).unwrap() + 30]);
    place.write("short.jsonl", &whole[..whole.find(event).unwrap()]);
    let packed = fs::read(recording("deliberation_small.jsonl.zst")).unwrap();
    place.write("packed.jsonl.zst", &packed[..packed.len() * 2 / 3]);
    // Of a short one, nothing can be unpacked.
    place.write("nothing.jsonl.zst", &packed[..packed.len() / 20]);
    for command in ["show", "log", "stats", "verify"] {
        let said = looked(&place, &format!("{command} nothing.jsonl.zst"));
        assert_eq!(said.code, 1, "{command}: {}{}", said.out, said.err);
        assert!(format!("{}{}", said.out, said.err).contains("file is truncated"), "{}", said.err);
    }
    for name in ["changed.jsonl", "broken.jsonl", "cut.jsonl", "short.jsonl", "packed.jsonl.zst"] {
        let mut first = BTreeMap::new();
        for command in ["show", "log", "stats", "verify"] {
            let said = looked(&place, &format!("{command} {name}"));
            assert_eq!(said.code, 1, "{name}: {command}: {}{}", said.out, said.err);
            let (object, code) = place.json(&format!("{command} {name}"));
            assert_eq!(code, 1, "{name}: {command}: {object}");
            let from = match command {
                "verify" => &object["problems"][0]["seq"],
                _ => {
                    let banner = "DAMAGED: from event ";
                    assert!(said.out.starts_with(banner), "{name}: {command}: {}", said.out);
                    &object["damaged"]["from"]
                }
            };
            first.insert(from.as_u64(), command);
        }
        assert_eq!(first.len(), 1, "{name}: {first:?}");
        let from = first.into_keys().next().unwrap().unwrap();
        assert!(if name.starts_with("packed") { from > 1 } else { from == 20 }, "{name}: {from}");
        // Nothing of it is imported.
        assert!(place.run(&format!("import {name} --log new.db")).code > 0, "{name}");
    }
    let said = looked(&place, "log changed.jsonl");
    assert!(said.out.contains("run started") && !said.out.contains("run finished"), "{}", said.out);
    assert_said!("missing_recording", place.session(&["show changed.jsonl", "verify cut.jsonl"]));
}

/// A process that is killed while it merges its WAL leaves a file that is shorter than its header says.
/// All of the rest is in the WAL, so nothing is missing.
#[test]
fn a_log_of_a_process_killed_while_it_merged_its_wal_is_whole() {
    let alive = Place::with_run();
    // Few enough that the WAL has all of it, and was not begun again.
    alive.write("more.yaml", alive.read("small.yaml").replace("rows: 0..2", "rows: 0..10"));
    let before = fs::metadata(alive.path("retold.db")).unwrap().len() as usize;
    let open = Connection::open(alive.path("retold.db")).unwrap();
    let _: i64 = open.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    alive.ok("run more.yaml --quiet --no-outputs");
    open.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
    let merged = fs::read(alive.path("retold.db")).unwrap();
    assert!(merged.len() > before, "the second run needs pages of its own");
    let place = Place::new();
    place.write("retold.db", &merged[..before]);
    for suffix in ["-wal", "-mark"] {
        let name = format!("retold.db{suffix}");
        fs::copy(alive.path(&name), place.path(&name)).unwrap();
    }
    for args in ["verify", "show latest", "log latest", "stats latest", "log"] {
        let said = looked(&place, args);
        assert_eq!(said.code, 0, "{args}: {}{}", said.out, said.err);
        assert!(!format!("{}{}", said.out, said.err).contains("cut off"), "{args}: {}", said.err);
    }
    // Without the WAL, it is not.
    fs::remove_file(place.path("retold.db-wal")).unwrap();
    let said = looked(&place, "verify");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.out.contains("was cut off: it has"), "{}", said.out);
}

/// Of two runs in one log, the page's list names the one whose tail was deleted, from the first time on.
#[test]
fn the_list_of_runs_names_a_missing_end() {
    let (place, ..) =
        changed(&format!("DELETE FROM events WHERE {LAST} AND (id & 4294967295) > 20"));
    let served = Served::log(&place, "retold.db");
    let page = served.json("/");
    let notices = page["notices"].as_array().unwrap();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert_eq!((&notices[0]["level"], &notices[0]["from"]), (&"danger".into(), &21.into()));
    assert_eq!(notices[0]["of"], page["runs"][0]["run"]);
    let outcomes = [0, 1].map(|n| page["runs"][n]["outcome"].clone());
    assert_eq!(outcomes, ["damaged", "finished"]);
    assert!(served.html("/").contains("From event 21 on, run"));
    // A recording as well.
    place.ok(&format!("export {} run.jsonl", page["runs"][1]["run"].as_str().unwrap()));
    let whole = place.read("run.jsonl");
    let half: String = whole.split_inclusive('\n').take(30).collect();
    place.write("half.jsonl", half);
    let served =
        Served::with(&place, &["serve", "half.jsonl", "--listen", "127.0.0.1:0", "--quiet"]);
    let page = served.json("/");
    let (first, code) = place.json("show half.jsonl");
    assert_eq!(code, 1, "{first}");
    let from = &first["damaged"]["from"];
    assert!(from.as_u64().unwrap() > 1, "{first}");
    assert_eq!(&page["notices"][0]["from"], from, "{page}");
    let page = served.json("/run/latest");
    assert_eq!(&page["notices"][0]["from"], from, "{page}");
}
