//! The default backend: one SQLite file in WAL mode.

mod backup;
mod beginnings;
mod busy;
mod committer;
mod contents;
mod cut_off;
mod descriptors;
mod ends;
mod faults;
mod foreign;
mod guard;
mod header;
mod identity;
mod idle_readers;
mod index;
mod integrity;
mod journal;
mod known;
mod ledger;
mod loss;
mod open_file;
mod reader;
mod requests;
mod rows;
mod schema;
mod space;
mod sqlite_error;
mod stop;
mod unwritable;
mod wal;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

pub use backup::BackedUp;
pub use descriptors::HeldFile;
pub use foreign::{Cell, ForeignDatabase, ForeignError};
pub use header::CutLength;

use super::backend::{Backend, Committer, Lease, Reader};
use super::error::{LogError, Reworded};
use super::finding::{Fault, FileFault, Finding};
use super::format::FORMAT;
use super::high_water_mark::{self, HighWaterMarkFile};
use super::lease;
use crate::id::RunId;
use crate::sidecar;
use committer::Watch;
use guard::Fuel;
use identity::Identity;
use idle_readers::{IdleReaders, ReaderFile};
use loss::FilesBeside;
use open_file::OpenFile;
use space::Space;

/// How long to wait for another program's lock on the file.
const BUSY: Duration = Duration::from_secs(30);

/// With larger pages, a batch changes fewer of them, so that less is flushed.
const PAGE_BYTES: i64 = 16_384;

/// How far the WAL grows. It is small enough to be overwritten soon and often: flushing a file that
/// grows takes twice as long, and this much stays in the processor's cache.
const WAL_BYTES: i64 = 4 << 20;

/// Options for opening a log file.
#[derive(Debug, Clone, Default)]
pub struct SqliteOptions {
    /// Refuse to grow the file beyond this many bytes.
    pub max_bytes: Option<u64>,
    /// How long to wait for another program's lock; 30 s by default.
    pub busy: Option<Duration>,
}

/// A private copy of a log.
#[derive(Debug, Clone)]
pub struct LogCopy {
    /// Where the copy is.
    pub path: PathBuf,
    /// The log.
    pub of: PathBuf,
    /// The folder of the copy, which is removed with the last that reads it.
    pub folder: Arc<dyn CopyFolder>,
}

/// Holds the folder of a copy for as long as it is read.
pub trait CopyFolder: Send + Sync + std::fmt::Debug {}

/// A log in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteBackend {
    path: PathBuf,
    /// For a private copy: the log that it is a copy of, which messages name.
    copy: Option<LogCopy>,
    /// What is wrong with the file, although it can be read.
    damaged: Option<FileFault>,
    /// Connections for the next readers.
    idle: Arc<IdleReaders>,
    options: SqliteOptions,
    /// What the log once held and no longer does; if there is anything, nobody may write to it.
    lost: Arc<[Finding]>,
    /// Whether the WAL is merged when the file is closed; not if something was lost.
    merges: bool,
    /// Whether the file is read without its WAL, which is damaged but was merged before.
    reads_alone: bool,
    /// Whether a file without tables must have lost them.
    has_lost_tables_if_none: bool,
    /// The folder of a log that is only kept for a while; it is removed with the last of its users.
    scratch: Option<Arc<TempDir>>,
    /// Whether the file, its WAL and its folder are left as they are.
    only_looks: bool,
    /// What is wrong with its schema, if that does not keep it from being read.
    malformed: Option<Arc<FileFault>>,
}

impl SqliteBackend {
    fn at(path: &Path, options: SqliteOptions) -> Self {
        SqliteBackend {
            path: path.to_owned(),
            copy: None,
            damaged: None,
            idle: Arc::default(),
            options,
            lost: Arc::default(),
            merges: true,
            reads_alone: false,
            has_lost_tables_if_none: false,
            scratch: None,
            only_looks: false,
            malformed: None,
        }
    }

    fn at_copy(copy: LogCopy, options: SqliteOptions) -> Self {
        let at = SqliteBackend::at(&copy.path, options);
        SqliteBackend { copy: Some(copy), ..at }
    }

