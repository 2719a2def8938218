//! The format of a log file: public, so that any SQLite tool can read one. A row of each table is:
//!
//! - `meta`: a fact about the file: its format, sealed by a hash
//! - `run_ids`: a run: its number in this file, its id, when it started (ms since 1970)
//! - `kinds`: an event kind and version
//! - `contents`: a text (TEXT) or a vector (BLOB of little-endian 32-bit floats), kept once; `key`
//!   is the first 8 bytes of its BLAKE3
//! - `content_keys`: the key of a content, for those up to the file's `user_version`: added in
//!   bulk, in order
//! - `requests`: a request, kept once: prompt hash, and canonical JSON whose long strings are
//!   `text:ID` into `contents`. Its first `shared` messages may be those of the earlier request
//!   `base`; then only the others are in the JSON
//! - `events`: an event; `id` is run number × 2^32 + seq, `time` is ms since the run started
//! - `event_index`: a section of a piece of a run's index, see
//!   [`Index`](crate::log::Index); `id` is that of the last event before the piece, and the
//!   section's number
//! - `ledger`: the history of the log, an entry for each run that was started, resumed, finished or
//!   imported; see [`ledger`](crate::log::ledger)
//!
//! The views `runs`, `exchanges`, `messages`, `decisions`, `facts`, `attempts` and `log` are the public, readable face of
//! these tables.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::sqlite_error::is_damage;
use crate::log::finding::FileFault;
use crate::log::format::FORMAT;

/// Marks the file as ours in its header ("rtld").
pub(super) const APPLICATION_ID: i32 = 0x7274_6c64;

/// `meta` holds a hash of its contents, so that no change to it goes unnoticed.
fn seal(format: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"retold meta v1\n").update(format.as_bytes());
    hasher.finalize().to_string()
}

/// The fault in the format that a file states, if there is one: it must match its seal.
pub(super) fn format_fault(db: &Connection) -> rusqlite::Result<Option<FileFault>> {
    let rows = stated_rows(db)?;
    Ok(match rows.get("format") {
        None => Some(FileFault::NoFormat),
        Some(format) if rows.len() == 2 && rows.get("seal") == Some(&seal(format)) => None,
        Some(_) => Some(FileFault::Seal),
    })
}

/// The format of a file that has another one than ours. One that does not match its seal is damage.
pub(super) fn other_format(db: &Connection) -> rusqlite::Result<Option<String>> {
    let mut rows = stated_rows(db)?;
    let stated = rows.remove("format").filter(|stated| *stated != FORMAT.to_string());
    Ok(stated.filter(|stated| rows.get("seal") == Some(&seal(stated))))
}

/// The rows of `meta`; none if the table is lost or cannot be read.
fn stated_rows(db: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    // A value that is not a text was not written by us.
    let text = |value: ValueRef<'_>| value.as_str().unwrap_or("").to_owned();
    let read = || -> rusqlite::Result<BTreeMap<String, String>> {
        let mut select = db.prepare("SELECT name, value FROM meta ORDER BY name")?;
        let rows = select.query_map([], |r| Ok((text(r.get_ref(0)?), text(r.get_ref(1)?))))?;
        rows.collect()
    };
    match read() {
        Err(error) if is_damage(&error) => Ok(BTreeMap::new()),
        rows => rows,
    }
}

/// The tables.
pub(super) const SCHEMA: &str = r#"
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE run_ids (no INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, started INTEGER NOT NULL);
CREATE TABLE kinds (id INTEGER PRIMARY KEY, name TEXT NOT NULL, version INTEGER NOT NULL, UNIQUE (name, version));
CREATE TABLE contents (id INTEGER PRIMARY KEY, key INTEGER NOT NULL, body NOT NULL);
CREATE TABLE content_keys (key INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (key, id)) WITHOUT ROWID;
CREATE TABLE requests (
  id INTEGER PRIMARY KEY, hash BLOB NOT NULL, skeleton TEXT NOT NULL, base INTEGER, shared INTEGER);
