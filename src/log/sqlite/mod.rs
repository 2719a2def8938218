//! The default backend: one SQLite file in WAL mode.

mod beginnings;
mod busy;
mod committer;
mod connection;
mod contents;
mod descriptors;
mod ending;
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
mod ledger;
mod loss;
mod open_file;
mod opening;
mod reader;
mod requests;
mod rows;
mod schema;
mod space;
mod sqlite_error;
mod stop;
mod stored_ids;
mod stored_kinds;
mod unwritable;
mod wal;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::OpenFlags;

pub use descriptors::HeldFile;
pub use ending::close_all;
pub use foreign::{Cell, ForeignDatabase, ForeignError};

use super::backend::{Backend, Committer, Lease, Reader, StoreInfo};
use super::error::LogError;
use super::finding::{FileFault, Finding};
use super::high_water_mark::HighWaterMarkFile;
use super::last_writer::LastWriter;
use super::lease;
use crate::id::RunId;
use crate::scratch_folder::ScratchFolder;
use committer::Watch;
use guard::Fuel;
use identity::Identity;
use idle_readers::{IdleReaders, ReaderFile};
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

/// What a log's file is opened for.
#[derive(Debug, Clone)]
enum FileUse {
    /// It is read and appended to by any number of processes.
    Shared,
    /// It is looked at: the file, its WAL and its folder are left as they are.
    Looked,
    /// It is only kept for a while: its folder is removed with the last of its users.
    Scratch(#[expect(dead_code, reason = "it is held until then")] Arc<ScratchFolder>),
}

/// What becomes of a log's WAL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalUse {
    /// It is merged when the file is closed.
    Merged,
    /// It is read and left as it is, since something may have been lost.
    Kept,
    /// It is damaged, and was merged before: the file is read without it.
    Ignored,
}

/// A log in one SQLite file.
#[derive(Debug, Clone)]
pub struct SqliteBackend {
    path: PathBuf,
    use_of_file: FileUse,
    /// What is wrong with the file, although it can be read.
    damaged: Option<FileFault>,
    /// Connections for the next readers.
    idle: Arc<IdleReaders>,
    options: SqliteOptions,
    /// What the log once held and no longer does; if there is anything, nobody may write to it.
    lost: Arc<[Finding]>,
    wal_use: WalUse,
    /// What is beside the file shows that it had tables: if there are none, they are lost.
    had_tables: bool,
    /// What is wrong with its schema or its length, if that does not keep it from being read.
    defect: Option<Arc<FileFault>>,
}

impl Backend for SqliteBackend {
    fn info(&self) -> StoreInfo {
        // Nobody else can change a file that is only kept for a while.
        let is_scratch = matches!(self.use_of_file, FileUse::Scratch(_));
        StoreInfo {
            name: self.name(),
            file: (!is_scratch).then(|| self.path.clone()),
            losses: self.lost.to_vec(),
            damage: self.damaged.clone().map(Finding::of_file),
        }
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        lease::take(&self.path, run)
    }

    /// The lease says who writes a run now; rows do not say who wrote them.
    fn last_writer(&self, _run: RunId) -> Result<Option<LastWriter>, LogError> {
        Ok(None)
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        if matches!(self.use_of_file, FileUse::Looked) {
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
            None => self.tune(self.to_read(|db| self.ready(db))?)?,
        };
        // One that only reads may have been told that nobody writes.
        let sees_others = !matches!(self.use_of_file, FileUse::Looked)
            && self.wal_use != WalUse::Ignored
            && !self.is_read_only(&db)?;
        let file = match sees_others {
            true => self.idle.lend(db, fuel, &self.path),
            false => ReaderFile::closing(db, fuel),
        };
        Ok(Box::new(reader::SqliteReader::new(file, self.clone())))
    }
}

impl SqliteBackend {
    fn name(&self) -> String {
        self.path.display().to_string()
    }
}
