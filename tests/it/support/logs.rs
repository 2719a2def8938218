//! Log files in temporary folders.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use retold::event::{Event, NewEvent, StoredEvent};
use retold::id::{RunId, Seq, Time};
use retold::log::{Finding, Log, Reader, SqliteBackend, SqliteOptions, verify_all};
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder with a log in it, removed when dropped.
pub(crate) struct Folder {
    dir: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder { dir: tempfile::tempdir().unwrap() }
    }

    /// The path of the log.
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("log.db")
    }

    /// The log, created if it does not exist.
    pub(crate) fn log(&self) -> Log {
        open(&self.path())
    }

    /// The path of the lease file of a run.
    pub(crate) fn lease(&self, run: RunId) -> PathBuf {
        self.dir.path().join(format!("log.db-{run}.lease"))
    }

    /// A plain connection to the file, as any other program would have.
    pub(crate) fn sql(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

/// The log at a path, created if it does not exist.
pub(crate) fn open(path: &Path) -> Log {
    Log::new(Arc::new(SqliteBackend::open_or_create(path, SqliteOptions::default()).unwrap()))
}

/// All events of a run.
pub(crate) fn events(reader: &mut dyn Reader, run: RunId) -> Vec<StoredEvent> {
    reader.events(run, Seq(0), usize::MAX).unwrap()
}

/// All events of a run, as the program reads them.
pub(crate) fn facts(log: &Log, run: RunId) -> Vec<Event> {
    let mut reader = log.backend().reader().unwrap();
    events(reader.as_mut(), run).iter().map(|e| e.event().unwrap()).collect()
}

/// Everything that is wrong with a log.
pub(crate) fn problems(reader: &mut dyn Reader) -> Vec<Finding> {
    let (runs, mut problems) = verify_all(reader).unwrap();
    problems.extend(runs.into_iter().filter_map(|run| run.finding));
    problems
}

/// Panics unless everything in a log is as it was written.
pub(crate) fn assert_sound(log: &Log) {
    let found = problems(log.backend().reader().unwrap().as_mut());
    assert!(found.is_empty(), "{found:?}");
}

/// A fact of an experiment as a row.
pub(crate) fn row(n: i64) -> NewEvent {
    let body = format!("{{\"causes\":[],\"fact\":{n}}}").into();
    NewEvent { body, ..NewEvent::new("Occurred", Time(1_700_000_000_000 + n)) }
}

/// Copies the first events of a run into another log.
pub(crate) fn copy(from: &Log, to: &Log, run: RunId, most: usize) -> retold::id::EventHash {
    let mut reader = from.reader().unwrap();
    let stored = reader.events(run, Seq(0), most).unwrap();
    let events = stored.iter().map(|event| again(reader.as_mut(), event));
    let append = retold::log::Append::new(run, retold::log::Head::START, events);
    let hash = append.events.last().unwrap().head().hash;
    to.backend().committer().unwrap().commit(&[append]).unwrap();
    hash
}

/// A stored event as it was before it was stored.
pub(crate) fn again(reader: &mut dyn Reader, stored: &StoredEvent) -> NewEvent {
    let request = stored.prompt.map(|prompt| reader.request(prompt).unwrap().unwrap());
    let new = NewEvent::from_event(&stored.event().unwrap(), stored.time, request).unwrap();
    assert_eq!((new.version, &new.body), (stored.version, &stored.body));
    new
}
