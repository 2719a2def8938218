//! Every change that bypasses the triggers is reported.

use std::collections::BTreeMap;
use std::time::Duration;

use rand_chacha::rand_core::Rng;
use retold::id::RunId;
use retold::log::{Finding, verify_run};
use retold::model::{Ask, Failure, FailureKind};
use retold::run::rng_for;
use rusqlite::types::Value;

use crate::support::logs::{Folder, events};
use crate::support::mixed::Mixed;
use crate::support::oracle::{Oracle, dice};
use crate::support::tamper::{Cell, Original, bits, flipped, set};
use crate::support::trial::Trial;

fn faults(ask: Ask<'_>) -> Option<Failure> {
    let fails = dice(ask, "fault").is_multiple_of(9);
    fails.then(|| Failure::new(FailureKind::Rejected, "no"))
}

/// Two runs with every kind of event except `RunResumed`, with texts and vectors.
fn original() -> Original {
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    for (run, people) in [(1, 4), (2, 3)] {
        let model = Oracle::shuffled(u64::from(run), Duration::from_secs(1), faults);
        runtime.block_on(Trial::new(&folder.log(), run, model).record(&Mixed { people }));
    }
    Original::new(folder)
}

/// The run and seq of a row of `events`.
fn place(cell: &Cell) -> (RunId, u64) {
    let Value::Integer(id) = cell.key else { panic!("{cell:?}") };
    (RunId([u8::try_from(id >> 32).unwrap(); 8]), (id & 0xffff_ffff) as u64)
}

fn names(found: &[Finding], (run, seq): (RunId, u64)) -> bool {
    found.iter().any(|p| p.run == Some(run) && p.seq.is_some_and(|s| s.0 == seq))
}

#[test]
fn every_flipped_bit_is_reported() {
    let original = original();
    assert_eq!(original.after(|_| Ok(())), Some(Vec::new()));
    let mut rng = rng_for(1, "bits");
    let mut by_column: BTreeMap<(&str, &str), Vec<Cell>> = BTreeMap::new();
    for cell in original.cells().into_iter().filter(|cell| bits(&cell.value) > 0) {
        by_column.entry((cell.table, cell.column)).or_default().push(cell);
    }
    let (mut flips, mut refused) = (0, 0);
    for cells in by_column.values() {
        for _ in 0..40 {
            let cell = &cells[(rng.next_u64() % cells.len() as u64) as usize];
            let bit = (rng.next_u64() % bits(&cell.value) as u64) as usize;
            let value = flipped(&cell.value, bit);
            let Some(found) = original.after(|db| set(db, cell, &value)) else {
                refused += 1;
                continue;
            };
            flips += 1;
            assert!(!found.is_empty(), "bit {bit} of {cell:?}");
            if cell.table == "events" {
                assert!(names(&found, place(cell)), "bit {bit} of {cell:?}: {found:?}");
            }
        }
    }
    eprintln!("{flips} flips in {} columns, {refused} refused by the tables", by_column.len());
    assert!(flips > 800, "{flips}");
}

#[test]
fn every_value_of_another_type_is_reported() {
    let original = original();
    let mut rng = rng_for(2, "types");
    let mut by_column: BTreeMap<(&str, &str), Vec<Cell>> = BTreeMap::new();
    for cell in original.cells() {
        by_column.entry((cell.table, cell.column)).or_default().push(cell);
    }
    let mut changes = 0;
    for cells in by_column.values() {
        for value in [
            Value::Null,
            Value::Integer(1_000_003),
            Value::Real(0.5),
            Value::Text("another".to_owned()),
            Value::Blob(b"\xff\x00\xfe\x01".to_vec()),
        ] {
            for _ in 0..2 {
                let cell = &cells[(rng.next_u64() % cells.len() as u64) as usize];
                if cell.value == value {
                    continue;
                }
                let Some(found) = original.after(|db| set(db, cell, &value)) else { continue };
                changes += 1;
                assert!(!found.is_empty(), "{value:?} in {cell:?}");
                if cell.table == "events" && cell.column != "id" {
                    assert!(names(&found, place(cell)), "{value:?} in {cell:?}: {found:?}");
                }
            }
        }
    }
    // The bytes stay the same, but their type changes.
    for cell in original.cells() {
        let value = match &cell.value {
            Value::Text(text) => Value::Blob(text.clone().into_bytes()),
            Value::Blob(bytes) => Value::Blob(bytes.clone()),
            _ => continue,
        };
        let (to, Cell { table, column, .. }) = (
            if matches!(cell.value, Value::Text(_)) { "?1" } else { "CAST(?1 AS TEXT)" },
            cell.clone(),
        );
        let key = crate::support::tamper::key_of(table);
        let sql = format!("UPDATE {table} SET {column} = {to} WHERE {key} = ?2");
        let found =
            original.after(|db| db.execute(&sql, rusqlite::params![value, cell.key]).map(drop));
        changes += 1;
        assert!(found.is_none_or(|found| !found.is_empty()), "{cell:?}");
    }
    eprintln!("{changes} changes of type");
}

