//! Finds out whether a log has lost events. This is done before SQLite first opens the file,
//! because that destroys the evidence.
//!
//! SQLite drops everything from a bad frame of the WAL on, and the last process to close the file
//! merges the rest and deletes the WAL. So the WAL is read first (`wal`), without a lock: another
//! process may be writing to it. A frame that is half written looks bad, and the frames after it
//! may be whole by the time we get there. But it was whole before those were begun, so a second
//! look finds another bad place, or none. The WAL is damaged only if two consecutive looks find the
//! same bad place in the same use of the file.
//!
//! A damaged WAL is copied (`LOG-wal.damaged-N`) and otherwise left as it is: readers of a log that
//! has lost something do not merge its WAL, and nobody may write.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};

use super::open_file::OpenFile;
use super::wal::{Wal, examine};
use super::{FileUse, SqliteBackend, WalUse, header, schema};
use crate::id::EventHash;
use crate::log::error::LogError;
use crate::log::finding::{EventFault, Fault, FileFault, Finding, WalCopy};
use crate::log::high_water_mark::{HighWaterMark, marks};
use crate::sidecar;

/// The suffix of a damaged WAL that was set aside.
const DAMAGED: &str = "-wal.damaged-";

/// The most copies that are kept.
const MOST_COPIES: usize = 100;

/// How often we look at a WAL that seems damaged in a different way each time: it is being written.
const MOST_LOOKS: usize = 20;

/// The files beside a log before SQLite opens it.
#[derive(Debug, Clone, Default)]
pub(super) struct FilesBeside {
    /// Read first, so that the log has come at least as far as the marks say.
    marks: Vec<HighWaterMark>,
    wal: Wal,
    /// The suffixes of damaged WALs that were set aside, the newest last.
    aside: Vec<String>,
    /// Why the damaged WAL could not be copied.
    not_copied: Option<String>,
    /// Whether a damaged WAL may be copied; not if nothing is to be changed.
    may_copy: bool,
}

impl FilesBeside {
    /// Reads the files beside a log; a damaged WAL is copied if that is allowed.
    pub(super) fn read(log: &Path, may_copy: bool) -> Result<Self, LogError> {
        let failed = |e: io::Error| LogError::cannot_open(format!("{}-wal", log.display()), e);
        let mut beside = FilesBeside { marks: marks(log), may_copy, ..FilesBeside::default() };
        beside.wal = look(log).map_err(failed)?;
        beside.aside = copies(log, DAMAGED);
        if beside.wal.fault.is_some() {
            beside.set_aside(log);
        }
        Ok(beside)
    }

    /// Whether a log without tables has lost them, as opposed to one that was only just created.
    pub(super) fn shows_a_loss(&self) -> bool {
        !self.marks.is_empty() || self.wal.fault.is_some() || !self.aside.is_empty()
    }

    /// Whether an empty log once had contents.
    fn shows_what_was(&self) -> bool {
        self.shows_a_loss() || self.wal.committed > 0
    }

    /// Keeps a copy of the WAL. A failure to copy is not a reason to stop: the WAL itself is left
    /// alone.
    fn set_aside(&mut self, log: &Path) {
        if !self.may_copy {
            return;
        }
        match copy(log, self.aside.last()) {
            Ok(Some(copy)) => self.aside.push(copy),
            Ok(None) => {}
            Err(e) => self.not_copied = Some(e.to_string()),
        }
    }

