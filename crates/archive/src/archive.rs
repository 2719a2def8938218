//! A log or recorded runs, opened to be read.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use retold::counted::count_of;
use retold::id::Seq;
use retold::log::ledger::{Ledger, LedgerEntry};
use retold::log::{
    Backend as _, Fault, FileFault, Finding, Log, LogError, MemoryBackend, SharedBackend,
    SqliteBackend, SqliteOptions, StoreInfo, damaged_slots, marks,
};
use retold::sidecar::{self, canonical};
use retold_bucket::BucketBackend;

use crate::missing_ends::Ends;
use crate::place::bucket;
use crate::search::IndexPlace;
use crate::verdict::is_cut_off;

/// A log or recorded runs, as they were when they were opened. Each run ends before the first event that is
/// missing: reading on is an error that names it.
#[derive(Clone)]
pub struct Archive {
    backend: SharedBackend,
    /// The same, whose runs do not end before what is known to be missing.
    store: SharedBackend,
    /// The store, if it is a bucket, whose state cannot be seen from beside it.
    bucket: Option<BucketBackend>,
    /// The file, unless the runs were read into memory.
    path: Option<PathBuf>,
    findings: Vec<Finding>,
    note: Option<String>,
    warning: Option<String>,
    is_damaged: bool,
    version: LogVersion,
}

/// The size and time of a log and of the files beside it.
type Stamp = [Option<(u64, Option<SystemTime>)>; 4];

/// The files of a log as they were when it was opened; `None` of what is in memory or in a bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogVersion {
    stamp: Stamp,
    file: Option<FileVersion>,
}

impl LogVersion {
    /// Whether it is of the same file as an earlier one, and nothing was cut off.
    pub fn continues(&self, before: &Self) -> bool {
        match (&before.file, &self.file) {
            (Some(before), Some(now)) => now.is_at_least(before),
            (before, now) => before.is_none() == now.is_none(),
        }
    }
}

/// Which file a log is: the numbers of its device and inode (0 on systems that have none), and its size in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        let backend: SharedBackend = Arc::new(SqliteBackend::open(path, options)?);
        Ok(Archive { store: backend.clone(), backend, ..archive })
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
        let opened = match open_now(path, options) {
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
        match self.version.stamp == stamp(path) {
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
        let file = self.path.as_deref().and_then(FileVersion::new);
        LogVersion { file, ..LogVersion::default() }.continues(&self.version)
    }

    /// The files as they were when it was opened.
    pub fn version(&self) -> &LogVersion {
        &self.version
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
            store: backend.clone(),
            backend,
            bucket: None,
            path: None,
            findings,
            note: None,
            warning: None,
            version: LogVersion::default(),
        }
    }

    /// A log in a bucket, with the runs that it has now.
    fn of_bucket(bucket: &BucketBackend) -> Self {
        let backend = Arc::new(bucket.as_of_now());
        Archive { bucket: Some(bucket.clone()), ..Archive::new(backend) }
    }

    /// A log of which the list of runs can be read.
    fn with_ends(backend: SqliteBackend) -> Result<Self, LogError> {
        let is_cut = is_cut_off(&backend);
        let StoreInfo { losses, damage, .. } = backend.info();
        let lost_file = || losses.into_iter().find(|finding| finding.run.is_none());
        let lost_part = damage.filter(|_| is_cut).or_else(lost_file);
        let lost_part = lost_part.map(|finding| finding.fault);
        let store: SharedBackend = Arc::new(backend);
        let ends = Ends::new(store.clone(), lost_part)?;
        let mut archive = Archive { store, ..Archive::new(ends.log) };
        if !is_cut {
            archive.findings.extend(ends.mismatches);
        }
        archive.is_damaged |= ends.is_missing || !archive.findings.is_empty();
        Ok(archive)
    }

    fn of_file(self, path: &Path, stamp: Stamp) -> Self {
        Archive {
            warning: unreadable_marks(path),
            version: LogVersion { stamp, file: FileVersion::new(path) },
            path: Some(path.to_owned()),
            ..self
        }
    }

    /// The store, to be read.
    pub fn backend(&self) -> &SharedBackend {
        &self.backend
    }

    /// The store itself, to save what can be read after damage: its runs do not end before what is known to be missing.
    pub fn store(&self) -> &SharedBackend {
        &self.store
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
}

/// Whether a part of a log may be in its WAL. An empty one holds nothing: it is of another reader, or was left by
/// one, and goes with the last.
fn has_wal(path: &Path) -> bool {
    let wal = std::fs::metadata(sidecar::path(&canonical(path), "-wal"));
    wal.is_ok_and(|wal| wal.len() > 0)
}

/// Opens a log of which nothing is known yet.
fn open_now(path: &Path, options: SqliteOptions) -> Result<Archive, LogError> {
    // A process that was killed before its first event leaves a log without runs.
    if SqliteBackend::is_only_begun(path) {
        let has_bytes = std::fs::metadata(path).is_ok_and(|found| found.len() > 0);
        let note = if has_bytes { "it has no tables yet" } else { "the file is empty" };
        let note = Some(format!("{note}, so it has no runs"));
        let empty = MemoryBackend::with_name(path.display().to_string());
        return Ok(Archive { note, ..Archive::new(Arc::new(empty)) });
    }
    match SqliteBackend::open_unchanged(path, options) {
        Ok(backend) => match backend.info().damage.filter(|_| is_cut_off(&backend)) {
            Some(cut) if !has_runs(&backend) => {
                Ok(Archive::new(nothing_left(path, cut.fault, Some(&backend))))
            }
            _ => Archive::with_ends(backend),
        },
        Err(LogError::Damaged { .. } | LogError::NotALog { .. } | LogError::Lost { .. })
            if let Some(cut) = SqliteBackend::cut_off(path) =>
        {
            Ok(Archive::new(nothing_left(path, cut.into(), None)))
        }
        Err(error) => Err(error),
    }
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

/// The numbers of a file's device and inode; 0 on systems that have none.
fn id(found: &Metadata) -> (u64, u64) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        (found.dev(), found.ino())
    }
    #[cfg(not(unix))]
    {
        let _ = found;
        (0, 0)
    }
}

fn stamp(path: &Path) -> Stamp {
    let whole = canonical(path);
    ["", "-wal", "-mark", "-shm"].map(|suffix| {
        let path = sidecar::path(&whole, suffix);
        let found = std::fs::metadata(path).ok()?;
        Some((found.len(), found.modified().ok()))
    })
}
