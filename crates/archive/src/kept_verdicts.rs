//! Verdicts about long runs from their last verification, in the user's cache.
//!
//! A run is verified before anything of it is shown. With a million answers that takes seconds, and a command that
//! shows one of them should answer at once. So verdicts are kept, in one small file for each log, and hold as long
//! as the log's file is the same, with the same size and times, and its WAL has the same contents. The times do
//! not show a second change within one tick of the file system's clock, so nothing is kept about a file that has
//! only just been changed. Anyone who can set the machine's clock, write to the user's cache, map the file into
//! memory, or switch a link to it there and back while it is opened can defeat this. They cannot defeat `retold verify`, which always reads everything.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use retold::PROGRAM;
use retold::id::{RunId, Seq};
use retold::log::{Backend, Finding, LogError, Reader, Verification};
use serde::{Deserialize, Serialize};

use crate::file_stamp::FileStamp;
use crate::search::in_cache;
use crate::verdict::{Damage, Verdict, ledger_mismatch, read_whole, with_lost};

/// The longest run of which nothing is kept, in events: to verify it takes less than half a second.
const MOST_CHECKED: u64 = 100_000;

/// The smallest log that can have a longer run, in bytes.
const LEAST_BYTES: u64 = 4 << 20;

/// More than a tick of the clock of any file system with a journal.
const TICK: Duration = Duration::from_millis(100);

/// The longest file of kept verdicts that is read, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// True if a run has so many events, and not only one with so high a number, that its verdict is kept.
pub fn is_long(reader: &mut dyn Reader, run: RunId) -> bool {
    let after = reader.events(run, Seq(MOST_CHECKED), 1);
    after.is_ok_and(|after| after.first().is_some_and(|event| event.seq.0 == MOST_CHECKED + 1))
}

/// The verdict to keep about a run, if the run is long.
pub fn verdict_of_long(found: &Verification, reader: &mut dyn Reader) -> Option<(RunId, Verdict)> {
    let verdict = match found.finding.clone() {
        None => Verdict::default(),
        Some(Finding { seq: Some(seq), fault, .. }) => {
            Verdict { from: Some(Damage { seq, fault }), whole: None }
        }
        Some(Finding { seq: None, fault, .. }) => Verdict { from: None, whole: Some(fault) },
    };
    let is_long = match verdict.from {
        None => found.events > MOST_CHECKED,
        Some(_) => is_long(reader, found.run),
    };
    is_long.then_some((found.run, verdict))
}

/// The kept verdicts about a log.
#[derive(Serialize, Deserialize)]
struct KeptVerdicts {
    /// The release that verified: another one may see more.
    program: String,
    log: String,
    files: FileStamp,
    runs: BTreeMap<RunId, Verdict>,
}

/// The verdict from when a run of a log was last verified, if the log is as it was then.
pub fn recall(cache: &Path, log: &Path, run: RunId) -> Option<Verdict> {
    recall_all(cache, log).remove(&run)
}

/// The same for all its runs of which this is known.
pub fn recall_all(cache: &Path, log: &Path) -> BTreeMap<RunId, Verdict> {
    let kept = || {
        let log = std::fs::canonicalize(log).ok()?;
        let kept = read(&place(cache, &log))?;
        let is_it = kept.program == PROGRAM && kept.files == FileStamp::new(&log).ok()?;
        is_it.then_some(kept.runs)
    };
    kept().unwrap_or_default()
}

/// The verdict about a run. For a long one, the kept verdict holds if the log is as it was when the run was last
/// verified; if not, the run is verified now. This is kept, unless the log may have been changed since it was opened,
/// which was up to `before` ago.
///
/// # Errors
/// [`LogError`] if the log cannot be read for another reason than damage.
pub fn verdict_as_kept(
    cache: Option<&Path>,
    log: &dyn Backend,
    run: RunId,
    before: Duration,
) -> Result<Verdict, LogError> {
    let is_long = is_long(log.reader()?.as_mut(), run);
    let place = cache.zip(log.file()).filter(|_| is_long);
    if let Some((cache, file)) = place
        && let Some(kept) = recall(cache, file, run)
    {
        let mismatch = if kept.from.is_none() { ledger_mismatch(log, run)? } else { None };
        let whole = mismatch.or(kept.whole);
        return Ok(with_lost(log, run, Verdict { whole, ..kept }));
    }
    let verifying = place.and_then(|(cache, file)| Verifying::since(cache, file, before));
    let found = read_whole(log, run)?;
    if let Some(verifying) = verifying
        && let Err(error) = verifying.keep([(run, found.clone())])
    {
        tracing::warn!(%error, "what was found in a run cannot be kept");
    }
    Ok(with_lost(log, run, found))
}

fn place(cache: &Path, log: &Path) -> PathBuf {
    in_cache(cache, log, "verified")
}

