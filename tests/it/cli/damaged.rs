//! Logs whose tables are not as retold made them.

use std::collections::BTreeMap;

use regex::Regex;
use rusqlite::Connection;
use serde_json::Value;

use crate::support::cli::{Place, assert_said};

/// Changes a log after dropping everything that would refuse the change.
fn damaged(change: &str) -> Place {
    let place = Place::with_run();
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("PRAGMA legacy_alter_table = ON; PRAGMA writable_schema = ON").unwrap();
    db.execute_batch(change).unwrap_or_else(|e| panic!("{change}: {e}"));
    place
}

const CHANGES: [&str; 15] = [
    "DROP TABLE meta",
    "DROP TABLE run_ids",
    "DROP TABLE kinds",
    "DROP TABLE contents",
    "DROP TABLE content_keys",
    "DROP TABLE requests",
    "DROP TABLE events",
    "DROP VIEW decisions",
    "DROP TRIGGER events_no_update",
    "DROP TRIGGER meta_no_delete; DELETE FROM meta",
    "DROP TRIGGER meta_no_update; UPDATE meta SET value = 'new' WHERE name = 'format'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'content INTEGER', 'other INTEGER') WHERE name = 'events'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'started INTEGER', 'began INTEGER') WHERE name = 'run_ids'",
    "UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'contents'",
    "UPDATE sqlite_schema SET rootpage = 1000 WHERE name = 'events'",
];

#[test]
fn verify_finds_it() {
    let mut all = String::new();
    for change in CHANGES {
        let place = damaged(change);
        let said = place.run("verify");
        all.push_str(&format!("-- {change}\n{}\n", place.shown("verify", &said)));
        assert_eq!(said.code, 1, "{change}: {}{}", said.out, said.err);
        for args in ["verify", "verify latest"] {
            let (object, code) = place.json(args);
            // A single run may be sound even if the file is not.
            assert!(code == 1 || args.ends_with("latest"), "{change}: {object}");
            assert_eq!(object["ok"], Value::Bool(code == 0), "{change}");
            assert_eq!(object["problem"].is_string(), code == 1, "{change}: {object}");
        }
    }
    assert_said!("damaged_verify", all);
}

