//! Private copies of logs.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use retold::log::LogError;
use retold::scratch_folder::ScratchFolder;
use retold::sidecar;

/// A private copy of a log and of the files beside it.
pub(crate) fn copy_log(path: &Path) -> Result<(ScratchFolder, PathBuf), LogError> {
    let cannot = |e: io::Error| LogError::CannotCopy {
        path: "a temporary folder".to_owned(),
        source: Box::<dyn std::error::Error + Send + Sync>::from(e).into(),
    };
    let folder = ScratchFolder::make().map_err(cannot)?;
    let (whole, log) = (sidecar::canonical(path), folder.path().join("log.db"));
    for suffix in ["", "-wal", "-mark"] {
        if let Some(mut from) = regular(&sidecar::path(&whole, suffix)) {
            let mut to = File::create_new(sidecar::path(&log, suffix)).map_err(cannot)?;
            io::copy(&mut from, &mut to).map_err(cannot)?;
        }
    }
    Ok((folder, log))
}

/// Opens a file that is not a pipe or device: opening these may wait forever.
fn regular(path: &Path) -> Option<File> {
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file.then(|| File::open(path).ok())?
}
