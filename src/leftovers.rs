//! Unfinished and temporary files and folders of this process, for a program that is told to end: a signal drops nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static PLACES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file or folder that is removed when this is dropped, or by [`remove_all`].
#[derive(Debug)]
pub(crate) struct Leftover(PathBuf);

impl Leftover {
    /// What is at a path, or will be.
    pub(crate) fn new(path: PathBuf) -> Self {
        PLACES.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Leftover(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        remove(&self.0);
        PLACES.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Removes what is there. A failure cannot be handled here, and what was moved into place is gone.
pub(crate) fn remove(path: &Path) {
    let _ = if path.symlink_metadata().is_ok_and(|about| about.is_dir()) {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    };
}

/// Removes all that this process would leave. It ends directly after this.
pub fn remove_all() {
    for path in PLACES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        remove(path);
    }
}
