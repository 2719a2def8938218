//! A log or recorded runs, opened to be read.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use retold::counted::count_of;
use retold::id::Seq;
use retold::log::ledger::{Ledger, LedgerEntry};
use retold::log::{
    BackedUp, Backend as _, CutLength, Fault, FileFault, Finding, Log, LogCopy, LogError,
    MemoryBackend, SharedBackend, SqliteBackend, SqliteOptions, damaged_slots, marks,
};
use retold::scratch_folder::ScratchFolder;
use retold::sidecar::{self, canonical};
use retold_bucket::BucketBackend;

use crate::file_stamp::id;
use crate::missing_ends::Ends;
use crate::place::bucket;
use crate::private_copy::copy_log;
use crate::search::IndexPlace;

/// A log or recorded runs, as they were when they were opened. Each run ends before the first event that is
/// missing: reading on is an error that names it.
#[derive(Clone)]
pub struct Archive {
    backend: SharedBackend,
    /// The store, if it is a file that can be copied as it is.
    sqlite: Option<SqliteBackend>,
    /// The store, if it is a bucket, whose state cannot be seen from beside it.
    bucket: Option<BucketBackend>,
    /// The file, unless the runs were read into memory.
    path: Option<PathBuf>,
    findings: Vec<Finding>,
    note: Option<String>,
    warning: Option<String>,
    is_damaged: bool,
    /// The sizes and times of the files then.
    stamp: Stamp,
    /// Which file it was.
    file: Option<FileVersion>,
    copy: Option<Arc<ScratchFolder>>,
}

/// The size and time of a log and of the files beside it.
type Stamp = [Option<(u64, Option<SystemTime>)>; 4];

/// Which file a log is: the numbers of its device and inode (0 on systems that have none), and its size in bytes.
#[derive(Clone)]
struct FileVersion {
    id: (u64, u64),
    bytes: u64,
}

impl FileVersion {
    fn new(path: &Path) -> Option<Self> {
        let found = std::fs::metadata(path).ok()?;
        Some(FileVersion { id: id(&found), bytes: found.len() })
    }

    /// Whether it is the same file, and nothing was cut off.
    fn is_at_least(&self, before: &Self) -> bool {
        self.id == before.id && self.bytes >= before.bytes
    }
}

