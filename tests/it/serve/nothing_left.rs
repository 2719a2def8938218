//! Logs and recordings of which hardly the beginning is left: they are damaged from event 1 on, and every
//! command and the page say so.

use std::fs;

use serde_json::Value;

use super::damaged::files;
use super::{Feeding, Served, recording};
use crate::support::cli::Place;

/// A log of two runs, its mark beside it, and the ids of the runs.
fn two() -> (Place, Vec<String>) {
    let place = Place::new();
    place.ok(&format!("import {}", recording("game24_small.jsonl")));
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    feeding.feed(60);
    drop(feeding);
    rusqlite::Connection::open(place.path("retold.db"))
        .unwrap()
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    let (list, _) = place.json("log");
    let runs = list["runs"].as_array().unwrap().iter();
    let runs = runs.map(|run| run["run"].as_str().unwrap().to_owned()).collect();
    (place, runs)
}

/// The dangers that the page of all runs warns of.
fn dangers(page: &Value) -> String {
    let notices = page["notices"].as_array().unwrap().iter();
    let dangers = notices.filter(|notice| notice["level"] == "danger");
    dangers.map(|notice| format!("{}\n", notice["text"].as_str().unwrap())).collect()
}

/// What every command says of a log of which hardly anything is left, and `why`.
fn checked(place: &Place, name: &str, runs: &[String], has_mark: bool, why: &str) {
    let before = files(place.root());
    for command in ["show latest", "stats latest", "log latest", "verify", "verify latest", "log"] {
        let said = place.run(&format!("--log {name} {command}"));
        let all = format!("{}{}", said.out, said.err);
        // With three pages, the list of runs is there.
        let is_list = command == "log" && !all.contains("nothing is left from event 1 on");
        assert!(said.code == 1 || is_list, "{name}: {command}: {}: {all}", said.code);
        assert!(
            !all.contains("retold-scratch-") && !all.contains("log.db"),
            "{name}: {command}: {all}"
        );
        // `verify` names the runs instead, if it knows them.
        let is_named = command == "verify" && has_mark;
        assert!(all.contains(why) || is_named, "{name}: {command}: {all}");
        if !command.starts_with("verify") && command != "log" {
            assert!(said.out.starts_with("DAMAGED: from event 1 on"), "{name}: {command}: {all}");
        }
        if command == "verify" && has_mark {
            for run in runs {
                assert!(said.out.contains(&format!("run {run}, seq 1: ")), "{name}: {all}");
            }
        }
    }
    for run in runs.iter().filter(|_| has_mark) {
        let (shown, code) = place.json(&format!("--log {name} show {run}"));
        assert_eq!((code, &shown["damaged"]["from"]), (1, &1.into()), "{name}: {shown}");
    }
    let served = Served::log(place, name);
    let page = served.json("/");
    let listed: Vec<&str> =
        page["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    let said = dangers(&page);
    if listed.is_empty() {
        assert!(said.contains(why), "{name}: {said}");
        assert!(said.contains("nothing is left from event 1 on"), "{name}: {said}");
    }
    for run in runs.iter().filter(|run| has_mark && !listed.contains(&run.as_str())) {
        assert!(said.contains(run), "{name}: {said}");
    }
    assert!(served.html("/").contains("role=\"alert\""), "{name}");
    // A run that nothing names may be what the log has lost.
    let answer = served.ask("GET", "/run/0123abcd", "Accept: application/json\r\n");
    let page = serde_json::from_str(&answer.body).unwrap();
    assert!(
        answer.status == 404 && (!listed.is_empty() || dangers(&page).contains(why)),
        "{name}: {page}"
    );
    drop(served);
    assert!(files(place.root()) == before, "{name}: the folder was changed");
}

#[test]
fn a_log_of_which_hardly_the_first_pages_are_left_is_damaged_from_event_1_on() {
    let (place, runs) = two();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let mark = fs::read(place.path("retold.db-mark")).unwrap();
    for length in [72, 100, 5_000, 16_383, 16_384, 20_000, 2 * 16_384, 3 * 16_384] {
        for has_mark in [true, false] {
            let name = format!("cut{length}{}.db", if has_mark { "marked" } else { "" });
            place.write(&name, &whole[..length]);
            if has_mark {
                place.write(&format!("{name}-mark"), &mark);
            }
            checked(&place, &name, &runs, has_mark, "was cut off: it has ");
            for suffix in ["", "-mark"] {
                let _ = fs::remove_file(place.path(&format!("{name}{suffix}")));
            }
        }
    }
}

#[test]
fn a_file_that_is_not_a_log_any_more_is_known_by_the_mark_beside_it() {
    let (place, runs) = two();
    let whole = fs::read(place.path("retold.db")).unwrap();
    let mark = fs::read(place.path("retold.db-mark")).unwrap();
    let zeroed = [&[0; 16_384], &whole[16_384..]].concat();
    let left = [
        ("empty.db", &whole[..0], "and its mark 2 runs"),
        ("byte.db", &whole[..1], "it has a single byte"),
        ("begun.db", &whole[..15], "it is not an SQLite file"),
        ("zeroed.db", &zeroed[..], "it is not an SQLite file"),
    ];
    for (name, bytes, why) in left {
        place.write(name, bytes);
        place.write(&format!("{name}-mark"), &mark);
        checked(&place, name, &runs, true, why);
    }
    place.write("unknown.db", &zeroed);
    let said = place.run("--log unknown.db show latest");
    assert!(said.code == 3 && said.err.contains("is not a retold log"), "{}", said.err);
}

#[test]
fn a_recording_without_its_first_event_is_damaged_from_event_1_on() {
    let place = Place::new();
    let whole = fs::read_to_string(recording("society_small.jsonl")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    place.write("without_first.jsonl", lines[1..].join("\n"));
    place.write("only_first.jsonl", lines[0]);
    place.write("two_lines.jsonl", lines[..2].join("\n"));
    place.write("part_of_first.jsonl", &lines[0][..60]);
    place.write("other_first.jsonl", whole.replacen("\"format\"", "\"farmat\"", 1));
    let without_second: Vec<&str> = lines[..1].iter().chain(&lines[2..]).copied().collect();
    place.write("without_second.jsonl", without_second.join("\n"));
    let packed = zstd::encode_all(whole.as_bytes(), 3).unwrap();
    place.write("half.jsonl.zst", &packed[..packed.len() / 2]);
    let mut changed = packed.clone();
    changed[14..40].fill(0xFF);
    place.write("changed.jsonl.zst", changed);
    let before = files(place.root());
    for name in before.keys().filter(|name| name.contains(".jsonl")) {
        for command in ["show", "log", "stats", "verify", "audit", "diff"] {
            let more = match command {
                "audit" => " 4".to_owned(),
                "diff" => format!(" {}", recording("society_small.jsonl")),
                _ => String::new(),
            };
            let said = place.run(&format!("{command} {name}{more}"));
            let all = format!("{}{}", said.out, said.err);
            assert_eq!(said.code, 1, "{command} {name}: {all}");
            let banner = "DAMAGED: from event 1 on, this run cannot be trusted: ";
            let has_banner = said.out.starts_with(banner) || command == "verify";
            assert!(has_banner && all.contains(name.as_str()), "{command} {name}: {all}");
        }
        let listen = ["serve", name, "--listen", "127.0.0.1:0", "--quiet"];
        let served = Served::with(&place, &listen);
        let said = dangers(&served.json("/"));
        assert!(said.contains(name.as_str()) && said.contains("from event 1 on"), "{name}: {said}");
    }
    assert!(files(place.root()) == before, "the folder was changed");
    // What does not begin like a recording is not a damaged one.
    for (name, text) in
        [("notes.jsonl", "{\"a\":1}\n"), ("foreign.jsonl", "{\"recording\":\"vcr\"}\n")]
    {
        place.write(name, text);
        let said = place.run(&format!("show {name}"));
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{}", said.err);
        assert!(said.err.contains("is not a recording"), "{}", said.err);
    }
}

/// A log in one file, with other bytes in the place of some.
fn with_bytes(from: &str, to: &str) -> (Place, Vec<String>) {
    let (place, runs) = two();
    let mut file = fs::read(place.path("retold.db")).unwrap();
    let at = file.windows(from.len()).position(|bytes| bytes == from.as_bytes()).unwrap();
    file[at..][..to.len()].copy_from_slice(to.as_bytes());
    place.write("retold.db", file);
    (place, runs)
}

#[test]
fn an_entry_of_the_schema_that_cannot_be_read_hides_no_run() {
    let (place, runs) = with_bytes("CREATE TRIGGER events_no_update", "CREATE TRIGGES");
    let before = files(place.root());
    for run in &runs {
        for command in ["show", "log", "stats", "verify"] {
            let said = place.run(&format!("{command} {run}"));
            assert_eq!(said.code, 0, "{command}: {}{}", said.out, said.err);
            assert!(said.err.contains("malformed database schema"), "{command}: {}", said.err);
        }
    }
    let all = place.run("verify");
    assert!(all.code == 1 && all.out.contains("events_no_update"), "{}", all.out);
    assert_eq!(place.run("run --resume latest").code, 1, "nothing is written to it");
    let served = Served::log(&place, "retold.db");
    let page = served.json("/");
    assert_eq!(page["runs"].as_array().unwrap().len(), 2, "{page}");
    assert!(dangers(&page).contains("malformed database schema"), "{page}");
    assert_eq!(served.get(&format!("/run/{}", runs[0])).status, 200);
    drop(served);
    assert!(files(place.root()) == before, "the folder was changed");
}

#[test]
fn a_log_whose_tables_cannot_be_read_is_damaged_from_event_1_on() {
    for table in ["events", "ledger", "meta", "run_ids", "kinds", "contents"] {
        let (place, runs) = with_bytes(&format!("CREATE TABLE {table}"), "CREATE TABLF");
        let before = files(place.root());
        for has_mark in [true, false] {
            if !has_mark {
                fs::remove_file(place.path("retold.db-mark")).unwrap();
            }
            for command in ["show latest", "log latest", "stats latest"] {
                let said = place.run(command);
                let all = format!("{table}, {has_mark}, {command}: {}{}", said.out, said.err);
                assert_eq!(said.code, 1, "{all}");
                assert!(said.out.starts_with("DAMAGED: from event 1 on"), "{all}");
                assert!(said.out.contains("nothing can be read from event 1 on"), "{all}");
            }
            for command in ["log", "verify", "copy --to copy.db"] {
                let said = place.run(command);
                assert_eq!(said.code, 1, "{table}: {command}: {}{}", said.out, said.err);
            }
            let served = Served::log(&place, "retold.db");
            let said = dangers(&served.json("/"));
            assert!(said.contains("nothing can be read from event 1 on"), "{table}: {said}");
            assert!(!has_mark || runs.iter().all(|run| said.contains(run)), "{table}: {said}");
        }
        let mut after = files(place.root());
        after.insert("retold.db-mark".to_owned(), before["retold.db-mark"].clone());
        assert!(after == before, "{table}: the folder was changed");
    }
}

/// What is beside it knows the runs that it had.
#[test]
fn a_log_whose_file_is_gone_is_damaged_from_event_1_on() {
    let (place, runs) = two();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("other.db"));
    feeding.feed(20);
    let beside = ["-wal", "-shm", "-mark"];
    for suffix in beside {
        fs::copy(
            place.path(&format!("other.db{suffix}")),
            place.path(&format!("killed.db{suffix}")),
        )
        .unwrap();
    }
    let (list, _) = place.json("--log other.db log");
    let fed = vec![list["runs"][0]["run"].as_str().unwrap().to_owned()];
    drop(feeding);
    fs::remove_file(place.path("retold.db")).unwrap();
    let before = files(place.root());
    for (name, runs) in [("retold.db", &runs), ("killed.db", &fed)] {
        for run in runs {
            for command in ["show", "stats", "log", "audit", "verify"] {
                let of = if command == "audit" { " 4" } else { "" };
                let said = place.run(&format!("--log {name} {command} {run}{of}"));
                let all = format!("{name}: {command}: {}{}", said.out, said.err);
                assert!(said.code == 1 && all.contains("the run is missing"), "{all}");
                let banner = said.out.starts_with("DAMAGED: from event 1 on");
                assert!(banner || command == "verify" && said.out.contains(", seq 1: "), "{all}");
            }
        }
        let (list, code) = place.json(&format!("--log {name} log"));
        let named = list["problems"].as_array().unwrap().iter();
        let named = named.filter(|one| one["seq"] == 1 && one["run"] != Value::Null).count();
        assert_eq!((code, named), (1, runs.len()), "{name}: {list}");
        let served = Served::log(&place, name);
        let said = dangers(&served.json("/"));
        assert!(runs.iter().all(|run| said.contains(run)), "{name}: {said}");
    }
    assert!(files(place.root()) == before, "the folder was changed");
    // A new log can begin there, unless there are events in a WAL.
    let import = format!("import {}", recording("game24_small.jsonl"));
    let said = place.run(&format!("--log killed.db {import}"));
    assert!(said.code == 1 && said.err.contains("and its mark 1 run"));
    place.ok(&import);
    place.ok("verify");
}

/// Which runs there were is unknown.
#[test]
fn a_wal_alone_is_a_damaged_log() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("other.db"));
    feeding.feed(20);
    fs::copy(place.path("other.db-wal"), place.path("alone.db-wal")).unwrap();
    drop(feeding);
    for command in ["show latest", "log", "stats latest", "verify", "verify head"] {
        let said = place.run(&format!("--log alone.db {command}"));
        let all = format!("{command}: {}{}", said.out, said.err);
        assert!(said.code == 1 && all.contains("nothing is left from event 1 on"), "{all}");
    }
    let page = Served::log(&place, "alone.db").json("/");
    assert!(dangers(&page).contains("nothing is left from event 1 on"), "{page}");
    assert_eq!(page["notices"][0]["from"], 1, "{page}");
}
