//! Connections to a log's file: to read or to write, checked and set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::guard::{self, Fuel};
use super::open_file::OpenFile;
use super::{BUSY, FileUse, PAGE_BYTES, SqliteBackend, WalUse, busy, ending, journal, schema};
use crate::log::error::LogError;
use crate::log::finding::FileFault;
use crate::log::format::FORMAT;
use crate::log::high_water_mark;
use crate::sidecar;

impl SqliteBackend {
    pub(super) fn busy(&self) -> Duration {
        self.options.busy.unwrap_or(BUSY)
    }

    pub(super) fn open_file(&self, path: &Path, flags: OpenFlags) -> Result<OpenFile, LogError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = OpenFile::open(path, &self.path, flags).map_err(|e| self.error(e))?;
        let guarded = guard::restrict(&db, self.defect.as_deref())
            .and_then(|()| Fuel::new(&mut db, self.bytes()));
        guarded.map_err(|e| self.error(e))?;
        busy::take_turns(&mut db, self.busy()).map_err(|e| self.error(e))?;
        let keep = db.set_db_config(
            DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE,
            self.wal_use != WalUse::Merged,
        );
        keep.map_err(|e| self.error(e))?;
        Ok(db)
    }

    /// Opens a file that we may write.
    pub(super) fn to_write(&self, flags: OpenFlags) -> Result<OpenFile, LogError> {
        ending::will_write();
        let db = self.open_file(&self.path, flags)?;
        if self.is_read_only(&db)? {
            Err(self
                .header_is_damaged()
                .unwrap_or_else(|| LogError::cannot_open(self.name(), "it is read-only")))
        } else {
            Ok(db)
        }
    }

    /// A connection that can read, set up like one that can write if we may write.
    pub(super) fn to_read(
        &self,
        ready: impl FnOnce(OpenFile) -> Result<OpenFile, LogError>,
    ) -> Result<OpenFile, LogError> {
        if self.wal_use == WalUse::Ignored {
            return self.alone();
        }
        if matches!(self.use_of_file, FileUse::Looked) {
            return self.only_reading();
        }
        let db = self.open_file(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if !self.is_read_only(&db)? {
            match ready(db) {
                // The file may be writable although its folder is not.
                Err(LogError::CannotOpen { .. }) => {}
                other => return other,
            }
        }
        self.only_reading()
    }

    /// The size of the log, including its WAL.
    pub(super) fn bytes(&self) -> u64 {
        let whole = sidecar::canonical(&self.path);
        let files = [sidecar::path(&whole, "-wal"), whole];
        files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum()
    }

    /// SQLite opens a file that it cannot write for reading, and reports that only on the first
    /// write.
    pub(super) fn is_read_only(&self, db: &Connection) -> Result<bool, LogError> {
        db.is_readonly("main").map_err(|e| self.error(e))
    }

    /// Makes sure that appends are stored as we expect: in tables that are ours, and in a WAL.
    pub(super) fn can_be_written(&self, db: &Connection) -> Result<(), LogError> {
        if let Some(damaged) = self.header_is_damaged() {
            return Err(damaged);
        }
        if let Some(defect) = &self.defect {
            return Err(LogError::damage(self.name(), FileFault::clone(defect)));
        }
        let stranger = || schema::stranger_to_writers(db).map_err(|e| self.error(e));
        if let Some(fault) = format_fault(db).map_or_else(stranger, |fault| Ok(Some(fault)))? {
            return Err(LogError::damage(self.name(), fault));
        }
        let mut mode = String::new();
        let switched = busy::until_free(self.busy(), || {
            mode = journal::to_wal(db)?;
            Ok(())
        });
        switched.map_err(|e| self.error(e))?;
        match mode.as_str() {
            "wal" => Ok(()),
            _ => Err(LogError::NoWal { path: self.name(), mode }),
        }
    }

    /// Turns a file into a log, unless it is one.
    pub(super) fn make(&self, mut db: OpenFile) -> Result<OpenFile, LogError> {
        if self.had_tables {
            let tables = "SELECT count(*) FROM sqlite_schema";
            let tables: i64 = db.query_row(tables, [], |r| r.get(0)).map_err(|e| self.error(e))?;
            if tables == 0 {
                return Err(LogError::loss(self.name(), FileFault::NoTables));
            }
        }
        // Another process may be creating it.
        let made = busy::until_free(self.busy(), || self.create(&mut db));
        made.map_err(|e| self.error(e))?;
        self.ready(db)
    }

    /// Makes sure that the file is a log, and sets up what all connections share.
    pub(super) fn ready(&self, db: OpenFile) -> Result<OpenFile, LogError> {
        let ready = || -> rusqlite::Result<Result<(), LogError>> {
            if let Err(wrong) = self.check(&db)? {
                return Ok(Err(wrong));
            }
            let synchronous = match self.use_of_file {
                FileUse::Scratch(_) => "OFF",
                _ => "FULL",
            };
            db.pragma_update(None, "synchronous", synchronous)?;
            db.pragma_update(None, "temp_store", "MEMORY")?;
            db.set_prepared_statement_cache_capacity(64);
            // Otherwise a statement is prepared again whenever the values of a range change.
            db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            Ok(Ok(()))
        };
        ready().map_err(|e| self.error(e))??;
        Ok(db)
    }

    /// Creates the tables, unless the file has some already.
    pub(super) fn create(&self, db: &mut Connection) -> rusqlite::Result<()> {
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        if tables > 0 {
            return Ok(());
        }
        db.pragma_update(None, "page_size", PAGE_BYTES)?;
        // If the mode does not change, the first write reports it.
        journal::to_wal(db)?;
        let write = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have created them while we waited.
        let tables: i64 =
            write.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        if tables == 0 {
            // An existing mark belongs to a log that is gone. If it cannot be changed, writing will
            // fail.
            let _ = high_water_mark::forget(&self.path);
            write.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
            schema::make(&write)?;
        }
        write.commit()
    }

    /// Whether the file is a log that we can read.
    pub(super) fn check(&self, db: &Connection) -> rusqlite::Result<Result<(), LogError>> {
        let path = self.name();
        let damaged = |fault: FileFault| Ok(Err(LogError::damage(self.name(), fault)));
        let id: i32 = db.pragma_query_value(None, "application_id", |r| r.get(0))?;
        if id != schema::APPLICATION_ID {
            if let Some(damaged) = self.header_is_damaged() {
                return Ok(Err(damaged));
            }
            let reason = "it is another program's SQLite file".to_owned();
            return Ok(Err(LogError::NotALog { path, reason }));
        }
        // A view with the name of a table could be endless.
        let other = "SELECT name FROM sqlite_schema
            WHERE name = ?1 AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')";
        for (table, _) in schema::TABLES {
            if db.prepare(other)?.exists([table])? {
                return damaged(FileFault::NotATable { name: (*table).to_owned() });
            }
        }
        if let Some(fault) = guard::stranger(db)? {
            return damaged(fault);
        }
        Ok(match schema::other_format(db)? {
            Some(found) => Err(LogError::NewerFormat { path, found, supported: FORMAT }),
            None => Ok(()),
        })
    }

    /// Sets a connection up for a reader.
    pub(super) fn tune(&self, mut db: OpenFile) -> Result<(OpenFile, Fuel), LogError> {
        let fuel = Fuel::new(&mut db, self.bytes()).map_err(|e| self.error(e))?;
        // Runs are read from end to end. Pages that are used again at once stay in the processor's
        // cache; a large page cache would be full of pages that are never needed again.
        let tune = db.pragma_update(None, "cache_size", -4096);
        // A page with impossible rows is refused when it is met. Otherwise a scan ends early there,
        // and a look-up finds other rows than a scan.
        let tune = tune.and_then(|()| db.pragma_update(None, "cell_size_check", true));
        tune.map_err(|e| self.error(e))?;
        Ok((db, fuel))
    }
}

/// What is wrong with the format that the file states, if it can be read at all.
fn format_fault(db: &Connection) -> Option<FileFault> {
    schema::format_fault(db).ok().flatten()
}
