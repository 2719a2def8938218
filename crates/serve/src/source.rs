//! The log or recording that is shown, opened without changing it.

use std::fs::File;
use std::io::{Read, copy};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use retold::id::RunId;
use retold::log::{
    Backend, Committer, Format, Lease, LogError, MemoryBackend, Problem, Reader, SharedBackend,
    SqliteBackend, SqliteOptions,
};
use retold::run::clock::Stopwatch;
use tempfile::TempDir;

use crate::search::Place;
use crate::without_ends::WithoutEnds;

/// For how long what is beside a log is not looked at again.
const FRESH: Duration = Duration::from_secs(1);

/// What is shown: a log's file, or runs that were read from a file.
pub struct Source {
    name: String,
    kind: Kind,
}

enum Kind {
    File { path: PathBuf, options: SqliteOptions, opened: Mutex<Option<Opened>> },
    Read(SharedBackend),
}

/// A log as it was when it was opened.
#[derive(Clone)]
struct Opened {
    when: Stopwatch,
    backend: SharedBackend,
    problems: Vec<Problem>,
    /// What a reader has to know about how it is read.
    note: Option<String>,
    /// A copy that is read in its place, and what it is a copy of.
    copy: Option<(Arc<TempDir>, Stamp)>,
}

/// The size and time of a log and of its WAL.
type Stamp = [Option<(u64, Option<SystemTime>)>; 2];

/// How the log stands.
pub(crate) struct Standing {
    pub(crate) problems: Vec<Problem>,
    pub(crate) note: Option<String>,
}

/// Whether opening a log as usual might change it or fail although something can be read: it was cut
/// off, or its last events are in a WAL.
pub fn needs_care(path: &Path) -> bool {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    let has_wal = std::fs::metadata(PathBuf::from(wal)).is_ok_and(|wal| wal.len() > 0);
    path.is_file() && (has_wal || cut_off(path).is_some())
}

impl Source {
    /// A log in a file.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be shown at all.
    pub fn file(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        let kind = Kind::File { path: path.to_owned(), options, opened: Mutex::default() };
        let source = Source { name: path.display().to_string(), kind };
        // What is wrong with it is said at once, not by the first page.
        source.opened()?;
        Ok(source)
    }

    /// What a reader has to know about how it is read.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn note(&self) -> Result<Option<String>, LogError> {
        Ok(self.opened()?.note)
    }

    /// Runs that were read from the file `name`.
    pub fn read(name: String, backend: SharedBackend) -> Self {
        Source { name, kind: Kind::Read(backend) }
    }

    /// Its name, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether runs can be added to it while it is shown.
    pub(crate) fn can_grow(&self) -> bool {
        matches!(self.kind, Kind::File { .. })
    }

    /// A reader of it as it is now.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        match self.opened()?.backend.reader() {
            // A writer came or went since the files beside it were looked at.
            Err(LogError::Unmerged { .. } | LogError::CannotOpen { .. }) => {
                self.forget();
                self.opened()?.backend.reader()
            }
            reader => reader,
        }
    }

    /// What is wrong with the file as a whole.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn standing(&self) -> Result<Standing, LogError> {
        let Opened { problems, note, .. } = self.opened()?;
        Ok(Standing { problems, note })
    }

    /// Where an index for searching is kept: not beside a log that is damaged, and in memory for what
    /// is not a log.
    pub(crate) fn place_for_search(&self, cache: Option<PathBuf>) -> Place {
        let is_sound =
            self.standing().is_ok_and(|found| found.problems.is_empty() && found.note.is_none());
        match &self.kind {
            Kind::File { path, .. } if is_sound => Place::Beside { log: path.clone(), cache },
            _ => Place::Memory,
        }
    }

    fn forget(&self) {
        if let Kind::File { opened, .. } = &self.kind {
            *locked(opened) = None;
        }
    }

    fn opened(&self) -> Result<Opened, LogError> {
        let (path, options, opened) = match &self.kind {
            Kind::File { path, options, opened } => (path, options, opened),
            Kind::Read(backend) => {
                let (when, backend) = (Stopwatch::start(), backend.clone());
                return Ok(Opened { when, backend, problems: Vec::new(), note: None, copy: None });
            }
        };
        let mut held = locked(opened);
        if let Some(opened) = held.as_ref().filter(|opened| opened.when.elapsed() < FRESH) {
            return Ok(opened.clone());
        }
        let fresh = open(path, options, held.take())?;
        *held = Some(fresh.clone());
        Ok(fresh)
    }
}

/// Reads only, and changes nothing.
impl Backend for Source {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn format(&self) -> Format {
        self.opened().map_or(retold::log::FORMAT, |opened| opened.backend.format())
    }

