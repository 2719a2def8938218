//! A copy of a log while it is being written.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::idle_readers::ReaderFile;
use super::reader::SqliteReader;
use super::{SqliteBackend, busy};
use crate::draft::Draft;
use crate::log::backend::Backend as _;
use crate::log::error::{LogError, RewordedError};
use crate::log::finding::{FileFault, Finding};
use crate::log::ledger::{Ledger, LedgerHead};
use crate::log::verify::verify_all;

/// How many pages are copied at a time: a few megabytes.
const PAGES: i32 = 256;

/// A copy that was written and verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackedUp {
    /// How many runs it holds.
    pub runs: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// The end of the log's ledger.
    pub ledger: LedgerHead,
}

impl SqliteBackend {
    /// Copies the log as it is at this moment to a new file, and verifies the copy before it gets
    /// its name. Other processes may keep writing.
    ///
    /// # Errors
    /// [`LogError::CannotCopy`] if the file exists or cannot be written, [`LogError::Damaged`] with
    /// the first problem if the copy does not verify: in that case it is removed.
    pub fn backup(&self, to: &Path) -> Result<BackedUp, LogError> {
        // A copy has no mark, which would hide that events are missing.
        self.refuse_after_a_loss()?;
        let failed = |e: io::Error| cannot_write(to, e);
        if to.symlink_metadata().is_ok() {
            return Err(failed(io::ErrorKind::AlreadyExists.into()));
        }
        let (draft, file) = Draft::file(to).map_err(failed)?;
        make_private(&file).map_err(failed)?;
        self.copy_to(draft.path())?;
        File::open(draft.path()).and_then(|file| file.sync_all()).map_err(failed)?;
        let done = self.verify_copy(draft.path())?;
        // Unlike a rename, a hard link fails if the name was taken in the meantime.
        match fs::hard_link(draft.path(), to) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(failed(e)),
            // A file system without hard links: check, then rename.
            Err(_) if to.symlink_metadata().is_ok() => {
                return Err(failed(io::ErrorKind::AlreadyExists.into()));
            }
            Err(_) => fs::rename(draft.path(), to).map_err(failed)?,
            Ok(()) => {}
        }
        drop(draft);
        sync_folder(to).map_err(failed)?;
        Ok(done)
    }

    fn copy_to(&self, draft: &Path) -> Result<(), LogError> {
        let from = self.to_read(|db| self.ready(db))?;
        let mut to = Connection::open(draft).map_err(|e| self.error(e))?;
        // A copy that is not finished is thrown away, so nothing need be rolled back.
        to.pragma_update(None, "journal_mode", "OFF").map_err(|e| self.error(e))?;
        let mut copy = || -> rusqlite::Result<()> {
            // One snapshot of the log: without it, each commit of others would restart the copy.
            let moment = from.unchecked_transaction()?;
            let _: i64 = moment.query_row("SELECT count(*) FROM meta", [], |r| r.get(0))?;
            let backup = Backup::new(&moment, &mut to)?;
            busy::until_free(self.busy(), || {
                loop {
                    match backup.step(PAGES)? {
                        StepResult::Done => return Ok(()),
                        StepResult::More => {}
                        _ => {
                            let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
                            return Err(rusqlite::Error::SqliteFailure(busy, None));
                        }
                    }
                }
            })
        };
        copy().map_err(|e| self.error(e))
    }

    /// Reads the copy as a file that nobody writes, so that no files are created beside it.
    fn verify_copy(&self, draft: &Path) -> Result<BackedUp, LogError> {
        let copy = SqliteBackend::at(draft, self.options.clone());
        let (db, fuel) = copy.tune(copy.only_reading()?)?;
        let file = ReaderFile::closing(db, fuel);
        let bytes = copy.bytes();
        let mut reader = SqliteReader::new(file, copy);
        let (runs, findings) = verify_all(&mut reader)?;
        let first = runs.iter().filter_map(|run| run.finding.as_ref()).chain(&findings).next();
        if let Some(first) = first {
            return Err(self.unsound(first.clone()));
        }
        let ledger = Ledger::read(&mut reader)?.head();
        Ok(BackedUp { runs: runs.len() as u64, bytes, ledger })
    }

    fn unsound(&self, first: Finding) -> LogError {
        LogError::damage(self.name(), FileFault::Copy { first: Box::new(first) })
    }
}

fn cannot_write(to: &Path, source: io::Error) -> LogError {
    let words = match source.kind() {
        io::ErrorKind::AlreadyExists => "that name is already taken".to_owned(),
        io::ErrorKind::NotFound => "its folder does not exist".to_owned(),
        _ => source.to_string(),
    };
    let source = Arc::new(RewordedError { words, source });
    LogError::CannotCopy { path: to.display().to_string(), source }
}

/// Only its owner may read what people said to models.
fn make_private(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    #[cfg(not(unix))]
    let _ = file;
    Ok(())
}

/// A new name survives a power cut only once the folder is on disk.
#[cfg(unix)]
fn sync_folder(file: &Path) -> io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
