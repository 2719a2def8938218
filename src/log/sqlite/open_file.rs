//! A log's file while it is open. Files are closed one after the other, also by several programs.
//!
//! The last connection to a file removes its WAL. If two close at once, each sees the other and neither is the
//! last, so the WAL would be left.

use std::fs::{File, TryLockError};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::descriptors::HeldFile;
use super::ending::OpenCount;
use crate::sidecar;

/// An open file. Its fields are dropped in this order.
pub(super) struct OpenFile {
    _wait: Wait,
    db: Connection,
    _held: HeldFile,
    _done: NextClose,
    _count: OpenCount,
}

impl OpenFile {
    /// A connection to a log; `name` is its path, or says in a URI how to open it.
    pub(super) fn open(name: &Path, log: &Path, flags: OpenFlags) -> rusqlite::Result<Self> {
        let held = HeldFile::new(log);
        // To SQLite, a path that begins like a URI is one, whatever the flags say.
        let is_uri = flags.contains(OpenFlags::SQLITE_OPEN_URI);
        let is_like_uri = name.as_os_str().as_encoded_bytes().starts_with(b"file:");
        let db = match !is_uri && is_like_uri {
            true => Connection::open_with_flags(Path::new(".").join(name), flags)?,
            false => Connection::open_with_flags(name, flags)?,
        };
        let folder = sidecar::canonical(log).parent().map(Path::to_owned);
        Ok(OpenFile {
            _wait: Wait { folder },
            db,
            _held: held,
            _done: NextClose,
            _count: OpenCount::new(),
        })
    }
}

impl Deref for OpenFile {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.db
    }
}

impl DerefMut for OpenFile {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.db
    }
}

/// How often a lock that another program holds is tried again, after a millisecond each.
const MOST_TRIES: u32 = 1000;

/// What is held while a file is closed: the folder with it, locked against other programs. Opening the file itself
/// would drop SQLite's locks on it when it is closed again.
struct ClosingTurn {
    _folder: Option<File>,
}

static CLOSING: Mutex<Option<ClosingTurn>> = Mutex::new(None);
static CLOSED: Condvar = Condvar::new();

/// Waits until no other file is being closed.
struct Wait {
    folder: Option<PathBuf>,
}

impl Drop for Wait {
    fn drop(&mut self) {
        let closing = CLOSING.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = CLOSED.wait_while(closing, |closing| closing.is_some());
        let folder = self.folder.as_deref().and_then(lock);
        *wait.unwrap_or_else(PoisonError::into_inner) = Some(ClosingTurn { _folder: folder });
    }
}

/// Locks a folder, which changes nothing. If that cannot be done, the files are closed nevertheless.
fn lock(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    for _ in 0..MOST_TRIES {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            Err(TryLockError::Error(_)) => return None,
        }
    }
    None
}

/// Lets the next file be closed.
struct NextClose;

impl Drop for NextClose {
    fn drop(&mut self) {
        drop(CLOSING.lock().unwrap_or_else(PoisonError::into_inner).take());
        CLOSED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn the_last_of_those_that_close_at_once_leaves_no_wal() {
        let folder = tempfile::tempdir().unwrap();
        let (path, wal) = (folder.path().join("log"), folder.path().join("log-wal"));
        let open = || OpenFile::open(&path, &path, OpenFlags::default()).unwrap();
        open().execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").unwrap();
        for round in 0..200 {
            let barrier = Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let db = open();
                        db.prepare("SELECT x FROM t").unwrap().exists([]).unwrap();
                        barrier.wait();
                        drop(db);
                    });
                }
            });
            assert!(!wal.exists(), "round {round}");
        }
    }
}