impl Archive {
    /// Opens a log. A sound one that nobody has open is then read as its writers read it, so that their additions
    /// meanwhile are seen: a file that is read as if it could not change would be misread.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be shown at all.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        if let Some(url) = bucket(path)? {
            return Ok(Archive::of_bucket(&url.open()?));
        }
        let _held = SqliteBackend::hold(path);
        let archive = Archive::open_unchanged(path, options.clone())?;
        if archive.is_damaged || archive.note.is_some() || has_wal(path) {
            return Ok(archive);
        }
        let sqlite = SqliteBackend::open(path, options)?;
        Ok(Archive { backend: Arc::new(sqlite.clone()), sqlite: Some(sqlite), ..archive })
    }

    /// The same, to verify it: everything is read where the log is, as it is then, and nothing where this machine keeps copies.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_to_verify(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        match bucket(path)? {
            Some(url) => Ok(Archive::new(Arc::new(url.open_as_it_is()?))),
            None => Archive::open(path, options),
        }
    }

    /// Opens a log without taking part in its use: nothing is written to it, nor beside it.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be shown at all.
    pub fn open_unchanged(path: &Path, options: SqliteOptions) -> Result<Self, LogError> {
        // Reading changes nothing in a bucket, and nothing is beside it.
        if let Some(url) = bucket(path)? {
            return Ok(Archive::of_bucket(&url.open()?));
        }
        let stamp = stamp(path);
        let nothing_left = |why: Fault| Ok(Archive::new(nothing_left(path, why, None)));
        let opened = match open_now(path, options, &stamp) {
            Err(LogError::Lost { fault, .. }) => nothing_left(*fault),
            // It is not a log any more, and the mark beside it knows that it was one.
            Err(LogError::NotALog { reason: why, .. }) if !marks(path).is_empty() => {
                nothing_left(FileFault::NotALog { why }.into())
            }
            Err(LogError::Missing { .. }) if !marks(path).is_empty() => {
                nothing_left(FileFault::Gone.into())
            }
            Err(LogError::Damaged { fault: why, .. }) => {
                let why = Fault::NothingReadable { why };
                let lost = marks(path).into_iter().map(|mark| mark.unreadable()).collect();
                let name = path.display().to_string();
                Ok(Archive::new(Arc::new(MemoryBackend::remnant(name, why, lost))))
            }
            opened => opened,
        };
        Ok(opened?.of_file(path, stamp))
    }

    /// Opens a log again if it is not as it was: see [`open_unchanged`](Self::open_unchanged). One in a bucket may have more runs.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be shown at all.
    pub fn reopen(
        self: Arc<Self>,
        path: &Path,
        options: SqliteOptions,
    ) -> Result<Arc<Self>, LogError> {
        if let Some(bucket) = &self.bucket {
            return Ok(Arc::new(Archive::of_bucket(bucket)));
        }
        match self.stamp == stamp(path) {
            true => Ok(self),
            false => Ok(Arc::new(Archive::open_unchanged(path, options)?)),
        }
    }

    /// Whether it is a log in a bucket or a shared folder.
    pub fn is_in_bucket(&self) -> bool {
        self.bucket.is_some()
    }

    /// Whether the file at its path is still the one that was opened, or one that has grown.
    pub fn is_same_file(&self) -> bool {
        let now = self.path.as_deref().and_then(FileVersion::new);
        match (&self.file, &now) {
            (Some(before), Some(now)) => now.is_at_least(before),
            (before, now) => before.is_none() == now.is_none(),
        }
    }

    /// Runs that were read from a file which is not a log.
    pub fn read(backend: SharedBackend) -> Self {
        let is_damaged = backend.reader().and_then(|mut reader| {
            let heads = reader.runs()?;
            Ok(heads.iter().any(|head| reader.events(head.run, head.head.seq, 1).is_err()))
        });
        let archive = Archive::new(backend);
        // What cannot be read is reported where it is read.
        Archive { is_damaged: archive.is_damaged || is_damaged.unwrap_or(true), ..archive }
    }

    /// The recording `name`, of which nothing is left.
    pub fn empty_recording(name: String, why: String) -> Self {
        let why = Fault::EmptyRecording { why };
        Archive::new(Arc::new(MemoryBackend::remnant(name, why, Vec::new())))
    }

    /// One in which nothing but the store itself knows of damage.
    fn new(backend: SharedBackend) -> Self {
        let findings: Vec<Finding> = backend.losses().into_iter().chain(backend.damage()).collect();
        Archive {
            is_damaged: !findings.is_empty(),
            backend,
            sqlite: None,
            bucket: None,
            path: None,
            findings,
            note: None,
            warning: None,
            stamp: Stamp::default(),
            file: None,
            copy: None,
        }
    }

    /// A log in a bucket, with the runs that it has now.
    fn of_bucket(bucket: &BucketBackend) -> Self {
        let backend = Arc::new(bucket.as_of_now());
        Archive { bucket: Some(bucket.clone()), ..Archive::new(backend) }
    }

    /// A log of which the list of runs can be read; `cut` says how much is left of one that was cut off.
    fn with_ends(backend: SqliteBackend, cut: Option<CutLength>) -> Result<Self, LogError> {
        let sqlite = backend.clone();
        let cut_off = cut.map(|CutLength { has, of }| FileFault::CutOff { has, of }.into());
        let lost_file = || sqlite.losses().into_iter().find(|finding| finding.run.is_none());
        let lost_part = cut_off.or_else(|| Some(lost_file()?.fault));
        let ends = Ends::new(Arc::new(backend), lost_part)?;
        let mut archive = Archive::new(ends.log);
        if cut.is_none() {
            archive.findings.extend(ends.mismatches);
        }
        archive.is_damaged |= ends.is_missing || !archive.findings.is_empty();
        archive.sqlite = Some(sqlite).filter(|_| cut.is_none());
        Ok(archive)
    }

    fn of_file(self, path: &Path, stamp: Stamp) -> Self {
        Archive {
            warning: unreadable_marks(path),
            file: FileVersion::new(path),
            path: Some(path.to_owned()),
            stamp,
            ..self
        }
    }

    /// The store, to be read.
    pub fn backend(&self) -> &SharedBackend {
        &self.backend
    }

    /// The same as a log.
    pub fn log(&self) -> Log {
        Log::new(self.backend.clone())
    }

    /// The damage of the file as a whole, and of runs as far as it is known without reading them.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// A note on how it is read.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// What cannot be noticed in it: that runs lost their last events, if their marks cannot be read.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Whether a part of it is known to be missing or damaged.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Copies the log as it is at this moment to a new file, and leaves it and the files beside it unchanged.
    ///
    /// # Errors
    /// [`LogError`]: see [`SqliteBackend::backup`]. [`LogError::Damaged`] if it is damaged.
    pub fn backup(&self, to: &Path) -> Result<BackedUp, LogError> {
        match (&self.sqlite, self.backend.damage()) {
            (Some(sqlite), _) => sqlite.backup(to),
            (None, Some(Finding { fault, .. })) => {
                Err(LogError::damage(self.backend.name(), fault))
            }
            (None, None) => {
                let path = self.backend.name();
                let source = std::io::Error::other("it was opened to be read only");
                Err(LogError::CannotOpen { path, source: Arc::new(source) })
            }
        }
    }

    /// Where an index for searching is kept: not beside a log that is damaged, and in memory for what
    /// is not a log.
    pub fn place_for_search(&self, cache: Option<PathBuf>) -> IndexPlace {
        match &self.path {
            Some(path) if !self.is_damaged && self.note.is_none() => {
                IndexPlace::Sidecar { log: path.clone(), cache }
            }
            _ => IndexPlace::Memory,
        }
    }

    /// Removes the private copy that is read, if there is one. Threads that still read it keep their open files, so
    /// that a program can end without waiting for them.
    pub fn remove_copy(&self) {
        if let Some(copy) = &self.copy {
            // What cannot be removed now is removed with its last reader.
            let _ = std::fs::remove_dir_all(copy.path());
        }
    }
}

