//! The limit on a log's size: its file and its WAL together never exceed it.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::stop::TransactionError;
use crate::log::error::{LogError, NoRoom};
use crate::sidecar;

/// The bytes of a WAL frame besides its page.
const FRAME_HEADER: u64 = 24;

/// The pages at the ends of tables and indexes, and those that lead to them: a transaction changes
/// them even if it adds only one event.
const ENDS: u64 = 20;

/// The WAL is emptied when there is no room for this many more pages.
const SPARE: u64 = 64;

/// The limit that was set.
pub(super) struct Space {
    /// The path as the user gave it.
    name: PathBuf,
    wal: PathBuf,
    most: u64,
    page: u64,
    /// How many pages the log had when the transaction began.
    began_with: u64,
    /// How many pages in the middle of an index the transaction may have changed.
    inside: u64,
}

impl Space {
    pub(super) fn new(log: &Path, most: u64, db: &Connection) -> rusqlite::Result<Self> {
        let page: i64 = db.pragma_query_value(None, "page_size", |r| r.get(0))?;
        let wal = sidecar::path(&sidecar::canonical(log), "-wal");
        let name = log.to_owned();
        Ok(Space { name, wal, most, page: page.unsigned_abs(), began_with: 0, inside: 0 })
    }

    /// Must be called before a transaction: empties the WAL if the room it takes is needed.
    pub(super) fn begin(&mut self, db: &Connection) -> Result<(), TransactionError> {
        self.inside = 0;
        self.began_with = pages(db)?;
        if self.wal() > 0 && self.peak_size(self.began_with, SPARE) > self.most {
            // Other readers may prevent it; then there is less room.
            db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(())
    }

    /// Counts pages in the middle of an index that may have changed.
    pub(super) fn count_changes(&mut self, pages: u64) {
        self.inside += pages;
    }

    /// Must be called in a transaction before it is committed, and now and then before that, since
    /// SQLite writes out the pages that it cannot keep in memory.
    pub(super) fn check(&self, db: &Connection) -> Result<(), TransactionError> {
        let now = pages(db)?;
        let changed = now.saturating_sub(self.began_with) + ENDS + self.inside;
        let needed = self.peak_size(now, changed.min(now));
        if needed <= self.most {
            return Ok(());
        }
        Err(TransactionError::Log(full(&self.name, self.most)))
    }

    /// The most that the files may take once `frames` more are in the WAL and all of it is in the
    /// file.
    fn peak_size(&self, pages: u64, frames: u64) -> u64 {
        pages * self.page + self.wal() + frames * (self.page + FRAME_HEADER)
    }

    fn wal(&self) -> u64 {
        std::fs::metadata(&self.wal).map_or(0, |file| file.len())
    }
}

/// Refuses to create a log that would exceed the limit before it holds anything.
pub(super) fn room_for_an_empty_log(
    log: &Path,
    most: u64,
    pages: u64,
    page: u64,
) -> Result<(), LogError> {
    let is_new = std::fs::metadata(log).map_or(true, |file| file.len() == 0);
    let needed = pages * page + pages * (page + FRAME_HEADER);
    if is_new && needed > most { Err(full(log, most)) } else { Ok(()) }
}

fn full(log: &Path, most: u64) -> LogError {
    LogError::Full { path: log.display().to_string(), why: NoRoom::Limit(most) }
}

fn pages(db: &Connection) -> rusqlite::Result<u64> {
    let mut count = db.prepare_cached("PRAGMA page_count")?;
    count.query_row([], |r| r.get::<_, i64>(0)).map(i64::unsigned_abs)
}
