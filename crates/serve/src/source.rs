//! The log or recording that is shown, opened without changing it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use retold::counted::counted;
use retold::id::{RunId, Seq};
use retold::log::ledger::{Ledger, LedgerEntry};
use retold::log::{
    BackedUp, Backend, Committer, Lease, LogError, MemoryBackend, Problem, Reader, SharedBackend,
    SqliteBackend, SqliteOptions, damaged_slots, marks,
};
use retold::run::clock::Stopwatch;
use retold::sidecar::{self, canonical};

use crate::missing_ends::Ends;
use crate::nothing_left::NothingLeft;
use crate::private_copy::{PrivateCopy, copied};
use crate::search::Place;

/// For how long what is beside a log is not looked at again.
pub(crate) const FRESH: Duration = Duration::from_secs(1);

/// What is shown: a log's file, or runs that were read from a file.
pub struct Source {
    name: String,
    kind: Kind,
}

enum Kind {
    File { path: PathBuf, options: SqliteOptions, opened: Mutex<Option<Box<OpenedLog>>> },
    Read { backend: SharedBackend, is_damaged: bool },
}

/// A log as it was when it was opened.
#[derive(Clone)]
struct OpenedLog {
    /// `None` if what is beside it is to be looked at again.
    when: Option<Stopwatch>,
    backend: SharedBackend,
    /// The same, if it is a log with all that it should have.
    sqlite: Option<SqliteBackend>,
    problems: Vec<Problem>,
    /// What a reader has to know about how it is read.
    note: Option<String>,
    /// What cannot be noticed in it.
    warning: Option<String>,
    /// Whether a part of it is known to be missing.
    is_damaged: bool,
    /// If it was cut off: how many bytes it has, and how many it should have.
    cut: Option<(u64, u64)>,
    /// What was there then.
    stamp: Stamp,
    /// Which file it was.
    file: Option<FileId>,
    /// A copy that is read in its place; it is removed with the last that reads it.
    _copy: Option<Arc<PrivateCopy>>,
}

/// The size and time of a log and of what is beside it.
type Stamp = [Option<(u64, Option<SystemTime>)>; 4];

/// Which file a log is: the numbers of its device and inode (0 on systems that have none), and its size in bytes.
#[derive(Clone)]
struct FileId {
    id: (u64, u64),
    bytes: u64,
}

impl FileId {
    fn new(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(FileId { id: crate::files::id(&found), bytes: found.len() })
    }

    /// Whether it is the same file, and nothing was cut off.
    fn is_at_least(&self, before: &Self) -> bool {
        self.id == before.id && self.bytes >= before.bytes
    }
}

impl OpenedLog {
    /// A log in which nothing but the backend itself knows of damage.
    fn new(backend: SharedBackend, stamp: Stamp) -> Self {
        let problems: Vec<Problem> = backend.lost().into_iter().chain(backend.damaged()).collect();
        let is_damaged = !problems.is_empty();
        OpenedLog {
            when: Some(Stopwatch::start()),
            backend,
            sqlite: None,
            problems,
            note: None,
            warning: None,
            is_damaged,
            cut: None,
            stamp,
            file: None,
            _copy: None,
        }
    }

    /// A log of which the list of runs can be read; `cut` says how much is left of one that was cut off.
    fn whole(
        backend: SqliteBackend,
        cut: Option<(u64, u64)>,
        stamp: Stamp,
    ) -> Result<Self, LogError> {
        let sqlite = backend.clone();
        let ends = missing_ends(backend, cut.map(|_| "the file was cut off"))?;
        let mut opened = OpenedLog::new(ends.log, stamp);
        let misfits = if cut.is_some() { Vec::new() } else { ends.misfits };
        let is_damaged =
            opened.is_damaged || ends.is_missing || cut.is_some() || !misfits.is_empty();
        opened.problems.extend(misfits);
        let sqlite = Some(sqlite).filter(|_| cut.is_none());
        Ok(OpenedLog { sqlite, cut, is_damaged, ..opened })
    }
}

/// How the log stands.
pub(crate) struct Standing {
    pub(crate) problems: Vec<Problem>,
    pub(crate) note: Option<String>,
    pub(crate) warning: Option<String>,
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

    /// What cannot be noticed in it: that runs lost their last events, if their marks cannot be read.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn warning(&self) -> Result<Option<String>, LogError> {
        Ok(self.opened()?.warning)
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

    /// What was read from the file `name`, in which nothing is left of the run that it had.
    pub fn nothing_left(name: String, why: String) -> Self {
        let why = format!("{why}; nothing is left from event 1 on");
        let backend = NothingLeft::shared(name.clone(), why, Vec::new());
        Source { name, kind: Kind::Read { backend, is_damaged: true } }
    }