    /// The losses, as far as a connection shows them; if the log cannot be read, it counts as empty.
    fn losses(&mut self, log: &Path, db: Option<&Connection>) -> Vec<Finding> {
        let mut missing: Vec<Finding> = match db {
            // A mark that cannot be looked up means damage, which is reported when it is read.
            Some(db) => self.marks.iter().filter_map(|mark| shortfall(db, mark).ok()?).collect(),
            None => self.marks.iter().map(|mark| mark.missing_after(None)).collect(),
        };
        if !missing.is_empty() && self.wal.continues {
            self.set_aside(log);
        }
        let mut lost: Vec<Finding> = match self.wal.fault {
            Some(wal) => {
                let copy = match (&self.not_copied, self.aside.last()) {
                    (None, Some(copy)) => {
                        let copy = sidecar::path(&sidecar::canonical(log), copy);
                        WalCopy::At(copy.display().to_string())
                    }
                    _ if !self.may_copy => WalCopy::None,
                    (reason, _) => {
                        WalCopy::Failed(reason.clone().unwrap_or_else(|| "unknown".to_owned()))
                    }
                };
                vec![Finding::of_file(FileFault::Wal { wal, copy })]
            }
            None => {
                self.aside.iter().map(|copy| Finding::of_file(earlier_wal(log, copy))).collect()
            }
        };
        lost.append(&mut missing);
        lost
    }
}

/// What to report about a WAL that was set aside.
fn earlier_wal(log: &Path, copy: &str) -> FileFault {
    let log = sidecar::canonical(log);
    let path = sidecar::path(&log, copy).display().to_string();
    let file = sidecar::read(&log, copy).ok().flatten();
    FileFault::EarlierWal { path, wal: file.and_then(|file| examine(file).ok()?.fault) }
}

/// The finding about a run that ends before its mark or has another event there.
fn shortfall(db: &Connection, mark: &HighWaterMark) -> rusqlite::Result<Option<Finding>> {
    let found = |query: &str| {
        let mut query = db.prepare_cached(query)?;
        query.query_row([mark.run.as_bytes()], |r| r.get::<_, i64>(0)).optional()
    };
    // A run that a damaged index does not find may be in the table nevertheless.
    let run = match found("SELECT no FROM run_ids WHERE id = ?1")? {
        None => found("SELECT no FROM run_ids NOT INDEXED WHERE id = ?1")?,
        found => found,
    };
    let Some(no) = run else { return Ok(Some(mark.missing_after(None))) };
    // Numbers that are out of range are damage of another kind.
    let (Some(first), Ok(seq)) = (no.checked_mul(1 << 32), u32::try_from(mark.head.seq.0)) else {
        return Ok(None);
    };
    let marked = first + i64::from(seq);
    let mut event = db.prepare_cached("SELECT hash FROM events WHERE id = ?1")?;
    match event.query_row([marked], |r| r.get(0)).optional()?.map(EventHash) {
        Some(hash) if hash == mark.head.hash => Ok(None),
        Some(_) => Ok(Some(Finding::of_event(mark.run, mark.head.seq, EventFault::OtherAtMark))),
        None => {
            let last = "SELECT max(id) FROM events WHERE id > ?1 AND id < ?2";
            let mut last = db.prepare_cached(last)?;
            let last: Option<i64> = last.query_row([first, marked], |r| r.get(0))?;
            // In a damaged table, a scan may end before events that a look-up finds. That is damage of another kind.
            if event.exists([last.unwrap_or(first) + 1])? {
                return Ok(None);
            }
            Ok(Some(mark.missing_after(last.map(|last| (last & 0xffff_ffff) as u64))))
        }
    }
}

/// If the WAL looks damaged, looks again until two looks agree.
fn look(log: &Path) -> io::Result<Wal> {
    let mut last = wal_of(log)?;
    for _ in 0..MOST_LOOKS {
        if last.fault.is_none() {
            return Ok(last);
        }
        std::thread::sleep(Duration::from_millis(20));
        let again = wal_of(log)?;
        if again.is_damaged_like(&last) {
            return Ok(again);
        }
        last = again;
    }
    last.fault = None;
    Ok(last)
}

fn wal_of(log: &Path) -> io::Result<Wal> {
    let path = wal_path(log);
    // Opening a pipe may block forever. SQLite will report whatever cannot be opened.
    let is_file = fs::metadata(&path).is_ok_and(|found| found.is_file());
    match is_file.then(|| File::open(path)) {
        Some(Ok(file)) => examine(file),
        _ => Ok(Wal::default()),
    }
}

