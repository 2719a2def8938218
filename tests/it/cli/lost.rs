//! What every command does with a log whose WAL was damaged after its process was killed.

use std::fs;

use regex::Regex;
use rusqlite::Connection;

use crate::serve::Served;
use crate::serve::damaged::files;
use crate::support::cli::{Place, assert_said};

/// A folder with the files that a killed process left: one run is in the database file, one in the
/// WAL.
pub(crate) fn killed() -> Place {
    let alive = Place::with_run();
    let open = Connection::open(alive.path("retold.db")).unwrap();
    let _: i64 = open.query_row("SELECT count(*) FROM events", [], |r| r.get(0)).unwrap();
    // One call after the other, so that the middle of the WAL is in the middle of the run, however busy the machine is.
    alive.ok("run small.yaml --quiet --concurrency 1");
    let left = Place::new();
    for name in ["retold.db", "retold.db-wal", "retold.db-mark"] {
        fs::copy(alive.path(name), left.path(name)).unwrap();
    }
    left
}

/// Flips a bit in the middle of the WAL.
fn flip(place: &Place) {
    let mut wal = fs::read(place.path("retold.db-wal")).unwrap();
    let middle = wal.len() / 2;
    wal[middle] ^= 1;
    fs::write(place.path("retold.db-wal"), wal).unwrap();
}

/// Which numbers are printed depends on how many events went into one commit.
fn without_numbers(text: &str) -> String {
    let text = Regex::new(r"\brun [0-9a-f]{8}\b").unwrap().replace_all(text, "run [run]");
    let numbers = Regex::new(r"\b(seq|event|frame|the|ok,|:) [0-9]+\b").unwrap();
    let text = numbers.replace_all(&text, "$1 N");
    // How many events were committed before the damage depends on how they were batched.
    let text = Regex::new(r"\b[0-9]+ events").unwrap().replace_all(&text, "N events");
    let listed = Regex::new(r"(?m)^([0-9a-f]{16} .* damaged .*\S) +[0-9]+$").unwrap();
    listed.replace_all(&text, "$1 N").into_owned()
}

#[test]
fn every_command_names_what_is_lost_and_none_writes() {
    let place = killed();
    flip(&place);
    let wal = fs::read(place.path("retold.db-wal")).unwrap();
    let other = Place::with_run();
    other.ok("export latest other.jsonl");
    fs::copy(other.path("other.jsonl"), place.path("other.jsonl")).unwrap();
    let mut all = String::new();
    for (args, code) in [
        ("verify", 1),
        ("verify latest", 1),
        ("log", 1),
        ("export latest kept.jsonl", 1),
        ("run small.yaml", 1),
        ("run --resume latest", 1),
        ("fork latest --at solve/0#0", 1),
        ("import other.jsonl", 1),
    ] {
        let said = place.run(args);
        assert_eq!(said.code, code, "{args}: {}{}", said.out, said.err);
        all.push_str(&without_numbers(&place.shown(args, &said)));
    }
    assert_eq!(fs::read(place.path("retold.db-wal")).unwrap(), wal, "nothing was changed");
    assert_eq!(fs::read(place.path("retold.db-wal.damaged-1")).unwrap(), wal, "and it was kept");
    assert!(!place.path("retold.db-wal.damaged-2").exists());
    assert!(place.path("kept.jsonl").exists(), "what is left was saved");
    assert_said!("lost_commands", all);
}

/// Wherever a bit flips, and whether the index of the WAL is there or not: `verify` says it, and the
/// evidence stays. Without a mark, the last transaction may be one that was never finished.
#[test]
fn a_damaged_wal_is_said_by_verify_and_left_as_it_is() {
    let place = killed();
    let wal = fs::read(place.path("retold.db-wal")).unwrap();
    for part in 1..8 {
        for with_mark in [true, false] {
            let place = killed();
            let mut flipped = fs::read(place.path("retold.db-wal")).unwrap();
            let at = wal.len().min(flipped.len()) * part / 8;
            flipped[at] ^= 1 << part;
            place.write("retold.db-wal", &flipped);
            if !with_mark {
                fs::remove_file(place.path("retold.db-mark")).unwrap();
            }
            let before = files(place.root());
            for args in ["verify", "log", "verify head", "show latest", "check latest", "verify"] {
                let said = place.run(args);
                // The last transaction is within the last three frames.
                if args == "verify" && (with_mark || at + 3 * 16_408 < flipped.len()) {
                    assert_eq!(said.code, 1, "byte {at}: {}{}", said.out, said.err);
                }
                assert!(files(place.root()) == before, "byte {at}: {args} changed the folder");
            }
        }
    }
}

