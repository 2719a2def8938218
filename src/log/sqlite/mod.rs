//! The default backend: one SQLite file in WAL mode.

mod committer;
mod contents;
mod integrity;
mod known;
mod reader;
mod schema;
mod stop;
mod turns;
mod unwritable;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

pub use schema::{FORMAT, Format};

use super::backend::{Backend, Committer, Lease, Reader};
use super::error::LogError;
use super::lease;
use crate::id::RunId;

/// How long to wait for another program's lock on the file.
const BUSY: Duration = Duration::from_secs(30);

/// Fewer pages are changed by a batch than with smaller ones, so that less is flushed.
const PAGE_BYTES: i64 = 16_384;

/// How far the WAL grows. Small enough to be written over soon and often: a file that grows is
/// flushed in twice the time, and this much stays in the processor's cache.
const WAL_BYTES: i64 = 4 << 20;

/// How a log file is opened.
#[derive(Debug, Clone, Default)]
pub struct SqliteOptions {
    /// Refuse to grow the file beyond this many bytes.
    pub max_bytes: Option<u64>,
    /// How long to wait for another program's lock; 30 s if not given.
    pub busy: Option<Duration>,
}

/// A log in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteBackend {
    path: PathBuf,
    options: SqliteOptions,
}

impl SqliteBackend {
    /// Opens a log for reading and appending; makes it if there is none.
    ///
    /// # Errors
    /// [`LogError`]: not a log, a newer format, not writable.
    pub fn open_or_create(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        let backend = SqliteBackend { path: path.to_owned(), options };
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        backend.make(backend.to_write(flags)?)?;
        Ok(backend)
    }