fn wal_path(log: &Path) -> PathBuf {
    sidecar::path(&sidecar::canonical(log), "-wal")
}

/// The suffixes of the numbered files beside a log.
fn copies(log: &Path, kind: &str) -> Vec<String> {
    let log = sidecar::canonical(log);
    let exists = |copy: &String| sidecar::path(&log, copy).symlink_metadata().is_ok();
    let all = (1..=MOST_COPIES).map(|n| format!("{kind}{n}"));
    let folder = log.parent().filter(|folder| !folder.as_os_str().is_empty());
    // A folder that cannot be listed is asked for each name.
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return all.filter(exists).collect();
    };
    let first = sidecar::path(&log, kind);
    let first = first.file_name().map(OsStr::as_encoded_bytes).unwrap_or_default();
    let names: BTreeSet<OsString> = entries
        .flatten()
        .map(|entry| entry.file_name())
        .filter(|name| name.as_encoded_bytes().starts_with(first))
        .collect();
    let is_there = |copy: &String| {
        sidecar::path(&log, copy).file_name().is_some_and(|name| names.contains(name))
    };
    all.filter(|_| !names.is_empty()).filter(is_there).collect()
}

/// Copies the WAL to a free name unless the newest copy is the same; returns the suffix if it
/// copied.
fn copy(log: &Path, newest: Option<&String>) -> io::Result<Option<String>> {
    let log = sidecar::canonical(log);
    let mut wal = File::open(wal_path(&log))?;
    if let Some(newest) = newest
        && let Ok(Some(newest)) = sidecar::read(&log, newest)
        && same(&mut wal, newest)?
    {
        return Ok(None);
    }
    // Under another name until it is complete.
    let part = sidecar::path(&log, &format!("-wal.part-{}", std::process::id()));
    let _ = fs::remove_file(&part);
    let copied = (|| {
        let mut to = File::options().write(true).create_new(true).open(&part)?;
        io::copy(&mut File::open(wal_path(&log))?, &mut to)?;
        to.sync_all()?;
        rename(&part, &log, DAMAGED)
    })();
    let _ = fs::remove_file(&part);
    copied.map(Some)
}

/// Gives a file a free numbered name beside a log; returns the suffix of that name.
fn rename(file: &Path, log: &Path, kind: &str) -> io::Result<String> {
    for n in 1..=MOST_COPIES {
        let free = format!("{kind}{n}");
        let path = sidecar::path(log, &free);
        if path.symlink_metadata().is_ok() {
            continue;
        }
        // A hard link replaces nothing; some file systems have none.
        match fs::hard_link(file, &path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            Ok(()) => fs::remove_file(file)?,
            Err(_) => fs::rename(file, &path)?,
        }
        return Ok(free);
    }
    Err(io::Error::other("there are too many copies already"))
}

fn same(a: &mut File, mut b: File) -> io::Result<bool> {
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut left, mut right) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        let read = a.read(&mut left)?;
        if read == 0 {
            return Ok(true);
        }
        if b.read_exact(&mut right[..read]).is_err() || left[..read] != right[..read] {
            return Ok(false);
        }
    }
}

