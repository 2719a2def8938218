//! Files of logs that this process reads itself, while it has them open with SQLite.
//!
//! A process loses its locks on a file when it closes any handle of it (POSIX, `fcntl`), also those of SQLite. A
//! writer without its lock looks as if it were gone, and the next program that closes the log removes the WAL. So a
//! handle of a log that is open is kept until the log is closed, as SQLite does with its own
//! (<https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_>).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::identity::{FileId, id};
use crate::sidecar;

/// A log that is open in this process.
#[derive(Default)]
struct OpenLog {
    connections: usize,
    /// The handles that were read from: several if the file was replaced meanwhile.
    handles: Vec<(Option<FileId>, File)>,
}

/// By the file that links lead to.
static OPEN: Mutex<BTreeMap<PathBuf, OpenLog>> = Mutex::new(BTreeMap::new());

fn open() -> MutexGuard<'static, BTreeMap<PathBuf, OpenLog>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads from the beginning of a log's file without taking SQLite's locks from it.
pub(super) fn reading<T>(
    log: &Path,
    read: impl FnOnce(&mut File) -> io::Result<T>,
) -> io::Result<T> {
    let log = sidecar::canonical(log);
    // HeldFile until the end: who opens the log meanwhile waits.
    let mut all = open();
    let Some(OpenLog { handles, .. }) = all.get_mut(&log) else {
        return read(&mut File::open(&log)?);
    };
    let now = id(&log);
    let at = match handles.iter().position(|(of, _)| *of == now) {
        Some(at) => at,
        None => {
            handles.push((now, File::open(&log)?));
            handles.len() - 1
        }
    };
    let file = &mut handles[at].1;
    file.rewind()?;
    read(file)
}

/// Says that this process has a log open with SQLite, until it is dropped.
#[derive(Debug)]
pub struct HeldFile {
    log: PathBuf,
}

impl HeldFile {
    /// To be made before the connection, and to be dropped after it.
    pub(super) fn new(log: &Path) -> Self {
        let log = sidecar::canonical(log);
        open().entry(log.clone()).or_default().connections += 1;
        HeldFile { log }
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        let mut all = open();
        if let Some(of) = all.get_mut(&self.log) {
            of.connections -= 1;
            if of.connections == 0 {
                all.remove(&self.log);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn handles(log: &Path) -> Option<usize> {
        open().get(&sidecar::canonical(log)).map(|of| of.handles.len())
    }

    fn text(log: &Path) -> String {
        let mut text = String::new();
        reading(log, |file| file.read_to_string(&mut text)).unwrap();
        text
    }

    #[test]
    fn a_handle_is_kept_while_the_log_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let (log, other) = (folder.path().join("log"), folder.path().join("other"));
        std::fs::write(&log, "one").unwrap();
        assert_eq!((text(&log), handles(&log)), ("one".to_owned(), None));
        let (first, second) = (HeldFile::new(&log), HeldFile::new(&log));
        // It is read from its beginning each time.
        assert_eq!((text(&log), text(&log), handles(&log)), ("one".into(), "one".into(), Some(1)));
        std::fs::write(&other, "two").unwrap();
        std::fs::rename(&other, &log).unwrap();
        assert_eq!(text(&log), "two");
        drop(first);
        assert_eq!(handles(&log), if cfg!(unix) { Some(2) } else { Some(1) });
        drop(second);
        assert_eq!(handles(&log), None);
    }
}
