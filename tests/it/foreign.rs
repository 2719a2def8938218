//! Files made by a stranger: each soon ends in a clear error.

use std::path::Path;

use retold::log::{Backend, LogError, SqliteBackend, SqliteOptions};
use rusqlite::Connection;

use crate::support::cli::{Place, assert_said};
use crate::support::tamper::found;

const COMMANDS: &[&str] =
    &["verify", "show latest", "log latest", "export latest run.jsonl", "run small.yaml --quiet"];

/// A place with a log in a single file, changed by an SQL statement.
fn changed(sql: &str) -> Place {
    let place = Place::with_run();
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.execute_batch("PRAGMA legacy_alter_table = ON; PRAGMA writable_schema = ON").unwrap();
    db.execute_batch(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    place
}

#[test]
fn a_schema_that_does_more_than_hold_rows_is_refused() {
    let mut all = String::new();
    for (what, sql) in [
        (
            "a view in the place of a table",
            "ALTER TABLE contents RENAME TO hidden;
             CREATE VIEW contents AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
             SELECT id, 0 AS key, zeroblob(1000000) AS body FROM n",
        ),
        (
            "a trigger that calls functions",
            "CREATE TRIGGER slow AFTER INSERT ON events BEGIN SELECT hex(zeroblob(400000000)); END",
        ),
        (
            "a trigger in the place of one of ours",
            "DROP TRIGGER events_no_delete;
             CREATE TRIGGER events_no_delete BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
        ),
        ("a virtual table", "CREATE VIRTUAL TABLE notes USING fts5 (text)"),
        ("a computed column", "ALTER TABLE contents ADD COLUMN huge AS (hex(zeroblob(400000000)))"),
        ("a computed column elsewhere", "CREATE TABLE other (a, b AS (hex(zeroblob(400000000))))"),
        ("a computed index", "CREATE INDEX slow ON events (hex(zeroblob(10000 + id % 2)))"),
        ("a partial index", "CREATE INDEX some ON events (kind) WHERE length(hex(zeroblob(10000))) > id"),
        (
            "a constraint that is computed",
            "UPDATE sqlite_schema SET sql = replace(sql, 'hash BLOB NOT NULL)',
               'hash BLOB NOT NULL CHECK (length(hex(zeroblob(400000000 + id % 2))) > 0))') WHERE name = 'events'",
        ),
    ] {
        for args in COMMANDS {
            let place = changed(sql);
            let said = place.run(args);
            assert!((0..=1).contains(&said.code), "{what}: {args}: {}{}", said.out, said.err);
            let writes = args.starts_with("run");
            assert!(said.code == 1 || !writes, "{what}: nothing is written to it: {}", said.out);
            if *args == "verify" || writes {
                assert_eq!(said.code, 1, "{what}: {args}: {}{}", said.out, said.err);
                all.push_str(&format!("{what}: {}", place.shown(args, &said)));
            }
        }
    }
    assert_said!("foreign_schema", all);
}

/// A view that no query uses does no harm.
#[test]
fn a_view_of_another_name_is_left_alone() {
    let place = changed(
        "CREATE VIEW endless AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n",
    );
    place.ok("verify");
    place.ok("run small.yaml --quiet");
}

/// The bytes of a log that is large enough for tables of several levels.
fn large(place: &Place) -> Vec<u8> {
    let db = Connection::open(place.path("retold.db")).unwrap();
    // A log with 4 kB pages has more pages of every kind, and its format does not depend on the
    // page size.
    db.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM").unwrap();
    drop(db);
    std::fs::read(place.path("retold.db")).unwrap()
}

fn run_all(place: &Place, what: &str) {
    for args in ["verify", "show latest", "export latest run.jsonl --force"] {
        let said = place.run(args);
        assert!([0, 1, 3].contains(&said.code), "{what}: {args}: {}{}", said.out, said.err);
        if args == "verify" {
            assert_ne!(said.code, 0, "{what}: {}", said.out);
        }
    }
}

#[test]
fn pages_that_form_a_cycle_are_reported() {
    const PAGE: usize = 512;
    let place = Place::with_run();
    let whole = large(&place);
    let mut inner = 0;
    for page in 1..whole.len() / PAGE {
        let at = page * PAGE;
        // An inner page of a table (5) or an index (2): its children are page numbers.
        let kind = whole[at];
        let cells = usize::from(u16::from_be_bytes([whole[at + 3], whole[at + 4]]));
        if ![2, 5].contains(&kind) || cells == 0 || cells > 100 {
            continue;
        }
        inner += 1;
        let own = u32::try_from(page + 1).unwrap().to_be_bytes();
        let right: [u8; 4] = whole[at + 8..at + 12].try_into().unwrap();
        for (child, what) in [(own, "its own child"), (right, "one child many times")] {
            let mut forged = whole.clone();
            forged[at + 8..at + 12].copy_from_slice(&child);
            for cell in 0..cells {
                let pointer = at + 12 + 2 * cell;
                let place = usize::from(u16::from_be_bytes([whole[pointer], whole[pointer + 1]]));
                forged[at + place..at + place + 4].copy_from_slice(&child);
            }
            std::fs::write(place.path("retold.db"), forged).unwrap();
            run_all(&place, &format!("page {page}: {what}"));
        }
    }
    assert!(inner >= 2, "{inner}");
}

