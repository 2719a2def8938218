//! Protects the program against files from untrusted sources.
//!
//! SQLite's own defences are on for every connection. Its limits are far below the usual ones, and
//! the cost of a query is bounded by the size of the file: each of our queries visits a row only a
//! few times, so one that takes many more steps than the file has bytes is in a cycle.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

use super::{ending, schema};
use crate::log::finding::FileFault;
use crate::prompt::LONGEST_REQUEST;

/// The steps that every query may take.
const LEAST_STEPS: i64 = 2_000_000;

/// The additional steps for each byte of the file. Our costliest queries take about two.
const STEPS_PER_BYTE: i64 = 20;

/// How often the steps are counted.
const COUNTED: i32 = 10_000;

/// Sets up a connection before anything is read, perhaps to a file with a known defect.
pub(super) fn restrict(db: &Connection, defect: Option<&FileFault>) -> rusqlite::Result<()> {
    if defect.is_some() {
        // SQLite leaves out what it cannot read of the schema, or takes the length of a file that is shorter than its
        // header says as it is.
        db.pragma_update(None, "writable_schema", true)?;
    }
    // This takes the permission to change the schema away again, and with it a file that was cut off. That is never opened
    // to be written.
    if !matches!(defect, Some(FileFault::CutOff { .. })) {
        db.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    }
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Our logs have no such constraints, and a foreign one can be costly.
    db.pragma_update(None, "ignore_check_constraints", true)?;
    let longest = i32::try_from(2 * LONGEST_REQUEST).unwrap_or(i32::MAX);
    for (limit, most) in [
        (Limit::SQLITE_LIMIT_LENGTH, longest),
        (Limit::SQLITE_LIMIT_SQL_LENGTH, 100_000),
        (Limit::SQLITE_LIMIT_COLUMN, 100),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 10),
        (Limit::SQLITE_LIMIT_VDBE_OP, 100_000),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 32),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, 100),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    ] {
        db.set_limit(limit, most)?;
    }
    Ok(())
}

/// The steps that are left before a query is interrupted.
#[derive(Debug, Clone)]
pub(super) struct Fuel {
    left: Arc<AtomicI64>,
    full: i64,
}

impl Fuel {
    /// Counts the steps of a connection from now on; `bytes` is the size of the file.
    pub(super) fn new(db: &mut Connection, bytes: u64) -> rusqlite::Result<Self> {
        let full = steps(bytes);
        let left = Arc::new(AtomicI64::new(full));
        let counted = Arc::clone(&left);
        let is_out = move || {
            counted.fetch_sub(i64::from(COUNTED), Ordering::Relaxed) < 0 || ending::is_ending()
        };
        db.progress_handler(COUNTED, Some(is_out))?;
        Ok(Fuel { left, full })
    }

    /// Allows the next query as many steps as the first one.
    pub(super) fn fill(&self) {
        self.left.store(self.full, Ordering::Relaxed);
    }

    /// The same, for a file that may have grown since.
    pub(super) fn fill_for(&mut self, bytes: u64) {
        self.full = self.full.max(steps(bytes));
        self.fill();
    }
}

fn steps(bytes: u64) -> i64 {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    LEAST_STEPS.saturating_add(STEPS_PER_BYTE.saturating_mul(bytes))
}

/// Anything in a file's schema that could do more than hold our rows: whatever computes.
pub(super) fn stranger(db: &Connection) -> rusqlite::Result<Option<FileFault>> {
    let first =
        |sql: &str, fault: fn(String) -> FileFault| -> rusqlite::Result<Option<FileFault>> {
            let mut select = db.prepare(sql)?;
            let mut rows = select.query([])?;
            Ok(rows.next()?.map(|row| row.get(0)).transpose()?.map(fault))
        };
    let virtual_table = "SELECT name FROM sqlite_schema
        WHERE type = 'table' AND (rootpage = 0 OR sql NOT LIKE 'CREATE TABLE%')";
    if let Some(found) = first(virtual_table, |name| FileFault::VirtualTable { name })? {
        return Ok(Some(found));
    }
    let computed = "SELECT x.name FROM sqlite_schema m, pragma_table_xinfo(m.name) x
        WHERE m.type = 'table' AND x.hidden <> 0";
    if let Some(found) = first(computed, |name| FileFault::ComputedColumn { name })? {
        return Ok(Some(found));
    }
    let mut select = db.prepare(
        "SELECT i.name, s.sql FROM sqlite_schema m, pragma_index_list(m.name) i
           LEFT JOIN sqlite_schema s ON s.type = 'index' AND s.name = i.name
         WHERE m.type = 'table'
           AND (i.partial OR EXISTS (SELECT 1 FROM pragma_index_xinfo(i.name) WHERE cid = -2))",
    )?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let (name, sql): (String, Option<String>) = (row.get(0)?, row.get(1)?);
        if !sql.is_some_and(|sql| schema::is_ours(&sql)) {
            return Ok(Some(FileFault::ComputedIndex { name }));
        }
    }
    Ok(None)
}