#[test]
fn every_deleted_row_is_reported() {
    let original = original();
    let mut deleted = 0;
    for cell in original.cells() {
        if cell.column != crate::support::tamper::key_of(cell.table) {
            continue;
        }
        let sql = format!("DELETE FROM {} WHERE {} = ?1", cell.table, cell.column);
        let found = original.after(|db| db.execute(&sql, [&cell.key]).map(drop)).unwrap();
        deleted += 1;
        if cell.table != "events" {
            assert!(!found.is_empty(), "{cell:?}");
            continue;
        }
        // Also if it is the last: the ledger knows the end.
        assert!(names(&found, place(&cell)), "{cell:?}: {found:?}");
    }
    eprintln!("{deleted} rows deleted, one at a time");
}

#[test]
fn a_truncated_run_is_reported_if_its_head_is_known() {
    let original = original();
    let log = original.folder.log();
    let run = RunId([1; 8]);
    let all = events(log.reader().unwrap().as_mut(), run);
    let head = all.last().unwrap().hash;
    let verify = |expected| {
        verify_run(log.backend().reader().unwrap().as_mut(), run, Some(expected)).unwrap().finding
    };
    assert_eq!(verify(head), None);
    let earlier = verify(all[9].hash).unwrap();
    assert!(earlier.fault.to_string().contains("is at seq 10, and events follow it"), "{earlier}");
    let db = original.folder.sql();
    db.execute_batch("DROP TRIGGER events_no_delete").unwrap();
    db.execute("DELETE FROM events WHERE id = (1 << 32) + ?1", [all.len() as i64]).unwrap();
    let missing = verify(head).unwrap();
    assert!(missing.fault.to_string().contains("events after it are missing"), "{missing}");
    let known =
        verify_run(log.backend().reader().unwrap().as_mut(), run, None).unwrap().finding.unwrap();
    assert!(
        known.fault.to_string().contains("of the ledger (finished) says that it had seq"),
        "{known}"
    );
    assert_eq!((missing.run, missing.seq.map(|s| s.0)), (Some(run), Some(all.len() as u64 - 1)));
}

