//! Databases of other programs, which are only read, with the defences that a foreign log meets.

use crate::log::finding::FileFault;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::guard::{self, Fuel};

/// How long to wait for the program that is writing it.
const BUSY: Duration = Duration::from_secs(5);

/// The value in one column of one row of a program's database.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// An integer.
    Integer(i64),
    /// Another number.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    /// A text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An integer, if it is one.
    pub fn integer(&self) -> Option<i64> {
        match self {
            Cell::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

/// Why a database of another program is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// It cannot be opened.
    #[error("cannot open {path}: {source}")]
    Open {
        /// Which.
        path: String,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// Another program has locked it.
    #[error("{path} is locked by another program: try again when it has finished")]
    Busy {
        /// Which.
        path: String,
    },
    /// It is not an SQLite file, or is damaged.
    #[error("{path} is damaged, or is not an SQLite file: {source}")]
    Damaged {
        /// Which.
        path: String,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A text in it is none.
    #[error("{path} is damaged: a text of the table {table} is not UTF-8")]
    NotUtf8 {
        /// Which.
        path: String,
        /// The table.
        table: String,
    },
    /// Reading it does not come to an end.
    #[error("{path} is damaged: {}", FileFault::Endless)]
    Endless {
        /// Which.
        path: String,
    },
    /// It has more than fits in memory.
    #[error("{path} has more than {} MiB of texts and attachments, the most that is read of it", .most >> 20)]
    TooLarge {
        /// Which.
        path: String,
        /// The most bytes.
        most: u64,
    },
}

/// A database of another program, opened for reading only.
#[derive(Debug)]
pub struct ForeignDatabase {
    path: String,
    db: Connection,
    fuel: Fuel,
    /// The plain tables and their columns.
    tables: BTreeMap<String, Vec<String>>,
    left: u64,
    most: u64,
}

impl ForeignDatabase {
    /// Opens a database that is called `shown` in messages; at most `most` bytes will be read of its
    /// rows.
    ///
    /// # Errors
    /// [`ForeignError`].
    pub fn open(path: &Path, shown: &str, most: u64) -> Result<Self, ForeignError> {
        let shown = shown.to_owned();
        let failed = |error| foreign_error(&shown, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(path, flags);
        let mut db = opened.map_err(|source| ForeignError::Open { path: shown.clone(), source })?;
        let bytes = std::fs::metadata(path).map_or(0, |about| about.len());
        let fuel = guard::restrict(&db, None)
            .and_then(|()| db.busy_timeout(BUSY))
            .and_then(|()| Fuel::new(&mut db, bytes))
            .map_err(failed)?;
        let tables = tables(&db).map_err(failed)?;
        Ok(ForeignDatabase { path: shown, db, fuel, tables, left: most, most })
    }

    /// Whether it has such a table. Views and virtual tables, which can compute, do not count.
    pub fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// All rows of a table in the order in which they were made, with these columns; a column that the
    /// table does not have is `Null`. There are none if there is no such table.
    ///
    /// # Errors
    /// [`ForeignError`].
    pub fn rows(&mut self, table: &str, columns: &[&str]) -> Result<Vec<Vec<Cell>>, ForeignError> {
        let Some(known) = self.tables.get(table) else { return Ok(Vec::new()) };
        // A name that is not a column would be read as a text.
        let column = |name: &&str| match known.iter().any(|known| known == name) {
            true => format!("\"{name}\""),
            false => "NULL".to_owned(),
        };
        let columns: Vec<String> = columns.iter().map(column).collect();
        let sql = format!("SELECT {} FROM \"{table}\" ORDER BY rowid", columns.join(", "));
        self.fuel.fill();
        let failed = |error| foreign_error(&self.path, error);
        let mut select = self.db.prepare(&sql).map_err(failed)?;
        let mut rows = select.query([]).map_err(failed)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let mut cells = Vec::with_capacity(columns.len());
            for at in 0..columns.len() {
                let value = row.get_ref(at).map_err(failed)?;
                let cell = cell(value).ok_or_else(|| ForeignError::NotUtf8 {
                    path: self.path.clone(),
                    table: table.to_owned(),
                })?;
                let bytes = match &cell {
                    Cell::Text(text) => text.len(),
                    Cell::Bytes(bytes) => bytes.len(),
                    _ => 0,
                };
                // A value takes 32 bytes beside its text.
                let taken = bytes as u64 + 32;
                let left = self.left.checked_sub(taken);
                self.left = left.ok_or_else(|| ForeignError::TooLarge {
                    path: self.path.clone(),
                    most: self.most,
                })?;
                cells.push(cell);
            }
            all.push(cells);
        }
        Ok(all)
    }
}

fn cell(value: ValueRef<'_>) -> Option<Cell> {
    Some(match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(std::str::from_utf8(text).ok()?.to_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
    })
}

/// The tables that only hold rows, and their columns. A column that is computed is left out, because
/// one step of a computation can take a second.
fn tables(db: &Connection) -> rusqlite::Result<BTreeMap<String, Vec<String>>> {
    let mut select = db.prepare(
        "SELECT m.name, x.name FROM sqlite_schema m, pragma_table_xinfo(m.name) x
         WHERE m.type = 'table' AND m.rootpage <> 0 AND m.sql LIKE 'CREATE TABLE%' AND x.hidden = 0",
    )?;
    let mut rows = select.query([])?;
    let mut tables: BTreeMap<String, Vec<String>> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        tables.entry(row.get(0)?).or_default().push(row.get(1)?);
    }
    Ok(tables)
}

fn foreign_error(path: &str, source: rusqlite::Error) -> ForeignError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            ForeignError::Busy { path }
        }
        Some(rusqlite::ErrorCode::OperationInterrupted) => ForeignError::Endless { path },
        Some(
            rusqlite::ErrorCode::CannotOpen
            | rusqlite::ErrorCode::PermissionDenied
            | rusqlite::ErrorCode::ReadOnly
            | rusqlite::ErrorCode::SystemIoFailure,
        ) => ForeignError::Open { path, source },
        _ => ForeignError::Damaged { path, source },
    }
}
