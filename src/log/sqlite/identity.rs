//! Checks whether the file that is being written is still the log.
//!
//! A file that is removed or replaced stays open, and SQLite keeps writing to a file that nobody
//! can find any more. The same is true of the WAL.

use std::path::{Path, PathBuf};

use crate::log::error::LogError;
use crate::sidecar;

/// The files of a log as they were when it was opened.
pub(super) struct Identity {
    /// The path as the user gave it.
    name: PathBuf,
    log: PathBuf,
    wal: PathBuf,
    log_was: Option<FileId>,
    /// Known once something has been committed; the WAL is created when the first transaction
    /// begins.
    wal_was: Option<FileId>,
}

impl Identity {
    /// Must be called right after the file was opened.
    pub(super) fn new(log: &Path) -> Self {
        let name = log.to_owned();
        let log = sidecar::canonical(log);
        let (wal, log_was) = (sidecar::path(&log, "-wal"), id(&log));
        Identity { name, log, wal, log_was, wal_was: None }
    }

    /// Fails if one of the files was removed or replaced.
    pub(super) fn check(&self) -> Result<(), LogError> {
        let files = [(&self.log, self.log_was, ""), (&self.wal, self.wal_was, "-wal")];
        for (path, was, suffix) in files {
            if was.is_some() && id(path) != was {
                let path = format!("{}{suffix}", self.name.display());
                return Err(LogError::Gone { path });
            }
        }
        Ok(())
    }

    /// Must be called after a commit.
    pub(super) fn note_commit(&mut self) {
        if self.wal_was.is_none() {
            self.wal_was = id(&self.wal);
        }
    }
}

/// Which file it is, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

/// The file at a path, if there is one.
#[cfg(unix)]
pub(super) fn id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some(FileId { device: found.dev(), inode: found.ino() })
}

/// On other systems an open file cannot be removed.
#[cfg(not(unix))]
pub(super) fn id(_: &Path) -> Option<FileId> {
    None
}
