//! Private copies of logs. What a killed program left is removed when the next copy is made.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use retold::log::{CopyFolder, LogError};
use retold::sidecar;
use tempfile::TempDir;

/// How the names of the folders begin.
const PREFIX: &str = "retold-copy-";

/// The file that is locked.
const LOCK: &str = "lock";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct PrivateCopy {
    folder: TempDir,
    /// A file in it, locked as long as somebody reads the copy. (The folder itself is locked while a log in it is
    /// closed.)
    _locked: File,
}

impl CopyFolder for PrivateCopy {}

impl PrivateCopy {
    pub(crate) fn make() -> io::Result<Self> {
        let temporary = std::env::temp_dir();
        remove_left(&temporary);
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(&temporary)?;
            let lock = folder.path().join(LOCK);
            if let Some(locked) = sidecar::lock_new(File::create_new(&lock)?, &lock) {
                return Ok(PrivateCopy { folder, _locked: locked });
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the copies that nobody reads. What cannot be removed is of somebody else.
fn remove_left(temporary: &Path) {
    for entry in std::fs::read_dir(temporary).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)) {
            let _ = remove_if_left(&entry.path());
        }
    }
}

fn remove_if_left(folder: &Path) -> io::Result<()> {
    // Whoever makes it has the lock, or finds it gone and makes another one.
    let lock = File::open(folder.join(LOCK))?;
    match folder.symlink_metadata()?.is_dir() && lock.try_lock().is_ok() {
        true => std::fs::remove_dir_all(folder),
        false => Ok(()),
    }
}

/// A private copy of a log and of what is beside it. If it was cut off, it is made as long as it was:
/// SQLite refuses a file that is shorter than its header says.
pub(crate) fn copied(path: &Path, length: Option<u64>) -> Result<(PrivateCopy, PathBuf), LogError> {
    let cannot = |e: io::Error| LogError::CannotCopy {
        path: "a temporary folder".to_owned(),
        source: Box::<dyn std::error::Error + Send + Sync>::from(e).into(),
    };
    let folder = PrivateCopy::make().map_err(cannot)?;
    let (whole, log) = (sidecar::canonical(path), folder.path().join("log.db"));
    for suffix in ["", "-wal", "-mark"] {
        if let Some(mut from) = regular(&sidecar::path(&whole, suffix)) {
            let mut to = File::create_new(sidecar::path(&log, suffix)).map_err(cannot)?;
            io::copy(&mut from, &mut to).map_err(cannot)?;
            if let ("", Some(length)) = (suffix, length) {
                to.set_len(length).map_err(cannot)?;
            }
        }
    }
    Ok((folder, log))
}

/// Opens a file that is not a pipe or device: opening these may wait forever.
fn regular(path: &Path) -> Option<File> {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| File::open(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_nobody_reads_is_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        for name in ["retold-copy-left", "retold-copy-read", "other"] {
            std::fs::create_dir(at(name)).unwrap();
            std::fs::write(at(name).join("log.db"), "a copy").unwrap();
            std::fs::write(at(name).join(LOCK), "").unwrap();
        }
        let reader = File::open(at("retold-copy-read").join(LOCK)).unwrap();
        reader.try_lock().unwrap();
        remove_left(temporary.path());
        let left = ["retold-copy-left", "retold-copy-read", "other"];
        let left = left.map(|name| at(name).exists());
        assert_eq!(left, [false, true, true]);
        drop(reader);
        remove_left(temporary.path());
        assert!(!at("retold-copy-read").exists());
    }

    #[test]
    fn a_copy_is_removed_with_its_last_reader() {
        let copy = PrivateCopy::make().unwrap();
        let path = copy.path().to_owned();
        std::fs::write(path.join("log.db"), "a copy").unwrap();
        assert!(path.is_dir());
        drop(copy);
        assert!(!path.exists());
    }
}