fn read(place: &Path) -> Option<KeptVerdicts> {
    let found = place.symlink_metadata().ok()?;
    let is_readable = found.is_file() && found.len() <= MOST_BYTES;
    let text = is_readable.then(|| std::fs::read(place).ok())??;
    // A file that is not ours, or of another release, is as if it were not there.
    serde_json::from_slice(&text).ok()
}

/// The files of a log as they were before its runs were verified.
pub struct Verifying {
    place: PathBuf,
    /// As the user named it: links on the way to it may be switched.
    named: PathBuf,
    log: PathBuf,
    files: FileStamp,
}

impl Verifying {
    /// To be called before the log is opened. Waits for a moment if it was changed just now. `None` if there is
    /// nothing to keep about it.
    ///
    /// # Errors
    /// The file cannot be looked at, or is being changed.
    pub fn soon(cache: &Path, named: &Path) -> io::Result<Option<Self>> {
        let log = std::fs::canonicalize(named)?;
        let files = FileStamp::new(&log)?;
        if files.bytes() < LEAST_BYTES {
            return Ok(None);
        }
        let Some(age) = files.age(&log) else {
            return Err(io::Error::other("the log's time of last change is in the future"));
        };
        if let Some(left) = TICK.checked_sub(age) {
            std::thread::sleep(left);
            if FileStamp::new(&log)? != files {
                return Err(change_error());
            }
        }
        Ok(Some(Self::new(cache, named, log, files)))
    }

    /// The same for a log that was opened up to `before` ago: `None` if it may have been changed since.
    pub(crate) fn since(cache: &Path, named: &Path, before: Duration) -> Option<Self> {
        let log = std::fs::canonicalize(named).ok()?;
        let files = FileStamp::new(&log).ok()?;
        let is_settled = files.age(&log)? > before + TICK;
        is_settled.then(|| Self::new(cache, named, log, files))
    }

    fn new(cache: &Path, named: &Path, log: PathBuf, files: FileStamp) -> Self {
        Verifying { place: place(cache, &log), named: named.to_owned(), log, files }
    }

    /// Keeps the verdicts.
    ///
    /// # Errors
    /// The log is not as it was, or the cache cannot be written.
    pub fn keep(self, found: impl IntoIterator<Item = (RunId, Verdict)>) -> io::Result<()> {
        let Verifying { place, named, log, files } = self;
        let mut runs: BTreeMap<RunId, Verdict> = found.into_iter().collect();
        if runs.is_empty() {
            return Ok(());
        }
        let is_it = std::fs::canonicalize(named)? == log;
        if !is_it || FileStamp::new(&log)? != files {
            return Err(change_error());
        }
        if let Some(before) = read(&place)
            && before.program == PROGRAM
            && before.files == files
        {
            let known = before.runs.into_iter().filter(|(run, _)| !runs.contains_key(run));
            runs.extend(known.collect::<Vec<_>>());
        }
        let kept = KeptVerdicts {
            program: PROGRAM.to_owned(),
            log: log.display().to_string(),
            files,
            runs,
        };
        let cannot = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot write {}: {error}", place.display()))
        };
        write(&place, &kept).map_err(cannot)
    }
}

fn change_error() -> io::Error {
    io::Error::other("the log was changed meanwhile")
}