CREATE INDEX requests_by_hash ON requests (substr(hash, 1, 8));
CREATE TABLE events (
  id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, time INTEGER NOT NULL, call TEXT, sample INTEGER,
  request INTEGER, cause INTEGER, content INTEGER, body TEXT, hash BLOB NOT NULL);
CREATE TABLE ledger (
  no INTEGER PRIMARY KEY, what TEXT NOT NULL, run BLOB NOT NULL, seq INTEGER NOT NULL, head BLOB NOT NULL,
  hash BLOB NOT NULL);
CREATE TABLE event_index (id INTEGER PRIMARY KEY, entries BLOB NOT NULL);
"#;

/// The views, with the columns of `retold table` that SQL can compute: see `docs/tables.md`. They are read by SQLite 3.31
/// and later, which know neither `->` nor MATERIALIZED: a statement that a reader does not understand hides the whole log
/// from it.
///
/// - The whole schema fits into the first page, so that a log that was cut off is still read. Therefore the views are made from
///   `log`, and [`views`] leaves out how the file is laid out.
/// - What may not be JSON is only read within CASE, because SQLite evaluates conditions in any order and one error ends the
///   whole query.
/// - No column of `events` but its id has an index, so that an answer finds its question by id, and `exchanges` groups the
///   events by question instead of looking for answers. CROSS JOIN keeps that order.
/// - The messages that a request shares always end among its base's own, so that the message before its own is one of the
///   base.
/// - `messages` ends with GROUP BY so that SQLite computes it once and makes an index of it, however often a query that follows
///   `after` looks for a message.
const VIEWS: &str = include_str!("views.sql");

/// The statements of the views, as a log has them.
fn views() -> String {
    VIEWS.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The views that logs had before and keep, by the BLAKE3 of their statements: until 2026-11-27, and the last until 2026-11-30.
const EARLIER_VIEWS: [(&str, &str); 5] = [
    ("log", "885b1a84453f3a689f32b43553e079f74c31fc6413b6203cd518873e11c1645f"),
    ("runs", "73e70a7ec5e0cb5431d8506e003ea3e9c0dee7ecdc132637f69ebaf1f4f60e38"),
    ("exchanges", "9a13abc9b19667dfd1e398957277f4a179d63fee232a01a1359414b244e7da00"),
    ("decisions", "87c8ad630bb0ae64ab65154959ebac3c1b4c3a63c130e8c67de76cc3c4a9ff34"),
    ("decisions", "1c82439d733ee9549b7b84151334596f615db241064d83df6bd6f5a25f63aeb3"),
];

/// The views that those logs lack.
const LATER_VIEWS: [&str; 3] = ["messages", "facts", "attempts"];

/// Whether a view that is not as it would be made now, or is missing, is that of a log that was begun earlier.
pub(super) fn is_of_earlier_log(name: &str, found: Option<&str>) -> bool {
    let Some(sql) = found else { return LATER_VIEWS.contains(&name) };
    let hash = blake3::hash(sql.as_bytes()).to_string();
    EARLIER_VIEWS.contains(&(name, hash.as_str()))
}

/// The beginning of one of its tables, by which the bytes of a log are recognised.
pub(super) const RUN_IDS: &str = "CREATE TABLE run_ids (no INTEGER PRIMARY KEY, id BLOB NOT NULL";

/// Whether a statement is one of those that create a log.
pub(super) fn is_ours(sql: &str) -> bool {
    sql.starts_with("CREATE ") && SCHEMA.contains(sql)
}

/// The number of pages of a log without runs.
pub(super) fn pages_of_an_empty_log(page_bytes: i64) -> rusqlite::Result<u64> {
    let db = Connection::open_in_memory()?;
    db.pragma_update(None, "page_size", page_bytes)?;
    make(&db)?;
    let pages: i64 = db.pragma_query_value(None, "page_count", |r| r.get(0))?;
    Ok(pages.unsigned_abs())
}

/// What would make a writer do anything other than add rows: a trigger that this format does not
/// have, or a table that differs from this format's.
pub(super) fn stranger_to_writers(db: &Connection) -> rusqlite::Result<Option<FileFault>> {
    let (due, found) = (objects()?, objects_of(db)?);
    let table = |what: &str| ["table", "index"].contains(&what);
    for (kind, name, _) in found.difference(&due) {
        let known = due.iter().any(|(k, n, _)| k == kind && n == name);
        if kind == "trigger" {
            return Ok(Some(FileFault::StrangeTrigger { name: name.clone() }));
        }
        if table(kind) && known {
            let (kind, name) = (kind.clone(), name.clone());
            return Ok(Some(FileFault::Changed { kind, name }));
        }
    }
    Ok(None)
}

/// The tables that nobody may change, with the conditions under which a new row would replace
/// another: every unique key, since REPLACE deletes by each of them without firing a trigger.
///
/// A row with an id that SQLite assigns cannot replace another: in that case `NEW.id` is -1, and
/// checking this first spares most rows the look-up. A pair of `content_keys` is its whole row; it
/// can only replace itself.
pub(super) const TABLES: &[(&str, Option<&str>)] = &[
    ("meta", Some("EXISTS (SELECT 1 FROM meta WHERE name = NEW.name)")),
    ("run_ids", Some("EXISTS (SELECT 1 FROM run_ids WHERE no = NEW.no OR id = NEW.id)")),
    (
        "kinds",
        Some(
            "EXISTS (SELECT 1 FROM kinds
            WHERE id = NEW.id OR (name = NEW.name AND version = NEW.version))",
        ),
    ),
    ("contents", Some("NEW.id <> -1 AND EXISTS (SELECT 1 FROM contents WHERE id = NEW.id)")),
    ("content_keys", None),
    ("requests", Some("NEW.id <> -1 AND EXISTS (SELECT 1 FROM requests WHERE id = NEW.id)")),
    ("events", Some("NEW.id <> -1 AND EXISTS (SELECT 1 FROM events WHERE id = NEW.id)")),
    ("ledger", Some("EXISTS (SELECT 1 FROM ledger WHERE no = NEW.no)")),
    ("event_index", Some("EXISTS (SELECT 1 FROM event_index WHERE id = NEW.id)")),
];

