//! Reading a file in a read-only location.
//!
//! Even a reader of a log in WAL mode writes: it creates `-shm` (and `-wal`) beside the log, and
//! becomes their owner. So a process that may not write the log must not create them either, even
//! if the folder allows it: the writer could not open them any more.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use rusqlite::OpenFlags;

use super::SqliteBackend;
use super::open_file::OpenFile;
use crate::log::error::LogError;
use crate::sidecar::{self, canonical};

/// The files beside a file that we only read.
enum WalBeside {
    /// Files shared by the processes that have it open, or had it open when they died: read as
    /// usual.
    Shared,
    /// Events that are not in the file yet, without the index that processes share to read them: nobody has it open.
    Unmerged,
    /// Nothing: the file is complete.
    Nothing,
}

impl SqliteBackend {
    /// A connection that reads and never writes.
    pub(super) fn only_reading(&self) -> Result<OpenFile, LogError> {
        // By its canonical path: the other files are beside the file, not beside a link to it.
        let whole = canonical(&self.path);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        match wal_beside(&whole) {
            WalBeside::Shared => self.ready(self.open_file(&whole, flags)?),
            WalBeside::Unmerged => self.with_index_in_memory(&whole),
            // If another user begins to write now, we do not see it.
            WalBeside::Nothing => self.alone(),
        }
    }

    /// A connection that reads the file as if there were nothing beside it.
    pub(super) fn alone(&self) -> Result<OpenFile, LogError> {
        let whole = canonical(&self.path);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.ready(self.open_file(Path::new(&uri(&whole, NO_CHANGES)), flags)?)
    }

    /// A connection that reads the file and its WAL, whose index SQLite keeps in memory: it does so for the only user of a
    /// file ([WAL without shared memory](https://sqlite.org/wal.html#noshm)). Nothing is locked, so that the file
    /// need not be writable, and nothing is merged.
    fn with_index_in_memory(&self, whole: &Path) -> Result<OpenFile, LogError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let db = self.open_file(Path::new(&uri(whole, NO_LOCKS)), flags)?;
        db.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(|e| self.error(e))?;
        self.ready(db)
    }
}

/// SQLite's way to read a file that does not change, as if there were nothing beside it.
pub(super) const NO_CHANGES: &str = "immutable=1";

/// Its way to use a file without locks.
pub(super) const NO_LOCKS: &str = if cfg!(windows) { "vfs=win32-none" } else { "vfs=unix-none" };

fn wal_beside(log: &Path) -> WalBeside {
    let named = |suffix: &str| fs::metadata(sidecar::path(log, suffix));
    match (named("-wal"), named("-shm")) {
        (Ok(_), Ok(_)) => WalBeside::Shared,
        (Ok(wal), Err(_)) if wal.len() > 0 => WalBeside::Unmerged,
        _ => WalBeside::Nothing,
    }
}

/// The URI of a file, with the way in which SQLite opens it.
pub(super) fn uri(path: &Path, query: &str) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            // Writing to a string cannot fail.
            byte => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri + "?" + query
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_add_to_the_query_string_after_it() {
        assert_eq!(
            uri(Path::new("/a b/50%?mode=rwc#é.db"), NO_CHANGES),
            "file:/a%20b/50%25%3Fmode%3Drwc%23%C3%A9.db?immutable=1"
        );
    }
}