/// Whether a part of a log may be in its WAL. An empty one holds nothing: it is of another reader, or was left by
/// one, and goes with the last.
fn has_wal(path: &Path) -> bool {
    let wal = std::fs::metadata(sidecar::path(&canonical(path), "-wal"));
    wal.is_ok_and(|wal| wal.len() > 0)
}

/// Opens a log of which nothing is known yet.
fn open_now(path: &Path, options: SqliteOptions, stamp: &Stamp) -> Result<Archive, LogError> {
    // A process that was killed before its first event leaves a log without runs.
    if SqliteBackend::is_only_begun(path) {
        let has_bytes = std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
        let note = if has_bytes { "it has no tables yet" } else { "the file is empty" };
        let note = Some(format!("{note}, so it has no runs"));
        let empty = MemoryBackend::with_name(path.display().to_string());
        return Ok(Archive { note, ..Archive::new(Arc::new(empty)) });
    }
    let cut = SqliteBackend::cut_off(path);
    // While a WAL is merged, the file may be shorter than it will be.
    let has_wal = stamp[1].is_some_and(|(bytes, _)| bytes > 0);
    let error = match SqliteBackend::open_unchanged(path, options.clone()) {
        // SQLite takes the rest of a page for zeros.
        Ok(_) if cut.is_some() && !has_wal => None,
        Ok(backend) => return Archive::with_ends(backend, None),
        Err(LogError::Damaged { .. } | LogError::NotALog { .. } | LogError::Lost { .. })
            if cut.is_some() =>
        {
            None
        }
        Err(error @ LogError::Unmerged { .. }) => Some(error),
        Err(error) => return Err(error),
    };
    let (folder, copy) = copy_log(path, cut.map(|cut| cut.of))?;
    let folder = Arc::new(folder);
    let copy = LogCopy { path: copy, of: path.to_owned(), folder: folder.clone() };
    // The copy is ours, so its WAL may be merged.
    let opened = match cut {
        Some(cut) => SqliteBackend::open_cut_off(copy, cut, options),
        None => SqliteBackend::open_copy(copy, options).map(|backend| (backend, false)),
    };
    let (backend, is_cut) = match (opened, cut) {
        (Ok((backend, is_cut)), _) if !is_cut || has_runs(&backend) => (backend, is_cut),
        (opened, Some(CutLength { has, of })) => {
            let left = opened.ok().map(|(backend, _)| backend);
            let why = FileFault::CutOff { has, of };
            return Ok(Archive::new(nothing_left(path, why.into(), left.as_ref())));
        }
        (Ok(opened), None) => opened,
        (Err(failed @ LogError::Lost { .. }), None) => return Err(failed),
        (Err(failed), None) => return Err(error.unwrap_or(failed)),
    };
    let cut = cut.filter(|_| is_cut);
    let note = match cut {
        Some(_) => "what is left is read from a private copy",
        None => "its last events are in a WAL that no process has open: a private copy is shown",
    };
    let archive = Archive::with_ends(backend, cut)?;
    Ok(Archive { note: Some(note.to_owned()), copy: Some(folder), ..archive })
}

/// Warns that high-water marks are damaged: what there is is read without them.
fn unreadable_marks(path: &Path) -> Option<String> {
    let damaged = damaged_slots(path) as u64;
    let (marks, log) = (count_of(damaged, "high-water mark"), path.display());
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

/// A log of which not even the list of runs is left, with the runs that are known from the mark beside it and the
/// rest of the ledger.
fn nothing_left(path: &Path, why: Fault, left: Option<&SqliteBackend>) -> SharedBackend {
    let mut lost: Vec<Finding> = marks(path).iter().map(|mark| mark.missing_after(None)).collect();
    let ledger = left.and_then(|left| Ledger::read(left.reader().ok()?.as_mut()).ok());
    let ledger = ledger.unwrap_or_default();
    let last = ledger.known_runs().filter_map(|run| ledger.last_of(run));
    for gone in last.map(LedgerEntry::deletion) {
        if !lost.iter().any(|known| known.run == gone.run) {
            lost.push(Finding { seq: Some(Seq(1)), ..gone });
        }
    }
    let why = Fault::NothingLeft { why: Box::new(why) };
    Arc::new(MemoryBackend::remnant(path.display().to_string(), why, lost))
}

fn stamp(path: &Path) -> Stamp {
    let whole = canonical(path);
    ["", "-wal", "-mark", "-shm"].map(|suffix| {
        let path = sidecar::path(&whole, suffix);
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()))
    })
}