    /// Opens a log for reading and appending; creates it if it does not exist.
    ///
    /// # Errors
    /// [`LogError`]: it is not a log, has a newer format, or cannot be written.
    pub fn open_or_create(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        let is_new = !path.exists();
        let backend = SqliteBackend::at(path, options);
        backend.refuse_special_files()?;
        backend.has_room_to_begin()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        backend.begin(is_new, |backend| {
            if backend.reads_alone {
                backend.alone()
            } else {
                backend.make(backend.to_write(flags)?)
            }
        })
    }

    /// Whether a file that begins with these bytes is a log.
    pub fn is_log(begin: &[u8]) -> bool {
        let id = schema::APPLICATION_ID.to_be_bytes();
        begin.starts_with(b"SQLite format 3\0") && begin.get(68..72) == Some(&id[..])
    }

    /// Keeps what is read of a file, for as long as this is held or the file is open: what looks at it
    /// before it is opened need not open it again each time.
    pub fn hold(path: &Path) -> HeldFile {
        HeldFile::new(path)
    }

    /// If a log was cut off: its lengths.
    pub fn cut_off(path: &Path) -> Option<CutLength> {
        header::cut_off(path)
    }

    /// Creates a log in a folder of its own, which is removed with it.
    pub(super) fn scratch() -> Result<Self, LogError> {
        let failed = |source: std::io::Error| {
            let words = format!("{source}; set TMPDIR to use another folder");
            LogError::failed("a temporary folder", Reworded { words, source })
        };
        let folder = tempfile::Builder::new().prefix("retold-").tempdir().map_err(failed)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let at = Self::at(&folder.path().join("scratch.db"), SqliteOptions::default());
        let scratch = SqliteBackend { scratch: Some(Arc::new(folder)), ..at };
        scratch.begin(true, |backend| backend.make(backend.to_write(flags)?))
    }