    /// Copies the log as it is at this moment to a new file, and leaves it and what is beside it as they
    /// are.
    ///
    /// # Errors
    /// [`LogError`]: see [`SqliteBackend::backup`].
    pub fn backup(&self, to: &Path) -> Result<BackedUp, LogError> {
        let OpenedLog { sqlite, backend, _copy, .. } = self.opened()?;
        let none = || match backend.damaged() {
            Some(Problem { what, .. }) => LogError::Damaged { path: self.name.clone(), what },
            None => self.refused(),
        };
        // The private copy, if there is one, is needed until the end.
        sqlite.ok_or_else(none)?.backup(to)
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
        let OpenedLog { problems, note, warning, .. } = self.opened()?;
        Ok(Standing { problems, note, warning })
    }

    /// Whether it is a sound log in one file, which nobody writes at the moment. It is to be opened as
    /// usual: if somebody began to write it, this source would not see that at once.
    pub fn is_at_rest(&self) -> bool {
        let Kind::File { path, .. } = &self.kind else { return false };
        // An empty one holds nothing. It is of another reader, or was left by one, and goes with the last.
        let wal = std::fs::metadata(sidecar::path(&canonical(path), "-wal"));
        let has_wal = wal.is_ok_and(|wal| wal.len() > 0);
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
            Kind::File { path, .. } if is_sound => {
                Place::AnswerDetails { log: path.clone(), cache }
            }
            _ => Place::Memory,
        }
    }

    /// Removes the private copy that is read, if there is one. Threads that still read it keep what they
    /// have open, so that a program can end without waiting for them.
    pub fn remove_copy(&self) {
        if let Kind::File { opened, .. } = &self.kind
            && let Some(copy) = locked(opened).as_ref().and_then(|opened| opened._copy.clone())
        {
            // What cannot be removed now is removed with its last reader.
            let _ = std::fs::remove_dir_all(copy.path());
        }
    }

    fn forget(&self) {
        if let Kind::File { opened, .. } = &self.kind {
            *locked(opened) = None;
        }
    }

    /// What is found from now on is what is there now, and not up to a second ago.
    pub(crate) fn look_again(&self) {
        if let Kind::File { opened, .. } = &self.kind
            && let Some(opened) = locked(opened).as_mut()
        {
            opened.when = None;
        }
    }

    fn opened(&self) -> Result<OpenedLog, LogError> {
        let (path, options, opened) = match &self.kind {
            Kind::File { path, options, opened } => (path, options, opened),
            Kind::Read { backend, is_damaged } => {
                let opened = OpenedLog::new(backend.clone(), Stamp::default());
                return Ok(OpenedLog { is_damaged: *is_damaged, ..opened });
            }
        };
        let mut held = locked(opened);
        let file = FileId::new(path);
        // One that was replaced or cut off is another one at once.
        let is_it = |opened: &OpenedLog| match (&opened.file, &file) {
            (Some(before), Some(now)) => now.is_at_least(before),
            (before, now) => before.is_none() == now.is_none(),
        };
        let before = held.take().filter(|opened| is_it(opened));
        if let Some(opened) = &before
            && opened.when.is_some_and(|when| when.elapsed() < FRESH)
        {
            let opened = (**opened).clone();
            *held = before;
            return Ok(opened);
        }
        let fresh = open(path, options, before.map(|before| *before))?;
        let fresh = OpenedLog { warning: unreadable_marks(path), file, ..fresh };
        *held = Some(Box::new(fresh.clone()));
        Ok(fresh)
    }
}

/// Reads only, and changes nothing.
impl Backend for Source {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn file(&self) -> Option<&Path> {
        match &self.kind {
            Kind::File { path, .. } => Some(path),
            Kind::Read { .. } => None,
        }
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

