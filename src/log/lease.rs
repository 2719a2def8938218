//! A lease as a lock on a file beside the log: the operating system releases it when the process
//! dies.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use super::backend::{Lease, LeaseGuard};
use super::error::LogError;
use crate::id::RunId;
use crate::sidecar;

/// A locked file, which is removed when the lease ends normally.
#[derive(Debug)]
struct FileLease {
    _locked: File,
    path: PathBuf,
}

impl LeaseGuard for FileLease {}

impl Drop for FileLease {
    fn drop(&mut self) {
        // The file is removed while it is still locked, so that nobody can lock a file that is
        // about to go. A file left over from a crash does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Takes the lease of a run of the log at a path.
pub(super) fn take(log: &Path, run: RunId) -> Result<Lease, LogError> {
    // By its canonical name, since SQLite follows links, too.
    let log = std::fs::canonicalize(log).map_err(|e| cannot_open(log, e))?;
    let suffix = format!("-{run}.lease");
    let path = sidecar::path(&log, &suffix);
    loop {
        // A link or anything else that somebody has put there is not opened, because the file is
        // truncated below.
        let mut file = sidecar::open(&log, &suffix)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut pid = String::new();
                let _ = Read::by_ref(&mut file).take(20).read_to_string(&mut pid);
                let holder = match pid.trim().parse::<u32>() {
                    Ok(pid) => format!(" (process {pid})"),
                    Err(_) => String::new(),
                };
                return Err(LogError::InUse { run, holder });
            }
            Err(TryLockError::Error(e)) => return Err(cannot_open(&path, e)),
        }
        // The previous holder may have removed the file between our opening and our locking it.
        if !sidecar::is_same_file(&file, &path) {
            continue;
        }
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = write!(file, "{}", std::process::id());
        return Ok(Lease::new(FileLease { _locked: file, path }));
    }
}

/// Whether a process holds the lease of a run of the log at a path. Nothing is written.
pub fn is_being_written(log: &Path, run: RunId) -> bool {
    match sidecar::read(&sidecar::canonical(log), &format!("-{run}.lease")) {
        Ok(None) => false,
        // It is released again when the file is closed.
        Ok(Some(file)) => !matches!(file.try_lock_shared(), Ok(())),
        // If this cannot be found out, somebody may.
        Err(_) => true,
    }
}

fn cannot_open(path: &Path, error: std::io::Error) -> LogError {
    LogError::cannot_open(path.display().to_string(), error)
}
