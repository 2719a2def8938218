//! Runs that are so long that what is found in them is kept.

use rusqlite::Connection;
use serde_json::Value;

use super::damaged::dangers;
use super::{Feeding, Served, recording};
use crate::support::cli::{Place, Said, assert_said};
use crate::support::tamper::without_triggers;
use crate::support::waiting::soon;

/// How many events the long run has, and which of them is changed: one that none of the commands below shows.
const EVENTS: u64 = 120_000;
const CHANGED: u64 = 110_000;

/// Commands that show a part of it.
const PARTS: [&str; 4] = [
    "show latest 3",
    "log latest --most 20",
    "audit latest day/1/agent/1#0",
    "show latest --at 20",
];

/// A folder with a log of one long run.
fn with_long_run() -> Place {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    feeding.feed(60);
    feeding.occur(EVENTS);
    place
}

/// Changes an event in the middle.
fn change(place: &Place) {
    let db = Connection::open(place.path("retold.db")).unwrap();
    let change = format!("UPDATE events SET time = time + 1 WHERE id & 4294967295 = {CHANGED}");
    assert_eq!(without_triggers(&db, |db| db.execute(&change, [])).unwrap(), 1);
}

fn banner() -> String {
    format!("DAMAGED: from event {CHANGED} on, this run cannot be trusted: its hash does not match")
}

/// Whether nothing is kept about the run that a command shows: told not to verify it, the command says so. It must
/// not fail.
fn is_unknown(place: &Place, command: &str) -> bool {
    let command = &format!("{command} --unverified");
    let Said { code, out, err } = place.run(command);
    assert_eq!((code, err.as_str()), (0, ""), "{command}: {out}");
    let (object, code) = place.json(command);
    assert_eq!(code, 0, "{command}: {object}");
    let says = out.starts_with("NOT VERIFIED: ") && out.contains("verify all 120,000 events first");
    let events = says.then_some(EVENTS);
    assert_eq!(object["not_verified"]["events"].as_u64(), events, "{command}: {object}");
    assert!(says || !out.contains("NOT VERIFIED"), "{command}: {out}");
    says
}

/// Runs a command until what it finds is kept: nothing is about a log that was changed just before it was opened.
fn until_known(place: &Place, command: &str) {
    soon("what was found is kept", || {
        place.run(command);
        kept(place).then_some(())
    });
}

/// Whether anything is kept.
fn kept(place: &Place) -> bool {
    std::fs::read_dir(place.path(".cache/retold")).is_ok_and(|all| all.count() > 0)
}

#[test]
fn a_long_run_is_verified_once_before_a_part_of_it_is_shown() {
    let place = with_long_run();
    for first in [PARTS[0], "verify latest", "stats latest"] {
        for command in PARTS {
            assert!(is_unknown(&place, command), "{command}");
        }
        assert!(!place.path(".cache").exists(), "what was not verified is not kept");
        until_known(&place, first);
        for command in PARTS {
            assert!(!is_unknown(&place, command), "{first}: {command}");
        }
        std::fs::remove_dir_all(place.path(".cache")).unwrap();
    }
    until_known(&place, "verify");
    // What is kept about another run, another file or another state of this one says nothing of it.
    place.ok(&format!("import {}", recording("game24_small.jsonl")));
    assert!(is_unknown(&place, &format!("show {} 3", long(&place))));
}

#[test]
fn a_long_run_whose_last_events_are_in_a_wal_is_known_as_well() {
    let place = Place::new();
    let mut feeding = Feeding::new("society_small.jsonl", &place.path("retold.db"));
    feeding.feed(60);
    feeding.occur(EVENTS - 1);
    feeding.occur(EVENTS);
    assert!(std::fs::metadata(place.path("retold.db-wal")).unwrap().len() > 0);
    assert!(is_unknown(&place, "show latest 3"));
    place.ok("verify");
    assert!(!is_unknown(&place, "show latest 3"));
    feeding.occur(EVENTS + 1);
    let said = place.ok("show latest 3 --unverified");
    assert!(said.contains("verify all 120,001 events first"), "{said}");
    let said = place.ok("show latest 3");
    assert!(!said.contains("NOT VERIFIED"), "{said}");
}

/// A head that the user named by mistake says nothing about the log.
#[test]
fn a_head_that_does_not_match_is_not_kept_as_damage() {
    let place = with_long_run();
    let said = place.run(&format!("verify latest --head {}", "0".repeat(64)));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(is_unknown(&place, "show latest 3"));
}

