//! Connections that a reader has given back, for the next reader of the same log.
//!
//! A command reads a log several times, one reader after the other, and to open a file costs more than to read a little of
//! it. A connection that waits here holds no lock and no page, so the next reader finds the file as it is then. One that
//! could not see the writes of others waits only once: from the opening of the file to the first reader.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::guard::Fuel;
use super::identity::{FileId, id};
use super::open_file::OpenFile;

/// The most connections that wait.
const MOST: usize = 2;

/// The connections that wait for a reader of a log.
#[derive(Default)]
pub(super) struct IdleReaders(Mutex<Vec<IdleReader>>);

struct IdleReader {
    file: OpenFile,
    fuel: Fuel,
    /// The file that it has open.
    id: Option<FileId>,
}

impl IdleReaders {
    /// A connection to the file that is at the path now, if one waits, and the steps that its queries may take.
    pub(super) fn take(&self, log: &Path) -> Option<(OpenFile, Fuel)> {
        let now = id(log);
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The file at the path may have been replaced.
        let others: Vec<IdleReader> = idle.extract_if(.., |idle| idle.id != now).collect();
        let found = idle.pop();
        drop(idle);
        drop(others);
        found.map(|IdleReader { file, fuel, .. }| (file, fuel))
    }

    /// A connection that comes here when its reader is done.
    pub(super) fn lend(self: &Arc<Self>, file: OpenFile, fuel: Fuel, log: &Path) -> ReaderFile {
        ReaderFile { file: Some(file), fuel, place: Some((self.clone(), log.to_owned())) }
    }

    /// Lets a connection wait for the next reader.
    pub(super) fn put(&self, file: OpenFile, fuel: Fuel, log: &Path) {
        if file.release_memory().is_err() {
            return;
        }
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MOST {
            idle.push(IdleReader { file, fuel, id: id(log) });
        }
    }
}

impl std::fmt::Debug for IdleReaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IdleReaders")
    }
}

/// The connection of a reader.
pub(super) struct ReaderFile {
    /// `None` once it was given back.
    file: Option<OpenFile>,
    /// The steps that its queries may take.
    pub(super) fuel: Fuel,
    /// Where it waits afterwards, if it does, and the path of its log.
    place: Option<(Arc<IdleReaders>, PathBuf)>,
}

impl ReaderFile {
    /// One that is closed when its reader is done.
    pub(super) fn closing(file: OpenFile, fuel: Fuel) -> Self {
        ReaderFile { file: Some(file), fuel, place: None }
    }
}

impl Deref for ReaderFile {
    type Target = OpenFile;

    #[expect(clippy::expect_used, reason = "only `drop` takes it")]
    fn deref(&self) -> &OpenFile {
        self.file.as_ref().expect("it is given back when it is dropped")
    }
}

impl DerefMut for ReaderFile {
    #[expect(clippy::expect_used, reason = "only `drop` takes it")]
    fn deref_mut(&mut self) -> &mut OpenFile {
        self.file.as_mut().expect("it is given back when it is dropped")
    }
}

impl Drop for ReaderFile {
    fn drop(&mut self) {
        if let (Some(file), Some((idle, log))) = (self.file.take(), &self.place) {
            idle.put(file, self.fuel.clone(), log);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SqliteBackend, SqliteOptions};
    use crate::log::Backend as _;

    fn waiting(backend: &SqliteBackend) -> usize {
        backend.idle.0.lock().unwrap().len()
    }

    #[test]
    fn a_reader_goes_on_with_the_connection_of_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("log"), folder.path().join("copy"));
        let backend = SqliteBackend::open_or_create(&path, SqliteOptions::default()).unwrap();
        assert_eq!(waiting(&backend), 1, "the one that looked at the file");
        for _ in 0..3 {
            let reader = backend.reader().unwrap();
            assert_eq!(waiting(&backend), 0);
            drop(reader);
            assert_eq!(waiting(&backend), 1);
        }
        let three =
            [backend.reader().unwrap(), backend.reader().unwrap(), backend.reader().unwrap()];
        drop(three);
        assert_eq!(waiting(&backend), super::MOST);
        // Another file is at the path.
        std::fs::copy(&path, &copy).unwrap();
        std::fs::rename(&copy, &path).unwrap();
        let reader = backend.reader().unwrap();
        assert_eq!(waiting(&backend), 0);
        drop(reader);
        assert_eq!(waiting(&backend), 1);
    }
}
