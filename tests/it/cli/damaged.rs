//! Logs whose tables are not those that were made.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::Value;

use crate::support::cli::{Place, assert_said};

/// Changes a log behind the back of everything that refuses it.
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
            // A run by itself may be sound: it is the file that is not.
            assert!(code == 1 || args.ends_with("latest"), "{change}: {object}");
            assert_eq!(object["ok"], Value::Bool(code == 0), "{change}");
            assert_eq!(object["problem"].is_string(), code == 1, "{change}: {object}");
        }
    }
    assert_said!("damaged_verify", all);
}

#[test]
fn every_command_tells_of_it() {
    let mut all = String::new();
    for change in CHANGES {
        let mut told: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for args in [
            "log",
            "log latest",
            "show latest",
            "show latest solve/0#0",
            "audit latest solve/0#0",
            "check latest",
            "export latest",
            "outputs latest --to out",
            "replay latest",
            "resume latest",
            "run small.yaml --quiet",
        ] {
            let place = damaged(change);
            let said = place.run(args);
            assert!((0..=1).contains(&said.code), "{change}: {args}: {}{}", said.out, said.err);
            assert_eq!(said.code == 0, said.err.is_empty(), "{change}: {args}: {}", said.err);
            let first = said.err.lines().next().unwrap_or("fine");
            told.entry(first.to_owned()).or_default().push(args);
        }
        all.push_str(&format!("-- {change}\n"));
        for (message, commands) in told {
            all.push_str(&format!("{message}\n  {}\n", commands.join(", ")));
        }
    }
    assert_said!("damaged_commands", all);
}