/// The id of the long run.
fn long(place: &Place) -> String {
    let (list, _) = place.json("log");
    let runs = list["runs"].as_array().unwrap();
    let long = runs.iter().find(|run| run["events"] == EVENTS).unwrap();
    long["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_long_run_that_is_damaged_is_shown_with_the_banner() {
    let place = with_long_run();
    change(&place);
    // Told not to verify it, a command notices only what it reads.
    for command in PARTS {
        assert!(is_unknown(&place, command), "{command}");
    }
    let meeting = ["log latest --most 200000 --unverified", "show latest 110000 --unverified"];
    let whole = ["stats latest", "diff latest latest", "check latest", "replay latest"];
    let id = place.json("log").0["runs"][0]["run"].as_str().unwrap()[..8].to_owned();
    let has_banner = |command: &str| {
        let said = place.run(command);
        // Of two runs, it is said which one is damaged.
        let out = said.out.replacen(&format!("run {id}"), "this run", 1);
        assert!(said.code == 1 && out.starts_with(&banner()), "{command}: {said:?}");
        let (object, code) = place.json(command);
        let from = object["damaged"]["from"].as_u64();
        assert_eq!((code, from), (1, Some(CHANGED)), "{command}: {object}");
        assert_eq!(object["not_verified"], Value::Null, "{command}: {object}");
    };
    meeting.into_iter().for_each(has_banner);
    for command in PARTS.into_iter().chain(whole) {
        has_banner(command);
    }
    // Nothing is written beside it, and nothing but a page is written to stdout.
    let said = place.run("log latest --search water");
    assert!(said.code == 1 && said.out.starts_with(&banner()), "{said:?}");
    assert!(!place.path("retold.db-search").exists());
    let no_page = || {
        let said = place.run("report latest -o -");
        let why = format!("is damaged at seq {CHANGED}: its hash does not match");
        assert!(said.code == 1 && said.out.is_empty() && said.err.contains(&why), "{said:?}");
    };
    no_page();
    for verify in ["verify", "verify latest"] {
        let (found, code) = place.json(verify);
        assert_eq!((code, found["problems"][0]["seq"].as_u64()), (1, Some(CHANGED)), "{found}");
        PARTS.into_iter().chain(meeting).chain(whole).for_each(has_banner);
        no_page();
        // What is left is not counted, since all of it would have to be read.
        let (run, code) = place.json("show latest");
        let trusted = serde_json::json!({"events": CHANGED - 1, "kinds": null});
        assert_eq!((code, &run["trusted"], &run["events_after"]), (1, &trusted, &Value::Null));
        assert!(place.run("show latest").out.contains("before it: 109,999 events that match"));
        let (list, code) = place.json("log");
        let problem = &list["problems"][0];
        assert_eq!((code, problem["seq"].as_u64()), (1, Some(CHANGED)), "{list}");
        assert_eq!(list["runs"][0]["outcome"], "damaged", "{list}");
        std::fs::remove_dir_all(place.path(".cache")).unwrap();
    }
}

/// An index with fewer calls hides them from a look-up, and no event is damaged.
#[test]
fn a_changed_index_of_a_long_run_is_damage_of_the_run() {
    let place = with_long_run();
    let calls =
        "UPDATE event_index SET entries = x'' WHERE id & 8191 = 3 AND id & 4294967295 < 8192";
    let db = Connection::open(place.path("retold.db")).unwrap();
    assert_eq!(without_triggers(&db, |db| db.execute(calls, [])).unwrap(), 1);
    drop(db);
    let hidden = "audit latest day/1/agent/1#0";
    let why = "the index of its events 1 to 8192 does not match them";
    assert!(is_unknown(&place, "show latest 3"));
    // What is not found is looked for in the events.
    let unverified = format!("{hidden} --unverified");
    for command in [&unverified, hidden, "show latest day/1/agent/1#0 --unverified"] {
        let said = place.run(command);
        let banner = format!("DAMAGED: {why}");
        assert!(said.code == 1 && said.out.starts_with(&banner), "{command}: {said:?}");
        let (found, code) = place.json(command);
        assert_eq!((code, found["damaged"]["why"].as_str()), (1, Some(why)), "{command}: {found}");
        assert_eq!(found["not_verified"], Value::Null, "{command}: {found}");
    }
    for verify in ["verify", "verify latest"] {
        let (found, code) = place.json(verify);
        let problem = &found["problems"][0];
        assert_eq!((code, &problem["seq"], problem["what"].as_str()), (1, &Value::Null, Some(why)));
        for command in
            [hidden, "show latest day/1/agent/1#0", "show latest 3", "log latest --most 2"]
        {
            let said = place.run(command);
            let banner = format!("DAMAGED: {why}");
            assert!(said.code == 1 && said.out.starts_with(&banner), "{command}: {said:?}");
        }
        let served = Served::log(&place, "retold.db");
        let found = dangers(&served.json("/run/latest"));
        assert!(found.iter().any(|(text, from)| text.contains(why) && from.is_none()), "{found:?}");
        std::fs::remove_dir_all(place.path(".cache")).unwrap();
    }
    assert!(place.run("report latest -o page.html").code == 1 && !place.path("page.html").exists());
    // Its events are as they were written.
    let said = place.run("export latest run.jsonl");
    assert!(
        said.code == 1 && said.err.contains(why) && place.path("run.jsonl").exists(),
        "{said:?}"
    );
}

#[test]
fn what_is_not_found_in_a_long_run_is_not_hidden_by_damage() {
    let place = with_long_run();
    for command in ["audit latest day/9/agent/9#0", "show latest day/9/agent/9#0"] {
        let said = place.run(command);
        assert!(said.code == 2 && said.out.is_empty(), "{command}: {said:?}");
    }
    change(&place);
    for command in ["audit latest day/9/agent/9#0", "show latest day/9/agent/9#0 --unverified"] {
        let said = place.run(command);
        assert!(said.code == 1 && said.out.starts_with(&banner()), "{command}: {said:?}");
    }
}

/// What is missing at the end is known at once, but something before it may be damaged as well.
#[test]
fn a_long_run_in_a_log_that_was_cut_off_is_verified() {
    let place = with_long_run();
    let lasts = ["first", "second"].map(|name| {
        let whole = std::fs::read(place.path("retold.db")).unwrap();
        let log = format!("{name}.db");
        place.write(&log, &whole[..whole.len() / 100 * 99]);
        std::fs::copy(place.path("retold.db-mark"), place.path(&format!("{log}-mark"))).unwrap();
        let (found, code) = place.json(&format!("--log {log} verify latest"));
        let first = found["problems"][0]["seq"].as_u64().unwrap();
        assert_eq!(code, 1, "{found}");
        std::fs::remove_dir_all(place.path(".cache")).unwrap();
        let banner = format!("DAMAGED: from event {first} on");
        let whole = ["stats latest", "check latest", "diff latest latest", "replay latest"];
        for command in PARTS.into_iter().chain(whole) {
            let said = place.run(&format!("--log {log} {command}"));
            assert!(said.code == 1 && said.out.starts_with(&banner), "{name}: {command}: {said:?}");
        }
        change(&place);
        first
    });
    // The end was missing, and then something before it was changed as well.
    assert!(CHANGED < lasts[0] && lasts[0] < EVENTS && lasts[1] == CHANGED, "{lasts:?}");
}

#[test]
fn what_a_page_finds_in_a_long_run_is_known_to_commands_and_to_the_next_page() {
    let place = with_long_run();
    change(&place);
    // A page does not trust the times of a file that was changed just before it was opened.
    soon("what was found is kept", || {
        let served = Served::log(&place, "retold.db");
        soon("a warning", || {
            let found = dangers(&served.json("/run/latest"));
            found.iter().any(|(_, from)| *from == Some(CHANGED)).then_some(())
        });
        kept(&place).then_some(())
    });
    for command in PARTS {
        let said = place.run(command);
        assert!(said.code == 1 && said.out.starts_with(&banner()), "{command}: {said:?}");
    }
    let served = Served::log(&place, "retold.db");
    assert_eq!(dangers(&served.json("/run/latest"))[0].1, Some(CHANGED), "at once");
}

#[test]
fn what_cannot_be_kept_is_said() {
    let place = with_long_run();
    let verified = |home: &str| {
        let said = Said::ended(place.command().env("HOME", place.path(home)).args(["verify"]));
        place.shown("verify", &Said { out: String::new(), ..said })
    };
    place.write("file", "");
    let without = Said::ended(place.command().env_remove("HOME").args(["verify"]));
    let without = place.shown("verify", &Said { out: String::new(), ..without });
    // The name of the file is a hash of where the log is.
    let said = verified("file");
    let hash = said.split("retold/").nth(1).and_then(|rest| rest.split('.').next()).unwrap();
    assert_said!("verified_not_kept", said.replace(hash, "[hash]") + &without);
    assert!(is_unknown(&place, "show latest 3"));
}