#[test]
fn marks_that_cannot_be_read_are_named() {
    let place = Place::with_run();
    let mut mark = fs::read(place.path("retold.db-mark")).unwrap();
    assert_eq!(place.run("verify").err, "");
    for copy in mark.chunks_mut(64).filter(|copy| copy.iter().any(|byte| *byte != 0)) {
        copy[9] ^= 1;
    }
    fs::write(place.path("retold.db-mark"), mark).unwrap();
    for args in ["verify", "log", "show latest", "stats latest", "log latest"] {
        let said = place.run(args);
        assert_eq!(said.code, 0, "{args}: {}", said.err);
        assert_eq!(
            said.err,
            "warning: 1 high-water mark in retold.db-mark cannot be read: if these runs lost their last events, \
             that is not noticed\n",
            "{args}"
        );
    }
    let served = Served::log(&place, "retold.db");
    let notices = served.json("/run/latest")["notices"].to_string();
    assert!(notices.contains("1 high-water mark in retold.db-mark cannot be read"), "{notices}");
}

/// What a WAL without a readable header held is unknown; the high-water marks know which runs have all
/// of their events nevertheless.
#[test]
fn a_run_outside_of_a_damaged_wal_is_intact() {
    let place = killed();
    let mut wal = fs::read(place.path("retold.db-wal")).unwrap();
    wal[17] ^= 1;
    place.write("retold.db-wal", &wal);
    let (list, _) = place.json("log");
    // The other one is in the WAL.
    let run = list["runs"][0]["run"].as_str().unwrap();
    for command in ["show", "log", "stats", "verify"] {
        let said = place.run(&format!("{command} {run}"));
        assert_eq!(said.code, 0, "{command}: {}{}", said.out, said.err);
        assert!(said.err.contains("the WAL is damaged"), "{command}: {}", said.err);
    }
    let whole = place.run("verify");
    assert!(whole.code == 1 && whole.out.contains("the WAL is damaged"), "{}", whole.out);
    // The latest is the one that was lost, as far as that is known.
    let said = place.run("show latest");
    assert!(said.code == 1 && said.out.starts_with("DAMAGED: from event 1 on"), "{said:?}");
    fs::remove_file(place.path("retold.db-mark")).unwrap();
    let said = place.run("show latest");
    let warning = format!(
        "warning: retold.db: `latest` is {}, but a later run may be among what is lost\n",
        &run[..8]
    );
    assert!(said.code == 0 && said.err.contains(&warning), "{said:?}");
}

/// What is left makes a run of another log, and a fork of that reaches the end that the run would have had, and pays only for
/// what is lost.
#[test]
fn a_loss_is_made_good_by_a_fork_of_what_is_left() {
    let place = killed();
    let (whole, code) = place.json("replay latest");
    assert_eq!(code, 0, "{whole}");
    let place = killed();
    flip(&place);
    let (object, code) = place.json("verify");
    assert_eq!((code, &object["ok"]), (1, &false.into()), "{object}");
    assert!(object["problems"].as_array().unwrap().iter().any(|p| p["seq"].is_u64()), "{object}");
    let (copied, code) = place.json("copy --to rest.db");
    assert_eq!(code, 1, "{copied}");
    let rest = copied["runs"].as_array().unwrap().iter().find_map(|run| run["rest"].as_str());
    let rest = rest.unwrap_or_else(|| panic!("{copied}"));
    let shown = place.ok(&format!("show {rest} --log rest.db"));
    assert!(shown.contains("made of what is left of run"), "{shown}");
    let (again, _) = place.json("copy --to rest.db");
    assert_eq!(again["runs"][1], copied["runs"][1], "it is copied once");
    let (forked, code) = place.json(&format!("fork {rest} --log rest.db"));
    assert_eq!((code, &forked["outcome"]), (0, &"finished".into()), "{forked}");
    assert_eq!(forked["outcome_digest"], whole["outcome_digest"]);
    assert!(place.ok("verify --log rest.db").ends_with("3 runs verified\n"));
}

/// The hint of `run` points to `verify`, which must not claim that there is no log.
#[test]
fn a_log_that_was_deleted_is_lost() {
    let place = killed();
    fs::remove_file(place.path("retold.db")).unwrap();
    for args in ["run small.yaml", "verify", "log", "copy --to rest.db"] {
        let said = place.run(args);
        assert_eq!(said.code, 1, "{args}: {}{}", said.out, said.err);
        let all = said.out + &said.err;
        assert!(all.contains("the file is empty or missing"), "{args}: {all}");
    }
}