/// The triggers that refuse changes: UPDATE, DELETE, and REPLACE, which is both in disguise.
fn triggers() -> Vec<String> {
    let of = |(table, replaces): &(&str, Option<&str>)| {
        let update = Some(("update", format!("BEFORE UPDATE ON {table}")));
        let delete = Some(("delete", format!("BEFORE DELETE ON {table}")));
        let replace = replaces.map(|it| ("replace", format!("BEFORE INSERT ON {table} WHEN {it}")));
        let trigger = |(action, when): (&str, String)| {
            format!(
                "CREATE TRIGGER {table}_no_{action} {when} BEGIN SELECT RAISE(FAIL, 'a retold log is append-only'); END"
            )
        };
        [update, delete, replace].into_iter().flatten().map(trigger).collect::<Vec<_>>()
    };
    TABLES.iter().flat_map(of).collect()
}

/// Turns an empty file into a log.
pub(super) fn make(db: &Connection) -> rusqlite::Result<()> {
    make_objects(db)?;
    let format = FORMAT.to_string();
    let mut state = db.prepare("INSERT INTO meta (name, value) VALUES (?1, ?2)")?;
    state.execute(("seal", seal(&format)))?;
    state.execute(("format", format))?;
    Ok(())
}

fn make_objects(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(SCHEMA)?;
    db.execute_batch(&views())?;
    triggers().iter().try_for_each(|sql| db.execute_batch(sql))
}

/// Everything that makes up a log file: `(type, name, sql)`.
pub(super) fn objects() -> rusqlite::Result<BTreeSet<(String, String, String)>> {
    let db = Connection::open_in_memory()?;
    make_objects(&db)?;
    objects_of(&db)
}

/// Everything that makes up a file: `(type, name, sql)`.
pub(super) fn objects_of(db: &Connection) -> rusqlite::Result<BTreeSet<(String, String, String)>> {
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut select = db.prepare(sql)?;
    let rows = select.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
    rows.collect()
}