/// Inner pages in layers, all children of each being the same page: a file of some kilobytes that
/// claims more rows than there are atoms.
#[test]
fn rows_without_a_number_are_reported() {
    const PAGE: usize = 512;
    let place = Place::with_run();
    let file = large(&place);
    let db = Connection::open(place.path("retold.db")).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root = |name: &str| db.query_row(sql, [name], |r| r.get::<_, u32>(0)).unwrap() as usize;
    let tables =
        ["events", "contents", "run_ids", "ledger", "requests"].map(|name| (name, root(name)));
    for (table, root) in tables {
        let at = (root - 1) * PAGE;
        let mut forged = file.clone();
        let leaf = forged[at..at + PAGE].to_vec();
        let mut child = u32::try_from(forged.len() / PAGE + 1).unwrap();
        forged.extend(leaf);
        for level in 0..12 {
            // 50 cells of 9 bytes: the child, and the largest id below it.
            let mut page = vec![0; PAGE];
            page[0] = 5;
            page[3..5].copy_from_slice(&50_u16.to_be_bytes());
            page[5..7].copy_from_slice(&62_u16.to_be_bytes());
            page[8..12].copy_from_slice(&child.to_be_bytes());
            let cells = PAGE - 50 * 7;
            for n in 0..50 {
                let cell = cells + n * 7;
                page[12 + 2 * n..14 + 2 * n]
                    .copy_from_slice(&u16::try_from(cell).unwrap().to_be_bytes());
                page[cell..cell + 4].copy_from_slice(&child.to_be_bytes());
                page[cell + 4..cell + 7].copy_from_slice(&[0xff, 0xff, 0x7f]);
            }
            page[5..7].copy_from_slice(&u16::try_from(cells).unwrap().to_be_bytes());
            if level == 11 {
                forged[at..at + PAGE].copy_from_slice(&page);
            } else {
                child = u32::try_from(forged.len() / PAGE + 1).unwrap();
                forged.extend(page);
            }
        }
        let pages = u32::try_from(forged.len() / PAGE).unwrap();
        forged[28..32].copy_from_slice(&pages.to_be_bytes());
        std::fs::write(place.path("retold.db"), &forged).unwrap();
        run_all(&place, table);
    }
}

/// Lengths, types and pointers set to the largest possible values, all over the file.
#[test]
fn huge_numbers_anywhere_are_reported() {
    let place = Place::with_run();
    let whole = large(&place);
    let path = place.path("forged.db");
    let mut reported = 0;
    for at in (100..whole.len() - 9).step_by(101) {
        let mut forged = whole.clone();
        forged[at..at + 9].fill(0xff);
        std::fs::write(&path, forged).unwrap();
        reported += usize::from(!found(&path).is_empty());
    }
    assert!(reported > 150, "{reported} of {}", whole.len() / 101);
}

#[test]
fn header_damage_is_damage() {
    let place = Place::with_run();
    let db = Connection::open(place.path("retold.db")).unwrap();
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(db);
    let whole = std::fs::read(place.path("retold.db")).unwrap();
    let path = place.path("forged.db");
    let forge = |bit: usize| {
        let mut forged = whole.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, forged).unwrap();
    };
    for bit in 0..800 {
        forge(bit);
        match SqliteBackend::open(&path, SqliteOptions::default()) {
            Err(LogError::Damaged { .. }) => {}
            Err(other) => panic!("bit {bit}: {other:?}"),
            Ok(log) => {
                // The change counters and the version of the last writer: nothing depends on them.
                let harmless =
                    [24..28, 40..44, 92..100].iter().any(|range| range.contains(&(bit / 8)));
                let problems = found(&path);
                let is_known = log.info().damage.is_some();
                assert!(harmless || is_known || !problems.is_empty(), "bit {bit}");
            }
        }
    }
    for byte in [0, 16, 18, 20, 47, 59, 70, 80] {
        forge(byte * 8);
        for args in ["verify --log forged.db", "run small.yaml --quiet --log forged.db"] {
            let said = place.run(args);
            assert_eq!(said.code, 1, "byte {byte}: {}{}", said.out, said.err);
            let text = said.out + &said.err;
            assert!(text.contains("the header of the file: its "), "byte {byte}: {text}");
        }
    }
}

/// A file that is not a log is not accepted as one, whatever its header says.
#[test]
fn an_sqlite_file_of_another_program_is_not_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path: &Path = &folder.path().join("other.db");
    let db = Connection::open(path).unwrap();
    db.execute_batch("CREATE TABLE notes (text TEXT); PRAGMA application_id = 7").unwrap();
    let open = || SqliteBackend::open(path, SqliteOptions::default());
    assert!(matches!(open(), Err(LogError::NotALog { .. })));
}