    fn is_cut_off(&self) -> bool {
        self.cut_off().is_some()
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

fn open(
    path: &Path,
    options: &SqliteOptions,
    before: Option<OpenedLog>,
) -> Result<OpenedLog, LogError> {
    let stamp = stamp(path);
    if let Some(before) = before.filter(|before| before.stamp == stamp) {
        return Ok(OpenedLog { when: Some(Stopwatch::start()), ..before });
    }
    match open_now(path, options, stamp) {
        Err(LogError::Lost { what: why, .. }) => {
            Ok(OpenedLog::new(nothing_left(path, &format!("{why}, {NOTHING_LEFT}"), None), stamp))
        }
        // It is not a log any more, and the mark beside it knows that it was one.
        Err(LogError::NotALog { reason: why, .. }) if !marks(path).is_empty() => {
            Ok(OpenedLog::new(nothing_left(path, &format!("{why}, {NOTHING_LEFT}"), None), stamp))
        }
        Err(LogError::Missing { .. }) if !marks(path).is_empty() => {
            let why = format!("the file is missing, {NOTHING_LEFT}");
            Ok(OpenedLog::new(nothing_left(path, &why, None), stamp))
        }
        Err(LogError::Damaged { what, .. }) => {
            let why = format!("{what}, and of its runs nothing can be read from event 1 on");
            let unread = marks(path).into_iter().map(|mark| Problem {
                what: format!("it cannot be read; its high-water mark is seq {}", mark.head.seq),
                ..mark.missing_after(None)
            });
            let name = path.display().to_string();
            Ok(OpenedLog::new(NothingLeft::shared(name, why, unread.collect()), stamp))
        }
        opened => opened,
    }
}

/// Opens a log of which nothing is known yet.
fn open_now(path: &Path, options: &SqliteOptions, stamp: Stamp) -> Result<OpenedLog, LogError> {
    // A process that was killed before its first event leaves a log without runs.
    if SqliteBackend::is_only_begun(path) {
        let has_bytes = std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
        let note = if has_bytes { "it has no tables yet" } else { "the file is empty" };
        let note = Some(format!("{note}, so it has no runs"));
        return Ok(OpenedLog { note, ..OpenedLog::new(Arc::new(MemoryBackend::new()), stamp) });
    }
    let cut = SqliteBackend::cut_off(path);
    // While a WAL is merged, the file may be shorter than it will be.
    let has_wal = stamp[1].is_some_and(|(bytes, _)| bytes > 0);
    let error = match SqliteBackend::open_unchanged(path, options.clone()) {
        // SQLite takes the rest of a page for zeros.
        Ok(_) if cut.is_some() && !has_wal => None,
        Ok(backend) => return OpenedLog::whole(backend, None, stamp),
        Err(LogError::Damaged { .. } | LogError::NotALog { .. } | LogError::Lost { .. })
            if cut.is_some() =>
        {
            None
        }
        Err(error @ LogError::Unmerged { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    let (folder, copy) = copied(path, cut.map(|(_, of)| of))?;
    // The copy is ours, so its WAL may be merged.
    let opened = match cut {
        Some((has, _)) => SqliteBackend::open_cut_off((&copy, path), has, options.clone()),
        None => {
            SqliteBackend::open_copy(&copy, path, options.clone()).map(|backend| (backend, false))
        }
    };
    let (backend, is_cut) = match (opened, cut) {
        (Ok((backend, is_cut)), _) if !is_cut || has_runs(&backend) => (backend, is_cut),
        (opened, Some(cut)) => {
            let left = opened.ok().map(|(backend, _)| backend);
            let (has, of) = cut;
            let why = format!("the file was cut off: it has {has} of {of} bytes, {NOTHING_LEFT}");
            let opened = OpenedLog::new(nothing_left(path, &why, left.as_ref()), stamp);
            return Ok(OpenedLog { cut: Some(cut), ..opened });
        }
        (Ok(opened), None) => opened,
        (Err(failed @ LogError::Lost { .. }), None) => return Err(failed),
        (Err(failed), None) => return Err(error.unwrap_or(failed)),
    };
    let cut = cut.filter(|_| is_cut);
    let note = match cut {
        Some((has, of)) => format!(
            "the file was cut off: it has {has} of {of} bytes. What is left is read from a private copy"
        ),
        None => "its last events are in a WAL that no process has open: a private copy is shown"
            .to_owned(),
    };
    let opened = OpenedLog::whole(backend, cut, stamp)?;
    Ok(OpenedLog { note: Some(note), _copy: Some(Arc::new(folder)), ..opened })
}

/// Warns that high-water marks are damaged: what there is is read without them.
fn unreadable_marks(path: &Path) -> Option<String> {
    let damaged = damaged_slots(path) as u64;
    let (marks, log) = (counted(damaged, "high-water mark"), path.display());
    (damaged > 0).then(|| {
        format!(
            "{marks} in {log}-mark cannot be read: if these runs lost their last events, that is not noticed"
        )
    })
}

/// Whether the list of runs is left.
fn has_runs(backend: &SqliteBackend) -> bool {
    let runs = backend.reader().and_then(|mut reader| reader.runs());
    runs.is_ok_and(|runs| !runs.is_empty())
}

/// What is said of the runs of a log of which not even the list of runs is left.
const NOTHING_LEFT: &str = "and of its runs nothing is left from event 1 on";

/// A log of which not even the list of runs is left, with the runs that the mark beside it and what is left
/// of the ledger know.
fn nothing_left(path: &Path, why: &str, left: Option<&SqliteBackend>) -> SharedBackend {
    let mut lost: Vec<Problem> = marks(path).iter().map(|mark| mark.missing_after(None)).collect();
    let ledger = left.and_then(|left| Ledger::read(left.reader().ok()?.as_mut()).ok());
    let ledger = ledger.unwrap_or_default();
    let last = ledger.known_runs().filter_map(|run| ledger.last_of(run));
    for gone in last.map(LedgerEntry::gone) {
        if !lost.iter().any(|known| known.run == gone.run) {
            lost.push(Problem { seq: Some(Seq(1)), ..gone });
        }
    }
    NothingLeft::shared(path.display().to_string(), why.to_owned(), lost)
}

/// The log, and whether the end of a run is missing.
fn missing_ends(backend: SqliteBackend, lost_part: Option<&str>) -> Result<Ends, LogError> {
    let lost = backend.lost();
    let lost_file = lost.iter().find(|problem| problem.run.is_none());
    let lost_part = lost_part.or(lost_file.map(|problem| problem.what.as_str()));
    Ends::new(Arc::new(backend), lost_part)
}

fn stamp(path: &Path) -> Stamp {
    let whole = canonical(path);
    ["", "-wal", "-mark", "-shm"].map(|suffix| {
        let path = sidecar::path(&whole, suffix);
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()))
    })
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
