//! Changes a log file without its triggers.

use std::path::Path;

use retold::log::{Fault, Finding, Log, SqliteBackend, SqliteOptions};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::logs::{Folder, problems};

/// A file to copy and change.
pub(crate) struct Original {
    pub(crate) folder: Folder,
}

/// A row of a table and a column of it.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    pub(crate) table: &'static str,
    pub(crate) column: &'static str,
    pub(crate) key: Value,
    pub(crate) value: Value,
}

/// Every column of every table, with the column that identifies a row.
pub(crate) const COLUMNS: &[(&str, &str, &[&str])] = &[
    ("meta", "name", &["name", "value"]),
    ("run_ids", "no", &["no", "id", "started"]),
    ("kinds", "id", &["id", "name", "version"]),
    ("contents", "id", &["id", "key", "body"]),
    ("requests", "id", &["id", "hash", "skeleton", "base", "shared"]),
    (
        "events",
        "id",
        &["id", "kind", "time", "call", "sample", "request", "cause", "content", "body", "hash"],
    ),
    ("ledger", "no", &["no", "what", "run", "seq", "head", "hash"]),
];

/// The column that identifies a row of a table.
pub(crate) fn key_of(table: &str) -> &'static str {
    COLUMNS.iter().find(|(name, ..)| *name == table).unwrap().1
}

impl Original {
    /// A log that no longer changes, all of it in one file.
    pub(crate) fn new(folder: Folder) -> Self {
        folder.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        Original { folder }
    }

    /// Every cell of the file.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        let db = self.folder.sql();
        let mut cells = Vec::new();
        for (table, key, columns) in COLUMNS {
            for column in *columns {
                let sql = format!("SELECT {key}, {column} FROM {table} ORDER BY {key}");
                let mut select = db.prepare(&sql).unwrap();
                let rows = select.query_map([], |r| {
                    Ok(Cell { table, column, key: r.get(0)?, value: r.get(1)? })
                });
                cells.extend(rows.unwrap().map(Result::unwrap));
            }
        }
        cells
    }

    /// What verification finds after a change; `None` if the file does not accept the change.
    pub(crate) fn after(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Option<Vec<Finding>> {
        let copy = Folder::new();
        std::fs::copy(self.folder.path(), copy.path()).unwrap();
        let db = Connection::open(copy.path()).unwrap();
        db.execute_batch("PRAGMA synchronous = OFF").unwrap();
        without_triggers(&db, change).ok()?;
        drop(db);
        Some(found(&copy.path()))
    }
}

/// Changes a log while its triggers are away. Those of a table that the change drops are gone with it.
pub(crate) fn without_triggers<T>(db: &Connection, change: impl FnOnce(&Connection) -> T) -> T {
    let triggers = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger'";
    let triggers: Vec<[String; 3]> = db
        .prepare(triggers)
        .unwrap()
        .query_map([], |r| Ok([r.get(0)?, r.get(1)?, r.get(2)?]))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for [name, ..] in &triggers {
        db.execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
    }
    let changed = change(db);
    for [_, table, sql] in &triggers {
        if db.table_exists(None, table.as_str()).unwrap() {
            db.execute_batch(sql).unwrap();
        }
    }
    changed
}

/// Everything that is wrong with a file, including that it cannot be opened.
pub(crate) fn found(path: &Path) -> Vec<Finding> {
    match SqliteBackend::open(path, SqliteOptions::default()) {
        Ok(backend) => {
            let log = Log::new(std::sync::Arc::new(backend));
            problems(log.reader().unwrap().as_mut())
        }
        Err(error) => vec![Finding::of_file(Fault::of_error(error))],
    }
}

/// Sets a cell; a text that is not UTF-8 is stored as it is.
pub(crate) fn set(db: &Connection, cell: &Cell, value: &Value) -> rusqlite::Result<()> {
    let Cell { table, column, key, .. } = cell;
    let (place, value) = match (value, &cell.value) {
        (Value::Blob(bytes), Value::Text(_)) => ("CAST(?1 AS TEXT)", Value::Blob(bytes.clone())),
        (value, _) => ("?1", value.clone()),
    };
    let sql = format!("UPDATE {table} SET {column} = {place} WHERE {} = ?2", key_of(table));
    let changed = db.execute(&sql, rusqlite::params![value, key])?;
    assert_eq!(changed, 1);
    Ok(())
}

/// How many bits a cell has.
pub(crate) fn bits(value: &Value) -> usize {
    match value {
        Value::Integer(_) | Value::Real(_) => 64,
        Value::Text(text) => text.len() * 8,
        Value::Blob(bytes) => bytes.len() * 8,
        Value::Null => 0,
    }
}

/// A value with one bit flipped; a text comes back as its bytes.
pub(crate) fn flipped(value: &Value, bit: usize) -> Value {
    let flip = |mut bytes: Vec<u8>| {
        bytes[bit / 8] ^= 1 << (bit % 8);
        Value::Blob(bytes)
    };
    match value {
        Value::Integer(n) => Value::Integer(n ^ (1 << bit)),
        Value::Real(x) => Value::Real(f64::from_bits(x.to_bits() ^ (1 << bit))),
        Value::Text(text) => flip(text.clone().into_bytes()),
        Value::Blob(bytes) => flip(bytes.clone()),
        Value::Null => Value::Null,
    }
}
