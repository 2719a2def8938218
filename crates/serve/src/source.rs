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
    File { path: PathBuf, options: SqliteOptions, opened: Mutex<Option<Box<Opened>>> },
    Read { backend: SharedBackend, is_damaged: bool },
}

/// A log as it was when it was opened.
#[derive(Clone)]
struct Opened {
    when: Stopwatch,
    backend: SharedBackend,
    problems: Vec<Problem>,
    /// What a reader has to know about how it is read.
    note: Option<String>,
    /// Whether a part of it is known to be missing.
    is_damaged: bool,
    /// If it was cut off: how many bytes it has, and how many it should have.
    cut: Option<(u64, u64)>,
    /// What was there then.
    stamp: Stamp,
    /// A copy that is read in its place; it is removed with the last that reads it.
    _copy: Option<Arc<TempDir>>,
}

/// The size and time of a log and of what is beside it.
type Stamp = [Option<(u64, Option<SystemTime>)>; 4];

/// How the log stands.
pub(crate) struct Standing {
    pub(crate) problems: Vec<Problem>,
    pub(crate) note: Option<String>,
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
        let is_damaged = backend.reader().and_then(|mut reader| {
            let heads = reader.runs()?;
            Ok(heads.iter().any(|head| reader.events(head.run, head.head.seq, 1).is_err()))
        });
        // What cannot be read is reported where it is read.
        Source { name, kind: Kind::Read { backend, is_damaged: is_damaged.unwrap_or(true) } }
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

    /// Whether it is a sound log in one file, which nobody writes at the moment. It is to be opened as
    /// usual: if somebody began to write it, this source would not see that at once.
    pub fn is_at_rest(&self) -> bool {
        let Kind::File { path, .. } = &self.kind else { return false };
        let has_wal = beside(path, "-wal").exists();
        let opened = self.opened();
        !has_wal && opened.is_ok_and(|opened| !opened.is_damaged && opened.note.is_none())
    }

    /// If the file was cut off: how many bytes it has, and how many it should have.
    pub fn cut_off(&self) -> Option<(u64, u64)> {
        self.opened().ok()?.cut
    }

    /// Whether a part of it is known to be missing.
    pub fn is_damaged(&self) -> bool {
        self.opened().is_ok_and(|opened| opened.is_damaged)
    }