#[test]
fn every_swap_move_and_duplicate_is_reported() {
    let original = original();
    let first = 1_i64 << 32;
    let swap = |a: i64, b: i64| {
        format!(
            "UPDATE events SET id = -1 WHERE id = {a}; UPDATE events SET id = {a} WHERE id = {b};
             UPDATE events SET id = {b} WHERE id = -1"
        )
    };
    let mut changes: Vec<String> = (1..30).map(|n| swap(first + n, first + n + 1)).collect();
    changes.extend((3..30).map(|n| swap(first + n, 2 * first + n)));
    changes.extend([1, 7, 20].map(|n| {
        format!("UPDATE events SET id = (SELECT max(id) + 1 FROM events) WHERE id = {first} + {n}")
    }));
    let pair = "SELECT min(id) AS a, max(id) AS b FROM contents WHERE typeof(body) = 'text'";
    changes.push(format!(
        "CREATE TABLE t AS {pair}; CREATE TABLE u AS SELECT id, body FROM contents;
         UPDATE contents SET body = (SELECT body FROM u, t WHERE u.id = CASE contents.id WHEN a THEN b ELSE a END)
         WHERE id IN (SELECT a FROM t UNION SELECT b FROM t); DROP TABLE t; DROP TABLE u"
    ));
    let row = "kind, time, call, sample, request, cause, content, body, hash";
    changes.extend([
        format!("INSERT INTO events SELECT id + 1000, {row} FROM events WHERE id = {first} + 5"),
        format!("INSERT INTO events SELECT max(id) + 1, {row} FROM events WHERE id < 2 * {first}"),
        "INSERT INTO contents (key, body) SELECT key, body FROM contents WHERE id = 1".to_owned(),
        "INSERT INTO requests (hash, skeleton) SELECT hash, skeleton FROM requests WHERE id = 1"
            .to_owned(),
        "INSERT INTO kinds (name, version) VALUES ('DecisionMade', 2)".to_owned(),
        "INSERT INTO run_ids (id, started) VALUES (x'0909090909090909', 0)".to_owned(),
        "UPDATE events SET id = id + (7 << 32) WHERE id >> 32 = 2".to_owned(),
        "UPDATE run_ids SET id = x'0909090909090909' WHERE no = 1".to_owned(),
        "UPDATE run_ids SET started = started + 1".to_owned(),
        "DELETE FROM events".to_owned(),
        "DELETE FROM events WHERE id >> 32 = 1; DELETE FROM run_ids WHERE no = 1".to_owned(),
        "DELETE FROM events WHERE id >> 32 = 2; DELETE FROM run_ids WHERE no = 2".to_owned(),
        "DELETE FROM ledger".to_owned(),
        "UPDATE ledger SET no = no + 100".to_owned(),
        "INSERT INTO ledger SELECT max(no) + 1, what, run, seq, head, hash FROM ledger".to_owned(),
        "UPDATE meta SET value = '0' WHERE name = 'format'".to_owned(),
        "UPDATE meta SET value = '2' WHERE name = 'format'".to_owned(),
        "INSERT INTO meta VALUES ('another', 'row')".to_owned(),
        "DROP INDEX requests_by_hash".to_owned(),
        "INSERT INTO content_keys VALUES (7, 1)".to_owned(),
        "PRAGMA user_version = 1".to_owned(),
        "PRAGMA user_version = 1000000".to_owned(),
        "PRAGMA user_version = -2147483648".to_owned(),
        "DROP VIEW decisions; CREATE VIEW decisions AS SELECT 1 AS seq".to_owned(),
        "DROP VIEW facts; CREATE VIEW facts AS SELECT 1 AS seq".to_owned(),
        "CREATE TRIGGER sly BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END".to_owned(),
        "PRAGMA application_id = 7".to_owned(),
    ]);
    for change in &changes {
        let found = original
            .after(|db| db.execute_batch(change))
            .unwrap_or_else(|| panic!("refused: {change}"));
        assert!(!found.is_empty(), "{change}");
    }
    for n in 1..30 {
        let found = original.after(|db| db.execute_batch(&swap(first + n, first + n + 1))).unwrap();
        assert!(names(&found, (RunId([1; 8]), n as u64)), "swap at {n}: {found:?}");
    }
}

#[test]
fn a_changed_request_is_reported_at_the_event_that_asked_it() {
    let original = original();
    let found = original
        .after(|db| {
            let sql = "UPDATE requests SET skeleton = replace(skeleton, 'Say a number', 'Say some number')";
            assert!(db.execute(sql, []).unwrap() > 0);
            Ok(())
        })
        .unwrap();
    assert!(names(&found, (RunId([1; 8]), 2)), "{found:?}");
    assert!(names(&found, (RunId([2; 8]), 2)), "{found:?}");
}

/// Requests are read by one thread and the chain is computed by another: neither hides what the other finds before it.
#[test]
fn of_a_changed_request_and_a_changed_event_the_earlier_is_reported() {
    let original = original();
    let run = RunId([1; 8]);
    let first = |changes: &[&str]| {
        let found = original.after(|db| db.execute_batch(&changes.join(";"))).unwrap();
        let of_run = found.into_iter().find(|problem| problem.run == Some(run));
        of_run.and_then(|problem| problem.seq).unwrap_or_else(|| panic!("{changes:?}")).0
    };
    let requests = ["min", "max"].map(|end| {
        format!(
            "UPDATE requests SET skeleton = replace(skeleton, 'model', 'modem') WHERE id =
             (SELECT {end}(request) FROM events WHERE id >> 32 = 1)"
        )
    });
    let mut earlier = [0, 0];
    for request in &requests {
        let asked = first(&[request]);
        for seq in 1..=asked + 5 {
            let at = format!("WHERE id = (1 << 32) + {seq}");
            for event in [
                format!("UPDATE events SET time = time + 1 {at}"),
                format!("DELETE FROM events {at}"),
            ] {
                assert_eq!(first(&[&event]), seq, "{event}");
                assert_eq!(first(&[request, &event]), seq.min(asked), "{request}; {event}");
                earlier[usize::from(seq < asked)] += 1;
            }
        }
    }
    assert!(earlier.iter().all(|n| *n > 10), "{earlier:?}");
}
