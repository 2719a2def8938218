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
    /// Events that are not in the file yet, without the index needed to read them.
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
            WalBeside::Unmerged => Err(LogError::Unmerged { path: whole.display().to_string() }),
            // If another user begins to write now, we do not see it.
            WalBeside::Nothing => self.alone(),
        }
    }

    /// A connection that reads the file as if there were nothing beside it.
    pub(super) fn alone(&self) -> Result<OpenFile, LogError> {
        let whole = canonical(&self.path);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.ready(self.open_file(Path::new(&immutable(&whole)), flags)?)
    }
}

fn wal_beside(log: &Path) -> WalBeside {
    let named = |suffix: &str| fs::metadata(sidecar::path(log, suffix));
    match (named("-wal"), named("-shm")) {
        (Ok(_), Ok(_)) => WalBeside::Shared,
        (Ok(wal), Err(_)) if wal.len() > 0 => WalBeside::Unmerged,
        _ => WalBeside::Nothing,
    }
}

/// The URI of a file that SQLite may assume not to change.
pub(super) fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            // Writing to a string cannot fail.
            byte => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_cannot_add_to_the_query_string_after_it() {
        assert_eq!(
            immutable(Path::new("/a b/50%?mode=rwc#é.db")),
            "file:/a%20b/50%25%3Fmode%3Drwc%23%C3%A9.db?immutable=1"
        );
    }
}
