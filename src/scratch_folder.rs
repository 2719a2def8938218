//! Temporary folders for what people said to models: only their owner may read them, and none stays.
//!
//! A file beside each folder is locked as long as its process lives. The system releases the lock of a process that was
//! killed, and the next one removes its folder.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::leftovers::Leftover;
use crate::sidecar::lock_new;

/// How the names of the folders begin.
const PREFIX: &str = "retold-scratch-";

/// How the names of the files end that are locked.
const LOCK: &str = ".lock";

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: Leftover,
    /// Released last.
    _lock: (Leftover, NamedTempFile),
}

impl ScratchFolder {
    /// Makes a folder in the system's place for temporary files.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make() -> io::Result<Self> {
        ScratchFolder::make_in(&std::env::temp_dir())
    }

    fn make_in(place: &Path) -> io::Result<Self> {
        remove_left(place);
        let lock = loop {
            let lock = tempfile::Builder::new().prefix(PREFIX).suffix(LOCK).tempfile_in(place)?;
            if lock_new(lock.as_file().try_clone()?, lock.path()).is_some() {
                break (Leftover::new(lock.path().to_owned()), lock);
            }
        };
        let folder = lock.1.path().with_extension("");
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(ScratchFolder { folder: Leftover::new(folder), _lock: lock })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes the folders of processes that were killed.
    pub fn remove_left() {
        remove_left(&std::env::temp_dir());
    }
}

/// What cannot be removed is of somebody else.
fn remove_left(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        let _ = match name.strip_suffix(LOCK) {
            Some(folder) => remove_lock_if_left(&entry.path(), &place.join(folder)),
            None => remove_if_left(&entry.path(), &place.join(format!("{name}{LOCK}"))),
        };
    }
}

fn remove_if_left(folder: &Path, lock: &Path) -> io::Result<()> {
    let found = folder.symlink_metadata()?;
    // It stays locked until it is gone.
    if found.is_dir()
        && is_ours(&found)
        && let Some(_locked) = try_lock(lock)?
    {
        fs::remove_dir_all(folder)?;
        fs::remove_file(lock)?;
    }
    Ok(())
}

/// A lock whose folder was never made, or is removed.
fn remove_lock_if_left(lock: &Path, folder: &Path) -> io::Result<()> {
    if let Some(_locked) = try_lock(lock)?
        && folder.symlink_metadata().is_err()
    {
        fs::remove_file(lock)?;
    }
    Ok(())
}

/// A lock that nobody holds, locked. Somebody else may have put anything there, such as a pipe.
fn try_lock(lock: &Path) -> io::Result<Option<File>> {
    let found = lock.symlink_metadata()?;
    if !found.is_file() || !is_ours(&found) {
        return Ok(None);
    }
    Ok(Some(File::open(lock)?).filter(|file| file.try_lock().is_ok()))
}

#[cfg(unix)]
fn is_ours(found: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::uid(found) == rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn is_ours(_found: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_its_owners_and_removed_with_its_last_user() {
        let place = tempfile::tempdir().unwrap();
        let scratch = ScratchFolder::make_in(place.path()).unwrap();
        fs::write(scratch.path().join("log.db"), "a copy").unwrap();
        #[cfg(unix)]
        for (path, due) in [(scratch.path(), 0o700), (scratch._lock.1.path(), 0o600)] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, due);
        }
        drop(scratch);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_one() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for name in ["retold-scratch-left", "retold-scratch-read", "retold-scratch-begun", "other"]
        {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("log.db"), "a copy").unwrap();
        }
        for name in
            ["retold-scratch-left.lock", "retold-scratch-read.lock", "retold-scratch-x.lock"]
        {
            fs::write(at(name), "").unwrap();
        }
        let reader = File::open(at("retold-scratch-read.lock")).unwrap();
        reader.try_lock().unwrap();
        let scratch = ScratchFolder::make_in(place.path()).unwrap();
        let there = |name: &str| at(name).exists();
        assert!(!there("retold-scratch-left") && !there("retold-scratch-left.lock"));
        assert!(there("retold-scratch-read") && !there("retold-scratch-x.lock") && there("other"));
        assert!(there("retold-scratch-begun"), "without a lock, it is not known to be ours");
        assert!(scratch.path().exists());
        drop(reader);
        remove_left(place.path());
        assert!(!there("retold-scratch-read"));
        assert!(scratch.path().exists());
    }
}