/// Writes a file so that a reader finds the whole of it, or the previous one.
fn write(place: &Path, kept: &KeptVerdicts) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(kept)?)?;
    file.persist(place)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use retold::log::EventFault;
    use retold::sidecar;

    use super::*;

    const RUN: RunId = RunId([7; 8]);

    fn damage(seq: u64) -> Verdict {
        Verdict {
            from: Some(Damage { seq: Seq(seq), fault: EventFault::Hash.into() }),
            whole: None,
        }
    }

    /// A folder with a log of the least size; `verify` says that a run was verified.
    fn log() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("a.db");
        std::fs::write(&log, vec![1; LEAST_BYTES as usize]).unwrap();
        (folder, log)
    }

    fn verify(folder: &Path, log: &Path, found: Verdict) {
        let verifying = Verifying::soon(folder, log).unwrap().expect("a large log");
        verifying.keep([(RUN, found)]).unwrap();
    }

    #[test]
    fn what_was_found_holds_until_the_log_or_its_wal_is_changed() {
        let (folder, log) = log();
        let cache = folder.path().join("cache");
        assert_eq!(recall(&cache, &log, RUN), None);
        verify(&cache, &log, damage(5));
        assert_eq!(recall(&cache, &log, RUN), Some(damage(5)));
        assert_eq!(recall(&cache, &log, RunId([8; 8])), None);
        // A WAL without anything in it comes and goes with readers.
        std::fs::write(sidecar::path(&log, "-wal"), b"").unwrap();
        assert_eq!(recall(&cache, &log, RUN), Some(damage(5)));
        std::fs::write(sidecar::path(&log, "-wal"), b"x").unwrap();
        assert_eq!(recall(&cache, &log, RUN), None);
        verify(&cache, &log, damage(6));
        assert_eq!(recall(&cache, &log, RUN), Some(damage(6)));
        // Root gives a WAL to its owner each time it opens it.
        std::fs::write(sidecar::path(&log, "-wal"), b"x").unwrap();
        assert_eq!(recall(&cache, &log, RUN), Some(damage(6)));
        std::fs::write(sidecar::path(&log, "-wal"), b"y").unwrap();
        assert_eq!(recall(&cache, &log, RUN), None);
        std::fs::remove_file(sidecar::path(&log, "-wal")).unwrap();
        verify(&cache, &log, damage(5));
        // Changed and given its old time again.
        let before = std::fs::metadata(&log).unwrap().modified().unwrap();
        let file = std::fs::File::options().write(true).open(&log).unwrap();
        (&file).write_all(b"2").unwrap();
        file.set_modified(before).unwrap();
        assert_eq!(std::fs::metadata(&log).unwrap().modified().unwrap(), before);
        assert_eq!(recall(&cache, &log, RUN), None);
    }

    #[test]
    fn a_log_with_a_time_in_the_future_is_not_kept() {
        let (folder, log) = log();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(32_503_680_000);
        std::fs::File::options().write(true).open(&log).unwrap().set_modified(time).unwrap();
        assert!(Verifying::soon(folder.path(), &log).is_err());
    }

    #[test]
    fn another_file_of_the_same_name_is_another_log() {
        let (folder, log) = log();
        verify(folder.path(), &log, damage(5));
        let other = folder.path().join("other");
        std::fs::copy(&log, &other).unwrap();
        std::fs::rename(&other, &log).unwrap();
        assert_eq!(recall(folder.path(), &log, RUN), None);
    }

    #[test]
    fn a_log_that_is_changed_while_it_is_verified_is_not_kept() {
        let (folder, log) = log();
        let verifying = Verifying::soon(folder.path(), &log).unwrap().unwrap();
        std::fs::write(&log, vec![2; LEAST_BYTES as usize]).unwrap();
        assert!(verifying.keep([(RUN, damage(5))]).is_err());
        assert_eq!(recall(folder.path(), &log, RUN), None);
        // Nor is one that may have been changed after it was opened.
        assert!(Verifying::since(folder.path(), &log, Duration::from_secs(3600)).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_is_switched_while_a_log_is_verified_is_noticed() {
        use std::os::unix::fs::symlink;
        let (folder, log) = log();
        let (other, link) = (folder.path().join("other.db"), folder.path().join("link.db"));
        std::fs::copy(&log, &other).unwrap();
        symlink(&log, &link).unwrap();
        let verifying = Verifying::soon(folder.path(), &link).unwrap().unwrap();
        std::fs::remove_file(&link).unwrap();
        symlink(&other, &link).unwrap();
        assert!(verifying.keep([(RUN, Verdict::default())]).is_err());
        assert_eq!(recall(folder.path(), &log, RUN), None);
        // What is found through a link is known of the log.
        verify(folder.path(), &link, damage(5));
        assert_eq!(recall(folder.path(), &other, RUN), Some(damage(5)));
    }

    #[test]
    fn the_other_runs_of_a_log_stay_known() {
        let (folder, log) = log();
        verify(folder.path(), &log, damage(5));
        let verifying = Verifying::soon(folder.path(), &log).unwrap().unwrap();
        verifying.keep([(RunId([8; 8]), Verdict::default())]).unwrap();
        assert_eq!(recall(folder.path(), &log, RUN), Some(damage(5)));
        assert_eq!(recall(folder.path(), &log, RunId([8; 8])), Some(Verdict::default()));
    }

    #[test]
    fn what_cannot_be_read_is_as_if_it_were_not_there() {
        let (folder, log) = log();
        verify(folder.path(), &log, damage(5));
        let place = place(folder.path(), &log.canonicalize().unwrap());
        let text = std::fs::read_to_string(&place).unwrap();
        for other in ["", "{", &text.replace(PROGRAM, "retold 0.0.9"), &text[..text.len() - 1]] {
            std::fs::write(&place, other).unwrap();
            assert_eq!(recall(folder.path(), &log, RUN), None, "{other}");
        }
        verify(folder.path(), &log, damage(6));
        assert_eq!(recall(folder.path(), &log, RUN), Some(damage(6)));
    }

    #[test]
    fn a_cache_that_cannot_be_written_is_an_error() {
        let (folder, log) = log();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let verifying = Verifying::soon(&file.join("cache"), &log).unwrap().unwrap();
        assert!(verifying.keep([(RUN, damage(5))]).is_err());
    }
}