    /// Where an index for searching is kept: not beside a log that is damaged, and in memory for what
    /// is not a log.
    pub fn place_for_search(&self, cache: Option<PathBuf>) -> Place {
        let is_sound = self.opened().is_ok_and(|found| !found.is_damaged && found.note.is_none());
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
            Kind::Read { backend, is_damaged } => {
                return Ok(Opened {
                    when: Stopwatch::start(),
                    backend: backend.clone(),
                    problems: Vec::new(),
                    note: None,
                    is_damaged: *is_damaged,
                    cut: None,
                    stamp: Stamp::default(),
                    _copy: None,
                });
            }
        };
        let mut held = locked(opened);
        if let Some(opened) = held.as_ref().filter(|opened| opened.when.elapsed() < FRESH) {
            return Ok((**opened).clone());
        }
        let fresh = open(path, options, held.take().map(|before| *before))?;
        *held = Some(Box::new(fresh.clone()));
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
    let stamp = stamp(path);
    if let Some(before) = before.filter(|before| before.stamp == stamp) {
        return Ok(Opened { when: Stopwatch::start(), ..before });
    }
    let when = Stopwatch::start();
    // A process that was killed before its first event leaves a log without runs.
    if SqliteBackend::is_only_begun(path) {
        let has_bytes = std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
        let note = if has_bytes { "it has no tables yet" } else { "the file is empty" };
        let note = format!("{note}, so it has no runs");
        return Ok(Opened {
            when,
            backend: Arc::new(MemoryBackend::new()),
            problems: Vec::new(),
            note: Some(note),
            is_damaged: false,
            cut: None,
            stamp,
            _copy: None,
        });
    }
    let cut = cut_off(path);
    // While a WAL is merged, the file may be shorter than it will be.
    let has_wal = stamp[1].is_some_and(|(bytes, _)| bytes > 0);
    let error = match SqliteBackend::open_unchanged(path, options.clone()) {
        // SQLite takes the rest of a page for zeros.
        Ok(_) if cut.is_some() && !has_wal => None,
        Ok(backend) => {
            let problems = problems(&backend);
            let (backend, ends) = without_ends(backend, None)?;
            let is_damaged = ends || !problems.is_empty();
            let (note, cut, _copy) = (None, None, None);
            return Ok(Opened { when, backend, problems, note, is_damaged, cut, stamp, _copy });
        }
        Err(LogError::Damaged { .. }) if cut.is_some() => None,
        Err(error @ LogError::Unmerged { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    let (folder, copy) = copied(path, cut.map(|(_, of)| of))?;
    // The copy is ours, so its WAL may be merged.
    let opened = match cut {
        Some((has, _)) => SqliteBackend::open_cut_off(&copy, has, options.clone()),
        None => SqliteBackend::open_copy(&copy, options.clone()).map(|backend| (backend, false)),
    };
    // An error names the log and not its copy.
    let (backend, is_cut) = opened.map_err(|failed| match failed {
        LogError::Lost { what, .. } => LogError::Lost { path: path.display().to_string(), what },
        LogError::Damaged { what, .. } if error.is_none() => {
            LogError::Damaged { path: path.display().to_string(), what }
        }
        failed => error.unwrap_or(failed),
    })?;
    let cut = cut.filter(|_| is_cut);
    let note = match cut {
        Some((has, of)) => format!(
            "the file was cut off: it has {has} of {of} bytes. What is left is read from a private copy"
        ),
        None => "its last events are in a WAL that no process has open: a private copy is shown"
            .to_owned(),
    };
    let problems = problems(&backend);
    let (backend, ends) = without_ends(backend, cut.map(|_| "the file was cut off"))?;
    let is_damaged = ends || is_cut || !problems.is_empty();
    let (note, _copy) = (Some(note), Some(Arc::new(folder)));
    Ok(Opened { when, backend, problems, note, is_damaged, cut, stamp, _copy })
}

/// What is wrong with the file as a whole.
fn problems(backend: &SqliteBackend) -> Vec<Problem> {
    backend.lost().into_iter().chain(backend.damaged()).collect()
}

/// The log, and whether the end of a run is missing.
fn without_ends(
    backend: SqliteBackend,
    lost_part: Option<&str>,
) -> Result<(SharedBackend, bool), LogError> {
    let lost = backend.lost();
    let lost_file = lost.iter().find(|problem| problem.run.is_none());
    let lost_part = lost_part.or(lost_file.map(|problem| problem.what.as_str()));
    WithoutEnds::of(Arc::new(backend), lost_part)
}

/// A private copy of a log and of what is beside it. If it was cut off, it is made as long as it was:
/// SQLite refuses a file that is shorter than its header says.
fn copied(path: &Path, length: Option<u64>) -> Result<(TempDir, PathBuf), LogError> {
    let cannot = |e: std::io::Error| LogError::CannotCopy {
        path: "a temporary folder".to_owned(),
        source: Box::<dyn std::error::Error + Send + Sync>::from(e).into(),
    };
    let folder = tempfile::tempdir().map_err(cannot)?;
    let log = folder.path().join("log.db");
    for suffix in ["", "-wal", "-mark"] {
        if let Some(mut from) = regular(&beside(path, suffix)) {
            let mut to = File::create_new(beside(&log, suffix)).map_err(cannot)?;
            copy(&mut from, &mut to).map_err(cannot)?;
            if let ("", Some(length)) = (suffix, length) {
                to.set_len(length).map_err(cannot)?;
            }
        }
    }
    Ok((folder, log))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn stamp(path: &Path) -> Stamp {
    ["", "-wal", "-mark", "-shm"].map(|suffix| {
        let path = beside(path, suffix);
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
fn cut_off(path: &Path) -> Option<(u64, u64)> {
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