    fn lease(&self, _run: RunId) -> Result<Lease, LogError> {
        Err(self.refused())
    }

    fn lost(&self) -> Vec<Problem> {
        self.opened().map(|opened| opened.backend.lost()).unwrap_or_default()
    }

    fn damaged(&self) -> Option<Problem> {
        self.opened().ok()?.backend.damaged()
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        Err(self.refused())
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Source::reader(self)
    }
}

impl Source {
    fn refused(&self) -> LogError {
        let why: Box<dyn std::error::Error + Send + Sync> = "it was opened to be read only".into();
        LogError::CannotOpen { path: self.name.clone(), source: why.into() }
    }
}

fn open(path: &Path, options: &SqliteOptions, before: Option<Opened>) -> Result<Opened, LogError> {
    // A process that was killed before its first event leaves a log without runs.
    if SqliteBackend::is_only_begun(path) {
        let backend: SharedBackend = Arc::new(MemoryBackend::new());
        let when = Stopwatch::start();
        return Ok(Opened { when, backend, problems: Vec::new(), note: None, copy: None });
    }
    let error = match SqliteBackend::open_unchanged(path, options.clone()) {
        Ok(backend) => return Ok(ready(backend, None, None)),
        Err(error) => error,
    };
    let is_cut = cut_off(path);
    let note = match (&error, is_cut) {
        (LogError::Unmerged { .. }, _) => {
            "its last events are in a WAL that no process has open: a private copy is shown"
                .to_owned()
        }
        (LogError::Damaged { .. }, Some((has, of))) => format!(
            "the file was cut off: it has {has} of {of} bytes. What is left is read from a private copy"
        ),
        _ => return Err(error),
    };
    let stamp = stamp(path);
    if let Some(opened) = before.filter(|opened| opened.copy.as_ref().is_some_and(|c| c.1 == stamp))
    {
        return Ok(Opened { when: Stopwatch::start(), ..opened });
    }
    let cannot = |e: std::io::Error| LogError::CannotCopy {
        path: "a temporary folder".to_owned(),
        source: Box::<dyn std::error::Error + Send + Sync>::from(e).into(),
    };
    let folder = tempfile::tempdir().map_err(cannot)?;
    let to = folder.path().join("log.db");
    for suffix in ["", "-wal", "-mark"] {
        let name = |path: &Path| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        if let Some(mut from) = regular(&name(path)) {
            let mut to = File::create_new(name(&to)).map_err(cannot)?;
            copy(&mut from, &mut to).map_err(cannot)?;
            if let ("", Some((_, of))) = (suffix, is_cut) {
                // SQLite refuses a file that is shorter than its header says.
                to.set_len(of).map_err(cannot)?;
            }
        }
    }
    // The copy is ours, so its WAL may be merged.
    let opened = match is_cut {
        Some((has, _)) => SqliteBackend::open_cut_off(&to, has, options.clone()),
        None => SqliteBackend::open(&to, options.clone()),
    };
    let Ok(backend) = opened else {
        // The error that names the log and not its copy.
        return Err(error);
    };
    let copy = Some((Arc::new(folder), stamp));
    if is_cut.is_none() {
        return Ok(ready(backend, Some(note), copy));
    }
    let lost = backend.lost();
    let problems = lost.iter().cloned().chain(backend.damaged()).collect();
    let backend: SharedBackend = Arc::new(WithoutEnds::of(backend, &lost)?);
    Ok(Opened { when: Stopwatch::start(), backend, problems, note: Some(note), copy })
}

fn ready(
    backend: SqliteBackend,
    note: Option<String>,
    copy: Option<(Arc<TempDir>, Stamp)>,
) -> Opened {
    let mut problems = backend.lost();
    problems.extend(backend.damaged());
    let backend = Arc::new(backend);
    Opened { when: Stopwatch::start(), backend, problems, note, copy }
}

fn stamp(path: &Path) -> Stamp {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    [path.to_owned(), PathBuf::from(wal)].map(|path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()))
    })
}

/// Opens a file that is not a pipe or device: opening these may wait forever.
fn regular(path: &Path) -> Option<File> {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| File::open(path).ok())?
}

/// How many bytes a log has, and how many its header says, if it is shorter than that.
pub fn cut_off(path: &Path) -> Option<(u64, u64)> {
    let mut header = [0; 32];
    let mut file = regular(path)?;
    file.read_exact(&mut header).ok()?;
    if !header.starts_with(b"SQLite format 3\0") {
        return None;
    }
    let page = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes),
    };
    let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
    let (has, of) = (file.metadata().ok()?.len(), page * u64::from(pages));
    // A header that claims far more was not written by a log that was cut off.
    (has < of && of - has <= 64 << 30).then_some((has, of))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