    /// Opens an existing log; in a read-only location, for reading only.
    ///
    /// # Errors
    /// [`LogError`]: it is missing, is not a log, or has a newer format.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        if !path.exists() && !Self::is_gone(path)? {
            return Err(LogError::Missing { path: path.display().to_string() });
        }
        // A process that was killed while creating the file may have left one without tables: they
        // are created now.
        let backend = SqliteBackend::at(path, options);
        backend.refuse_special_files()?;
        backend.although_malformed(|backend| {
            backend.begin(false, |backend| backend.to_read(|db| backend.make(db)))
        })
    }

    /// Opens an existing log to be looked at, perhaps while others write to it: nothing is written to
    /// the file, its WAL or its folder, not even what opening a log may mend or copy.
    ///
    /// # Errors
    /// [`LogError`]: it is missing, is not a log, or has a newer format. [`LogError::Unmerged`] if
    /// the latest events are in a WAL that cannot be read without writing beside it.
    pub fn open_unchanged(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        if !path.exists() && !Self::is_gone(path)? {
            return Err(LogError::Missing { path: path.display().to_string() });
        }
        let backend = SqliteBackend { only_looks: true, ..SqliteBackend::at(path, options) };
        backend.refuse_special_files()?;
        backend.although_malformed(|backend| backend.begin(false, SqliteBackend::only_reading))
    }

    /// Opens a private copy of a log to be read. What is beside it is not copied once more, and
    /// messages name the log and not the copy.
    ///
    /// # Errors
    /// [`LogError`]: it is not a log, or has a newer format.
    pub fn open_copy(copy: LogCopy, options: SqliteOptions) -> Result<Self, LogError> {
        SqliteBackend::at_copy(copy, options).although_malformed(|backend| {
            let beside = FilesBeside::read(&backend.path, false)?;
            backend.begin_with(beside, false, |backend| backend.to_read(|db| backend.ready(db)))
        })
    }

    /// Opens a file. If what is wrong with it is an entry of its schema, such as the text of a trigger,
    /// it is opened without that: the tables may be as they were.
    fn although_malformed(
        self,
        open: impl Fn(Self) -> Result<Self, LogError>,
    ) -> Result<Self, LogError> {
        match open(self.clone()) {
            Err(error) => match error {
                LogError::Damaged { ref fault, .. } => match &**fault {
                    Fault::File(malformed @ FileFault::Schema { .. }) => {
                        let malformed = Some(Arc::new(malformed.clone()));
                        open(SqliteBackend { malformed, ..self }).map_err(|_| error)
                    }
                    _ => Err(error),
                },
                _ => Err(error),
            },
            opened => opened,
        }
    }

    /// Refuses what SQLite would take for something else: a pipe or a device for a failing disk, and
    /// a file of one byte for an empty one, which it would overwrite.
    fn refuse_special_files(&self) -> Result<(), LogError> {
        let refused =
            |reason: &str| Err(LogError::NotALog { path: self.name(), reason: reason.to_owned() });
        match std::fs::metadata(&self.path) {
            Ok(found) if found.is_dir() => {
                Err(LogError::cannot_open(self.name(), "it is a folder"))
            }
            Ok(found) if !found.is_file() => refused("it is not a regular file"),
            Ok(found) if found.is_file() && found.len() == 1 => refused("it has a single byte"),
            _ => Ok(()),
        }
    }

    /// The limit applies from the first byte.
    fn has_room_to_begin(&self) -> Result<(), LogError> {
        let Some(most) = self.options.max_bytes else { return Ok(()) };
        let pages = schema::pages_of_an_empty_log(PAGE_BYTES).map_err(|e| self.error(e))?;
        space::room_for_an_empty_log(&self.path, most, pages, PAGE_BYTES.unsigned_abs())
    }

    fn busy(&self) -> Duration {
        self.options.busy.unwrap_or(BUSY)
    }

    fn open_file(&self, path: &Path, flags: OpenFlags) -> Result<OpenFile, LogError> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut db = OpenFile::open(path, &self.path, flags).map_err(|e| self.error(e))?;
        if self.malformed.is_some() {
            guard::skip_malformed(&db).map_err(|e| self.error(e))?;
        }
        let guarded = guard::restrict(&db).and_then(|()| Fuel::new(&mut db, self.bytes()));
        guarded.map_err(|e| self.error(e))?;
        busy::take_turns(&mut db, self.busy()).map_err(|e| self.error(e))?;
        let keep = db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !self.merges);
        keep.map_err(|e| self.error(e))?;
        Ok(db)
    }

    /// Opens a file that we may write.
    fn to_write(&self, flags: OpenFlags) -> Result<OpenFile, LogError> {
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
    fn to_read(
        &self,
        ready: impl FnOnce(OpenFile) -> Result<OpenFile, LogError>,
    ) -> Result<OpenFile, LogError> {
        if self.reads_alone {
            return self.alone();
        }
        if self.only_looks {
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
    fn bytes(&self) -> u64 {
        let whole = sidecar::canonical(&self.path);
        let files = [sidecar::path(&whole, "-wal"), whole];
        files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum()
    }

    /// SQLite opens a file that it cannot write for reading, and reports that only on the first
    /// write.
    fn is_read_only(&self, db: &Connection) -> Result<bool, LogError> {
        db.is_readonly("main").map_err(|e| self.error(e))
    }

    /// Makes sure that appends are stored as we expect: in tables that are ours, and in a WAL.
    fn can_be_written(&self, db: &Connection) -> Result<(), LogError> {
        if let Some(damaged) = self.header_is_damaged() {
            return Err(damaged);
        }
        if let Some(malformed) = &self.malformed {
            return Err(LogError::damaged(self.name(), FileFault::clone(malformed)));
        }
        let stranger = || schema::stranger_to_writers(db).map_err(|e| self.error(e));
        if let Some(fault) = unsealed(db).map_or_else(stranger, |fault| Ok(Some(fault)))? {
            return Err(LogError::damaged(self.name(), fault));
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
    fn make(&self, mut db: OpenFile) -> Result<OpenFile, LogError> {
        if self.has_lost_tables_if_none {
            let tables = "SELECT count(*) FROM sqlite_schema";
            let tables: i64 = db.query_row(tables, [], |r| r.get(0)).map_err(|e| self.error(e))?;
            if tables == 0 {
                return Err(LogError::lost(self.name(), FileFault::NoTables));
            }
        }
        // Another process may be creating it.
        let made = busy::until_free(self.busy(), || self.create(&mut db));
        made.map_err(|e| self.error(e))?;
        self.ready(db)
    }

    /// Makes sure that the file is a log, and sets up what all connections share.
    fn ready(&self, db: OpenFile) -> Result<OpenFile, LogError> {
        let ready = || -> rusqlite::Result<Result<(), LogError>> {
            if let Err(wrong) = self.check(&db)? {
                return Ok(Err(wrong));
            }
            let synchronous = if self.scratch.is_some() { "OFF" } else { "FULL" };
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
    fn create(&self, db: &mut Connection) -> rusqlite::Result<()> {
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
            let _ = high_water_mark::forget(&self.path, |_| true);
            write.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
            schema::make(&write)?;
        }
        write.commit()
    }

    /// Whether the file is a log that we can read.
    fn check(&self, db: &Connection) -> rusqlite::Result<Result<(), LogError>> {
        let path = self.name();
        let damaged = |fault: FileFault| Ok(Err(LogError::damaged(self.name(), fault)));
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
}

/// What is wrong with the format that the file states, if it can be read at all.
fn unsealed(db: &Connection) -> Option<FileFault> {
    schema::unsealed(db).ok().flatten()
}

impl Backend for SqliteBackend {
    fn name(&self) -> String {
        self.copy.as_ref().map_or(&self.path, |copy| &copy.of).display().to_string()
    }

    fn file(&self) -> Option<&Path> {
        // Nobody else can change one that is only kept for a while.
        let file = self.copy.as_ref().map_or(&*self.path, |copy| &copy.of);
        self.scratch.is_none().then_some(file)
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        lease::take(&self.path, run)
    }

    fn lost(&self) -> Vec<Finding> {
        self.lost.to_vec()
    }

    fn damaged(&self) -> Option<Finding> {
        self.damaged.clone().map(Finding::of_file)
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        if self.only_looks || self.copy.is_some() {
            return Err(LogError::cannot_open(self.name(), "it was opened to be read only"));
        }
        self.refuse_after_a_loss()?;
        let mut db = self.ready(self.to_write(OpenFlags::SQLITE_OPEN_READ_WRITE)?)?;
        let identity = Identity::new(&self.path);
        self.can_be_written(&db)?;
        let fuel = Fuel::new(&mut db, self.bytes()).map_err(|e| self.error(e))?;
        let tune = || -> rusqlite::Result<Option<Space>> {
            // Pages are filled one after the other: a larger cache would only be more memory to
            // clear.
            db.pragma_update(None, "cache_size", -4096)?;
            let size: i64 = db.pragma_query_value(None, "page_size", |r| r.get(0))?;
            db.pragma_update(None, "wal_autocheckpoint", WAL_BYTES / size)?;
            if let Some(max) = self.options.max_bytes {
                let max = i64::try_from(max).unwrap_or(i64::MAX);
                db.pragma_update(None, "max_page_count", (max / size).max(1))?;
            }
            self.options.max_bytes.map(|most| Space::new(&self.path, most, &db)).transpose()
        };
        let space = tune().map_err(|e| self.error(e))?;
        let marks = HighWaterMarkFile::open(&self.path)?;
        let watch = Watch { identity, fuel, space };
        let waited = busy::take_turns(&mut db, self.busy()).map_err(|e| self.error(e))?;
        let committer = committer::SqliteCommitter::new(db, self.clone(), marks, watch, waited);
        Ok(Box::new(committer))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        let (db, fuel) = match self.idle.take(&self.path) {
            Some(waiting) => waiting,
            None => self.tuned(self.to_read(|db| self.ready(db))?)?,
        };
        // One that only reads may have been told that nobody writes.
        let sees_others = !self.only_looks && !self.reads_alone && !self.is_read_only(&db)?;
        let file = match sees_others {
            true => self.idle.lend(db, fuel, &self.path),
            false => ReaderFile::closing(db, fuel),
        };
        Ok(Box::new(reader::SqliteReader::new(file, self.clone())))
    }
}

impl SqliteBackend {
    /// Sets a connection up for a reader.
    fn tuned(&self, mut db: OpenFile) -> Result<(OpenFile, Fuel), LogError> {
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