impl SqliteBackend {
    /// Opens the file for the first time, after looking at the files beside it.
    pub(super) fn begin(
        mut self,
        is_new: bool,
        connect: impl FnOnce(&Self) -> Result<OpenFile, LogError>,
    ) -> Result<Self, LogError> {
        let mut beside = FilesBeside::read(&self.path, !self.is_looked_at())?;
        let marked = beside.marks.len();
        if is_new {
            // They belong to a log that no longer exists.
            beside.marks.clear();
        }
        self.wal_use = WalUse::Kept;
        self.had_tables = beside.shows_a_loss();
        if is_empty(&self.path) && beside.shows_what_was() {
            // SQLite would delete the WAL of an empty file.
            let (frames, runs) = (beside.wal.committed, marked as u64);
            return Err(LogError::loss(self.name(), FileFault::Emptied { frames, runs }));
        }
        if let Some(cut) = cut_off(&self.path) {
            self.defect = Some(Arc::new(cut));
            self.wal_use = WalUse::Ignored;
        }
        if beside.wal.fault.is_some() && self.holds_all_alone(&beside.marks) {
            self.wal_use = WalUse::Ignored;
        }
        let db = match connect(&self) {
            Err(LogError::Lost { .. }) => {
                return Err(LogError::loss(self.name(), summary(&beside.losses(&self.path, None))));
            }
            // What remains without some of its pages need not look like a log.
            Err(error @ (LogError::Damaged { .. } | LogError::NotALog { .. }))
                if beside.wal.fault.is_some() =>
            {
                let why = match error {
                    LogError::Damaged { fault, .. } => fault,
                    LogError::NotALog { reason: why, .. } => {
                        Box::new(FileFault::NotALog { why }.into())
                    }
                    other => return Err(other),
                };
                let lost = Box::new(summary(&beside.losses(&self.path, None)));
                return Err(LogError::loss(self.name(), FileFault::LostAndDamaged { lost, why }));
            }
            connected => connected?,
        };
        self.damaged = self
            .damaged
            .or_else(|| header::damage(&self.path))
            .or_else(|| self.defect.as_deref().cloned())
            .or_else(|| schema::format_fault(&db).ok()?);
        self.lost = beside.losses(&self.path, Some(&db)).into();
        if self.lost.is_empty() && !self.is_looked_at() && self.wal_use == WalUse::Kept {
            self.wal_use = WalUse::Merged;
            let merge = db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
            merge.map_err(|e| self.error(e))?;
        }
        // The first reader goes on with this connection.
        let (db, fuel) = self.tune(db)?;
        self.idle.put(db, fuel, &self.path);
        Ok(self)
    }

    fn is_looked_at(&self) -> bool {
        matches!(self.use_of_file, FileUse::Looked)
    }

    /// Whether a missing file has left events in its WAL: it was deleted or moved while it was
    /// written.
    pub(super) fn is_gone(path: &Path) -> Result<bool, LogError> {
        let wal = FilesBeside::read(path, false)?.wal;
        Ok(wal.committed > 0 || wal.fault.is_some())
    }

    /// Whether a file is all that is left of a process that died before it wrote anything.
    pub fn is_only_begun(path: &Path) -> bool {
        let is_whole =
            || FilesBeside::read(path, false).is_ok_and(|beside| !beside.shows_what_was());
        path.exists() && (is_empty(path) || header::has_no_tables(path)) && is_whole()
    }

    /// Refuses to write to a log that has lost something: its remains must stay as they are.
    pub(super) fn refuse_after_a_loss(&self) -> Result<(), LogError> {
        if self.lost.is_empty() {
            Ok(())
        } else {
            Err(LogError::loss(self.name(), summary(&self.lost)))
        }
    }

    /// Whether the file has everything that its marks claim even without its WAL. In that case all
    /// of the WAL was merged already, and reading its beginning would replace newer pages by older
    /// ones.
    fn holds_all_alone(&self, marks: &[HighWaterMark]) -> bool {
        let Ok(db) = self.alone() else { return false };
        !marks.is_empty() && marks.iter().all(|mark| matches!(shortfall(&db, mark), Ok(None)))
    }
}

/// If a log is shorter than its header says, and no transaction in its WAL can have the rest: that it was cut off. While a WAL is
/// merged, the file may be too short as well, so it is looked at before and after the WAL.
fn cut_off(log: &Path) -> Option<FileFault> {
    header::cut_off(log)?;
    wal_of(log).ok().filter(|wal| wal.committed == 0)?;
    header::cut_off(log)
}

/// Whether a file is empty or missing.
fn is_empty(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |file| file.is_file() && file.len() == 0)
}

/// The first finding, and how many more there are.
fn summary(findings: &[Finding]) -> Fault {
    match findings {
        [] => FileFault::NoTables.into(),
        [first, more @ ..] => {
            FileFault::Several { first: Box::new(first.clone()), more: more.len() }.into()
        }
    }
}
