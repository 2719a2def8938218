//! Reading a file where nothing may be written.
//!
//! A reader of a log in WAL mode writes, too: it makes `-shm` (and `-wal`) beside it, and whoever makes
//! them owns them. One who may not write the log must therefore not make them either, even if the folder
//! allows it: the writer could not open them any more.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::SqliteBackend;
use crate::log::error::LogError;

/// What a file that we only read has beside it.
enum Beside {
    /// What others share who have it open, or had when they died: read like any other.
    Shared,
    /// Events that are not in the file yet, and nothing to find them by.
    Unmerged,
    /// Nothing: the file is all there is.
    Nothing,
}

impl SqliteBackend {
    /// A connection that reads and writes nothing.
    pub(super) fn only_reading(&self) -> Result<Connection, LogError> {
        // By its own name: the other files stand beside the file, not beside a link to it.
        let whole = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        match beside(&whole) {
            Beside::Shared => self.ready(self.open_file(&whole, flags)?),
            Beside::Unmerged => Err(LogError::Unmerged { path: whole.display().to_string() }),
            // Should another user begin to write now, we would not see it.
            Beside::Nothing => self.alone(),
        }
    }

    /// A connection that reads the file as if there were nothing beside it.
    pub(super) fn alone(&self) -> Result<Connection, LogError> {
        let whole = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        self.ready(self.open_file(Path::new(&immutable(&whole)), flags)?)
    }
}

fn beside(log: &Path) -> Beside {
    let named = |end: &str| {
        let mut name = log.as_os_str().to_owned();
        name.push(end);
        fs::metadata(PathBuf::from(name))
    };
    match (named("-wal"), named("-shm")) {
        (Ok(_), Ok(_)) => Beside::Shared,
        (Ok(wal), Err(_)) if wal.len() > 0 => Beside::Unmerged,
        _ => Beside::Nothing,
    }
}

/// A file that is taken to stay as it is, as SQLite spells it.
fn immutable(path: &Path) -> String {
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
    fn a_path_is_no_part_of_the_question_it_stands_before() {
        assert_eq!(
            immutable(Path::new("/a b/50%?mode=rwc#é.db")),
            "file:/a%20b/50%25%3Fmode%3Drwc%23%C3%A9.db?immutable=1"
        );
    }
}
