//! One snapshot file: comparing it, writing it, and writing the new version beside it.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::SnapshotError;
use crate::draft::Draft;
use crate::encoding::read_text;
use crate::prompt::inert_diff;

/// The result of comparing a snapshot.
pub(super) enum SnapshotComparison {
    Same,
    Written,
    Differs(String),
}

fn file_error(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> SnapshotError {
    SnapshotError::File { path: path.display().to_string(), source: source.into() }
}

/// Compares a snapshot with its file, and writes a missing file, or the new version beside a
/// different one.
pub(super) fn compare(
    path: &Path,
    header: &str,
    body: &str,
) -> Result<SnapshotComparison, SnapshotError> {
    let beside = path.with_extension("snap.new");
    let recorded = match read_text(path) {
        Ok(text) => text,
        Err(e) if e.is_missing() => {
            write(path, header, body)?;
            remove(&beside)?;
            return Ok(SnapshotComparison::Written);
        }
        Err(e) => return Err(file_error(path, e)),
    };
    let recorded = body_of(&recorded).ok_or_else(|| {
        file_error(path, "it is not a snapshot: it has no header between two lines ---")
    })?;
    // As in insta, line endings and trailing white space do not count.
    if recorded.trim_end() == body.trim_end() {
        remove(&beside)?;
        return Ok(SnapshotComparison::Same);
    }
    write(&beside, header, body)?;
    Ok(SnapshotComparison::Differs(inert_diff(&format!("{}\n", recorded.trim_end()), body)))
}

/// The part after the header.
fn body_of(text: &str) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let rest = text.strip_prefix("---\n")?;
    let (_, body) = rest.split_once("\n---\n")?;
    Some(body.to_owned())
}

/// Writes a whole file, replacing any that is there; a link is replaced, not followed.
fn write(path: &Path, header: &str, body: &str) -> Result<(), SnapshotError> {
    let io = |e: std::io::Error| file_error(path, e);
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|e| file_error(folder, e))?;
    }
    let (draft, mut file) = Draft::file(path).map_err(io)?;
    file.write_all(header.as_bytes()).and_then(|()| file.write_all(body.as_bytes())).map_err(io)?;
    drop(file);
    fs::rename(draft.path(), path).map_err(io)
}

fn remove(path: &Path) -> Result<(), SnapshotError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(file_error(path, e)),
        _ => Ok(()),
    }
}

/// The snapshots in a folder that have none of the given names.
pub(super) fn others(
    folder: &Path,
    names: &BTreeSet<String>,
) -> Result<Vec<PathBuf>, SnapshotError> {
    let entries = fs::read_dir(folder).map_err(|e| file_error(folder, e))?;
    let mut others = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|e| file_error(folder, e))?;
        let name = entry.file_name();
        let is_snapshot = Path::new(&name).extension().is_some_and(|end| end == "snap");
        if is_snapshot && name.to_str().is_none_or(|name| !names.contains(name)) {
            others.push(entry.path());
        }
    }
    others.sort();
    Ok(others)
}