    /// Opens a log that must exist; where nothing may be written, for reading only.
    ///
    /// # Errors
    /// [`LogError`]: missing, not a log, a newer format.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        if !path.exists() {
            return Err(LogError::Missing { path: path.display().to_string() });
        }
        let backend = SqliteBackend { path: path.to_owned(), options };
        // A process that was killed while it made the file may have left one without tables: they are
        // made now.
        backend.to_read(|db| backend.make(db))?;
        Ok(backend)
    }

    fn busy(&self) -> Duration {
        self.options.busy.unwrap_or(BUSY)
    }

    fn open_file(&self, path: &Path, flags: OpenFlags) -> Result<Connection, LogError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = Connection::open_with_flags(path, flags).map_err(|e| self.error(&e))?;
        turns::take_turns(&mut db, self.busy()).map_err(|e| self.error(&e))?;
        Ok(db)
    }

    /// A file that we may write.
    fn to_write(&self, flags: OpenFlags) -> Result<Connection, LogError> {
        let db = self.open_file(&self.path, flags)?;
        match self.is_read_only(&db)? {
            true => {
                let reason = "it may only be read".to_owned();
                Err(LogError::CannotOpen { path: self.name(), reason })
            }
            false => Ok(db),
        }
    }

    /// A connection that can read: made `ready` as one that can write, if we may.
    fn to_read(
        &self,
        ready: impl FnOnce(Connection) -> Result<Connection, LogError>,
    ) -> Result<Connection, LogError> {
        let db = self.open_file(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        if !self.is_read_only(&db)? {
            match ready(db) {
                // The file may be written, and its folder may not.
                Err(LogError::CannotOpen { .. }) => {}
                other => return other,
            }
        }
        self.only_reading()
    }

    /// SQLite opens what it cannot write for reading, and says so only when it is to write.
    fn is_read_only(&self, db: &Connection) -> Result<bool, LogError> {
        db.is_readonly("main").map_err(|e| self.error(&e))
    }

    /// Makes a log of a file, unless it is one.
    fn make(&self, mut db: Connection) -> Result<Connection, LogError> {
        // Another process may be making it.
        let made = turns::until_free(self.busy(), || self.create(&mut db));
        made.map_err(|e| self.error(&e))?;
        self.ready(db)
    }

    /// Makes sure that the file is a log, and sets up what all connections have.
    fn ready(&self, db: Connection) -> Result<Connection, LogError> {
        let ready = || -> rusqlite::Result<Result<(), LogError>> {
            if let Err(wrong) = self.check(&db)? {
                return Ok(Err(wrong));
            }
            db.pragma_update(None, "synchronous", "FULL")?;
            db.pragma_update(None, "temp_store", "MEMORY")?;
            db.set_prepared_statement_cache_capacity(64);
            // Or a statement is prepared anew whenever the values of a range change.
            db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
            Ok(Ok(()))
        };
        ready().map_err(|e| self.error(&e))??;
        Ok(db)
    }

    /// Makes the tables, unless the file has any already.
    fn create(&self, db: &mut Connection) -> rusqlite::Result<()> {
        let tables: i64 = db.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        if tables > 0 {
            return Ok(());
        }
        db.pragma_update(None, "page_size", PAGE_BYTES)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        let write = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        // Another process may have made them while we waited.
        let tables: i64 =
            write.query_row("SELECT count(*) FROM sqlite_schema", [], |r| r.get(0))?;
        if tables == 0 {
            write.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
            write.execute_batch(schema::SCHEMA)?;
            let format = FORMAT.to_string();
            let seal = schema::seal(&format);
            let rows = [("format", format), ("seal", seal)];
            for row in rows {
                write.execute("INSERT INTO meta (name, value) VALUES (?1, ?2)", row)?;
            }
            for (_, sql) in schema::triggers() {
                write.execute_batch(&sql)?;
            }
        }
        write.commit()
    }

    /// Whether the file is a log that we can read.
    fn check(&self, db: &Connection) -> rusqlite::Result<Result<(), LogError>> {
        let path = self.name();
        let damaged = |what: String| Ok(Err(LogError::Damaged { path: self.name(), what }));
        let id: i32 = db.pragma_query_value(None, "application_id", |r| r.get(0))?;
        if id != schema::APPLICATION_ID {
            let reason = "it is an SQLite file of another program".to_owned();
            return Ok(Err(LogError::NotALog { path, reason }));
        }
        // A view by the name of a table can be read without end.
        let other = "SELECT name FROM sqlite_schema
            WHERE name = ?1 AND (type <> 'table' OR sql LIKE 'CREATE VIRTUAL%')";
        for (table, _) in schema::TABLES {
            if db.prepare(other)?.exists([table])? {
                return damaged(format!("{table} is no table"));
            }
        }
        let format = "SELECT value FROM meta WHERE name = 'format'";
        let format: Option<String> = db.query_row(format, [], |r| r.get(0)).optional()?;
        let Some(format) = format else {
            return damaged("its table meta names no format".to_owned());
        };
        let Ok(found) = format.parse::<Format>() else {
            return damaged(format!("its format {format:?} is no major.minor"));
        };
        if found.major > FORMAT.major {
            let supported = FORMAT.to_string();
            return Ok(Err(LogError::NewerFormat { path, found: format, supported }));
        }
        Ok(Ok(()))
    }

    /// What an SQLite error means for the log.
    fn error(&self, error: &rusqlite::Error) -> LogError {
        let path = self.name();
        let reason = said(error);
        if turns::is_locked(error) {
            return LogError::Busy { path, seconds: self.busy().as_secs() };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => LogError::Full {
                path,
                reason: match self.options.max_bytes {
                    Some(max) => {
                        format!("the disk is full, or the limit of {max} bytes is reached")
                    }
                    None => "the disk is full".to_owned(),
                },
            },
            Some(ErrorCode::NotADatabase) => {
                LogError::NotALog { path, reason: "it is not an SQLite file".to_owned() }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                LogError::CannotOpen { path, reason }
            }
            // Our questions fit every log: an error in one, or a value of another type, is the file's.
            None | Some(ErrorCode::DatabaseCorrupt) => LogError::Damaged { path, what: reason },
            Some(_) if is_ill_asked(error) => LogError::Damaged { path, what: reason },
            _ => LogError::Failed { path, reason },
        }
    }
}

/// Whether a question has no answer in this file: it names a table or column that is not there.
fn is_ill_asked(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|e| e.extended_code & 0xff == rusqlite::ffi::SQLITE_ERROR)
}

/// What SQLite says, without the question.
fn said(error: &rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}

impl Backend for SqliteBackend {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        lease::take(&self.path, run)
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        let db = self.ready(self.to_write(OpenFlags::SQLITE_OPEN_READ_WRITE)?)?;
        let tune = || -> rusqlite::Result<()> {
            // Pages are filled one after the other: a larger cache would be memory to clear, and no use.
            db.pragma_update(None, "cache_size", -4096)?;
            let size: i64 = db.pragma_query_value(None, "page_size", |r| r.get(0))?;
            db.pragma_update(None, "wal_autocheckpoint", WAL_BYTES / size)?;
            if let Some(max) = self.options.max_bytes {
                let max = i64::try_from(max).unwrap_or(i64::MAX);
                db.pragma_update(None, "max_page_count", (max / size).max(1))?;
            }
            Ok(())
        };
        tune().map_err(|e| self.error(&e))?;
        Ok(Box::new(committer::SqliteCommitter::new(db, self.clone())))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        let db = self.to_read(|db| self.ready(db))?;
        // Runs are read from end to end: pages that are used again at once stay in the processor's cache,
        // which a large cache of pages that are never asked for again does not.
        let tune = db.pragma_update(None, "cache_size", -4096);
        tune.map_err(|e| self.error(&e))?;
        Ok(Box::new(reader::SqliteReader::new(db, self.clone())))
    }
}