/// Without its triggers a log can be changed; they are one problem, not dozens.
#[test]
fn triggers_that_are_gone_are_one_line() {
    let place = Place::with_run();
    let db = Connection::open(place.path("retold.db")).unwrap();
    let names = "SELECT name FROM sqlite_schema WHERE type = 'trigger'";
    let names: Vec<String> = db
        .prepare(names)
        .unwrap()
        .query_map([], |r| r.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for name in &names {
        db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    drop(db);
    let said = place.run("verify");
    let lines: Vec<&str> = said.out.lines().filter(|line| line.contains("trigger")).collect();
    assert_eq!((said.code, lines.len()), (1, 1), "{}", said.out);
    let due = format!("{} triggers that refuse changes are missing or changed, ", names.len());
    assert!(lines[0].starts_with(&due), "{}", said.out);
}

#[test]
fn a_list_of_runs_names_what_it_meets_while_it_counts_calls() {
    for (change, seq) in [
        ("DROP TRIGGER events_no_delete; DELETE FROM events WHERE id & 4294967295 IN (5, 6)", 5),
        (
            "DROP TRIGGER events_no_update; UPDATE events SET time = time + 1 WHERE id & 4294967295 = 4",
            4,
        ),
    ] {
        let place = damaged(change);
        let (listed, code) = place.json("log");
        assert_eq!((code, &listed["runs"][0]["outcome"]), (1, &"damaged".into()), "{listed}");
        assert_eq!(listed["problems"][0]["seq"], seq, "{listed}");
        assert_eq!(listed["runs"][0]["calls"], serde_json::Value::Null, "{listed}");
        // As by the command that looks at all of it.
        let (verified, _) = place.json("verify");
        assert_eq!(listed["problems"][0], verified["problems"][0]);
    }
}

/// A run whose recording nobody could import is not exported.
#[test]
fn a_run_with_a_missing_or_changed_event_is_not_exported() {
    let mut all = String::new();
    for change in [
        "DROP TRIGGER events_no_delete; DELETE FROM events WHERE id & 4294967295 = 3",
        "DROP TRIGGER events_no_update; UPDATE events SET time = time + 1 WHERE id & 4294967295 = 4",
    ] {
        let place = damaged(change);
        let said = place.run("export latest run.jsonl");
        all.push_str(&format!("-- {change}\n{}\n", place.shown("export latest run.jsonl", &said)));
        assert_eq!(said.code, 1, "{change}");
        assert!(!place.path("run.jsonl").exists(), "{change}");
    }
    assert_said!("damaged_export", all);
}

#[test]
fn every_command_reports_it() {
    let run = Regex::new(r"\b[0-9a-f]{16}\b").unwrap();
    let mut all = String::new();
    for change in CHANGES {
        let mut by_message: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for args in [
            "log",
            "log latest",
            "show latest",
            "show latest solve/0#0",
            "audit latest solve/0#0",
            "check latest --parser game24@2",
            "export latest",
            "export latest out --as outputs",
            "replay latest",
            "run --resume latest",
            "run small.yaml --quiet",
        ] {
            let place = damaged(change);
            let said = place.run(args);
            assert!((0..=1).contains(&said.code), "{change}: {args}: {}{}", said.out, said.err);
            // A format that is not stated does not keep anything from being read.
            let warned = said.err.starts_with("warning: retold.db: table meta");
            let error = said.err.lines().find(|line| line.starts_with("error: "));
            let is_read = said.err.is_empty() || warned && error.is_none();
            assert_eq!(said.code == 0, is_read, "{change}: {args}: {}", said.err);
            let first = error.or(said.err.lines().next()).unwrap_or("fine");
            // Each command has a log of its own.
            let first = run.replace_all(first, "[run]").into_owned();
            by_message.entry(first).or_default().push(args);
        }
        all.push_str(&format!("-- {change}\n"));
        for (message, commands) in by_message {
            all.push_str(&format!("{message}\n  {}\n", commands.join(", ")));
        }
    }
    assert_said!("damaged_commands", all);
}

/// A figure that depends on a changed event is not shown as if nothing had happened.
#[test]
fn nothing_is_made_of_events_that_were_changed() {
    let mut all = String::new();
    for (what, change) in [
        (
            "a decision says something else",
            "DROP TRIGGER events_no_update; UPDATE events SET body = replace(body, '(', '((')
             WHERE kind = (SELECT id FROM kinds WHERE name = 'DecisionMade')",
        ),
        (
            "an answer says something else",
            "DROP TRIGGER contents_no_update; UPDATE contents SET body = 'Answer: 1 + 1 = 24'
             WHERE id IN (SELECT content FROM events WHERE kind = (SELECT id FROM kinds WHERE name = 'ResponseReceived'))",
        ),
        (
            "a fact is gone",
            "DROP TRIGGER events_no_delete; DELETE FROM events
             WHERE kind = (SELECT id FROM kinds WHERE name = 'Occurred')",
        ),
    ] {
        let place = damaged(change);
        for args in [
            "show latest",
            "show latest solve/0#0",
            "audit latest solve/0#0",
            "export latest out --as outputs",
            "check latest --parser game24@2",
            "replay latest",
            "replay latest --outputs",
            "check latest --snapshots snaps",
            "fork latest --set samples=4",
        ] {
            let said = place.run(args);
            assert_eq!(said.code, 1, "{what}: {args}: {}{}", said.out, said.err);
            all.push_str(&format!("{what}: {}", place.shown(args, &said)));
        }
        assert!(!place.path("out").exists() && !place.path("snaps").exists(), "{what}");
    }
    assert_said!("damaged_events", all);
}

/// Content that would be read without end, or inflated to many times the size of the file, or
/// overflow.
#[test]
fn what_a_hostile_log_claims_is_not_believed() {
    let mut all = String::new();
    for (what, change) in [
        (
            "a table without end",
            "ALTER TABLE events RENAME TO hidden; CREATE VIEW events AS
             WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
             SELECT id, 1 AS kind, 0 AS time, NULL AS call, NULL AS sample, NULL AS request, NULL AS cause,
               NULL AS content, NULL AS body, zeroblob(32) AS hash FROM n",
        ),
        (
            "a request of 10 GB",
            "DROP TRIGGER requests_no_update;
             INSERT INTO contents (id, key, body) SELECT 1000, 0, printf('%.1000000c', 'x');
             UPDATE requests SET skeleton = '{\"api\":\"chat\",\"body\":{\"messages\":['
               || substr(replace(hex(zeroblob(10000)), '00', ',{\"content\":\"text:1000\",\"role\":\"user\"}'), 2)
               || ']}}'",
        ),
        (
            "a run of the last number",
            "DROP TRIGGER run_ids_no_update; UPDATE run_ids SET no = 9223372036854775807",
        ),
    ] {
        let place = damaged(change);
        for args in ["verify", "show latest", "audit latest solve/0#0", "export latest run.jsonl"] {
            let said = place.run(args);
            assert!((0..=1).contains(&said.code), "{what}: {args}: {}{}", said.out, said.err);
            all.push_str(&format!("{what}: {}", place.shown(args, &said)));
        }
    }
    assert_said!("damaged_hostile", all);
}

/// The bytes of a row's number in the file, changed to those of an earlier row: SQLite reads the
/// rows in the order in which they are stored.
#[test]
fn events_out_of_order_are_reported() {
    let place = Place::with_run();
    let path = place.path("retold.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(db);
    let mut file = std::fs::read(&path).unwrap();
    // (1 << 32) + 12, in as many bytes as it needs.
    let twelve = [0x90, 0x80, 0x80, 0x80, 12];
    let places: Vec<usize> =
        (0..file.len() - 5).filter(|at| file[*at..*at + 5] == twelve).collect();
    assert_eq!(places.len(), 1, "the event stands in one place");
    file[places[0] + 4] = 4;
    std::fs::write(&path, file).unwrap();
    let said = place.run("verify");
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let first = said.out.lines().next().unwrap();
    assert!(first.ends_with(", seq 12: another event is in its place"), "{first}");
    for args in ["export latest", "replay latest", "check latest", "log latest"] {
        let said = place.run(args);
        assert!((0..=1).contains(&said.code), "{args}: {}{}", said.out, said.err);
    }
}

#[test]
fn missing_events_are_reported_before_later_damage() {
    let place = damaged(
        "DROP TRIGGER events_no_delete; DROP TRIGGER events_no_update;
         DELETE FROM events WHERE id = (1 << 32) + 5; UPDATE events SET time = 'x' WHERE id = (1 << 32) + 9",
    );
    let said = place.run("verify");
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    let first = said.out.lines().next().unwrap();
    assert!(first.ends_with(", seq 5: the event is missing"), "{first}");
    assert!(
        said.out.contains("the trigger events_no_delete"),
        "the rest is looked at: {}",
        said.out
    );
}

/// SQLite ignores this damage, so a reader would not notice it.
#[test]
fn a_damaged_header_is_reported_by_every_command_that_reads_the_log() {
    use std::os::unix::fs::FileExt;
    let place = Place::with_run();
    let log = std::fs::File::options().write(true).open(place.path("retold.db")).unwrap();
    // A byte that is reserved for future use.
    log.write_all_at(&[1], 80).unwrap();
    drop(log);
    for (args, due) in
        [("log", 1), ("log latest", 0), ("show latest", 0), ("replay latest", 0), ("verify", 1)]
    {
        let said = place.run(args);
        assert_eq!(said.code, due, "{args}: {}{}", said.out, said.err);
        let header = "the header of the file: its reserved bytes are used";
        let warning = format!(
            "warning: retold.db: {header}\n  hint: `retold verify` names everything that is damaged\n"
        );
        match due {
            0 => assert_eq!(said.err, warning, "{args}"),
            _ => assert!(said.out.contains(header), "{}", said.out),
        }
    }
}

/// The format decides how the rest is read, so a change to it concerns every reader.
#[test]
fn a_broken_seal_is_reported_by_every_command_that_reads_the_log() {
    let mut all = String::new();
    for change in [
        "DROP TRIGGER meta_no_update; UPDATE meta SET value = 'x' WHERE name = 'seal'",
        "DROP TRIGGER meta_no_delete; DELETE FROM meta WHERE name = 'seal'",
        "DROP TRIGGER meta_no_replace; INSERT INTO meta (name, value) VALUES ('more', 'x')",
        "DROP TRIGGER meta_no_update; UPDATE meta SET value = x'00' WHERE name = 'seal'",
    ] {
        let place = damaged(change);
        all.push_str(&format!("-- {change}\n"));
        for (args, due) in [
            ("log", 1),
            ("log latest", 0),
            ("show latest", 0),
            ("replay latest", 0),
            ("verify", 1),
            ("run small.yaml --quiet", 1),
        ] {
            let said = place.run(args);
            assert_eq!(said.code, due, "{change}: {args}: {}{}", said.out, said.err);
            let seal = "table meta: the format and its seal do not match";
            assert!(format!("{}{}", said.out, said.err).contains(seal), "{args}: {}", said.err);
            all.push_str(&format!("{args}\n{}", said.err));
        }
    }
    assert_said!("damaged_seal", all);
}
