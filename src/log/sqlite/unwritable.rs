//! Reading a file in a read-only location.
//!
//! Even a reader of a log in WAL mode writes: it creates `-shm` (and `-wal`) beside the log, and
//! becomes their owner. So a process that may not write the log must not create them either, even
//! if the folder allows it: the writer could not open them any more.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::SqliteBackend;
use crate::log::error::LogError;

/// What is beside a file that we only read.
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
    pub(super) fn only_reading(&self) -> Result<Connection, LogError> {
        // By its canonical path: the other files are beside the file, not beside a link to it.
        let whole = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        match beside(&whole) {
            WalBeside::Shared => self.ready(self.open_file(&whole, flags)?),
            WalBeside::Unmerged => Err(LogError::Unmerged { path: whole.display().to_string() }),
            // If another user begins to write now, we do not see it.
            WalBeside::Nothing => self.alone(),
        }
    }

    /// A connection that reads the file as if there were nothing beside it.
    pub(super) fn alone(&self) -> Result<Connection, LogError> {
        let whole = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.ready(self.open_file(Path::new(&immutable(&whole)), flags)?)
    }
}

fn beside(log: &Path) -> WalBeside {
    let named = |end: &str| {
        let mut name = log.as_os_str().to_owned();
        name.push(end);
        fs::metadata(PathBuf::from(name))
    };
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
