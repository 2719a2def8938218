//! A log's file while it is open. Within this program, files are closed one after the other.
//!
//! The last connection to a file removes its WAL. If two close at once, each sees the other and neither is the
//! last, so the WAL would be left.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

/// An open file. Its fields are dropped in this order.
pub(super) struct OpenFile {
    _wait: Wait,
    db: Connection,
    _done: Done,
}

impl From<Connection> for OpenFile {
    fn from(db: Connection) -> Self {
        OpenFile { _wait: Wait, db, _done: Done }
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

static IS_CLOSING: Mutex<bool> = Mutex::new(false);
static CLOSED: Condvar = Condvar::new();

/// Waits until no other file is being closed.
struct Wait;

impl Drop for Wait {
    fn drop(&mut self) {
        let is_closing = IS_CLOSING.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = CLOSED.wait_while(is_closing, |is_closing| *is_closing);
        *wait.unwrap_or_else(PoisonError::into_inner) = true;
    }
}

/// Lets the next file be closed.
struct Done;

impl Drop for Done {
    fn drop(&mut self) {
        *IS_CLOSING.lock().unwrap_or_else(PoisonError::into_inner) = false;
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
        let open = || OpenFile::from(Connection::open(&path).unwrap());
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
