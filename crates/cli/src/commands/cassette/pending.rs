//! The cassettes that wait for a review, as the plugin for pytest leaves them: a folder with a file for each, at its path
//! from the root of the tests, and the file `rootdir`, which names that root.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{CliError, Status};

/// Where the plugin for pytest leaves them, from the root of the tests on.
const IN_CACHE: &str = ".pytest_cache/d/retold";

/// The file that names the root.
const ROOT: &str = "rootdir";

/// How many folders deep a cassette can be.
const DEEPEST: usize = 64;

/// A cassette that waits for a review.
pub(super) struct PendingCassette {
    /// The cassette that it would replace.
    pub(super) cassette: PathBuf,
    /// Where it waits.
    pub(super) waits_at: PathBuf,
}

/// The folder that the tests of this folder, or of one above it, left; `None` if there is none.
pub(super) fn nearest_folder(from: &Path) -> Option<PathBuf> {
    from.ancestors().map(|folder| folder.join(IN_CACHE)).find(|folder| folder.join(ROOT).is_file())
}

/// What waits in a folder, sorted by path.
pub(super) fn waiting_in(folder: &Path) -> Result<Vec<PendingCassette>, CliError> {
    let place = folder.join(ROOT);
    let root = fs::read_to_string(&place).map_err(|error| {
        let said = format!("{}: {error}", place.display());
        CliError::new(Status::Io, said)
            .hint("name the folder that `pytest --retold=drift` writes: .pytest_cache/d/retold")
    })?;
    let root = PathBuf::from(root.trim_end_matches('\n'));
    let mut found = Vec::new();
    add_files(folder, Path::new(""), DEEPEST, &mut found).map_err(|error| of(folder, &error))?;
    found.sort();
    let pending = found
        .into_iter()
        .map(|path| PendingCassette { cassette: root.join(&path), waits_at: folder.join(path) });
    Ok(pending.collect())
}

/// Adds the paths of the cassettes below a folder; links are not followed.
fn add_files(
    folder: &Path,
    below: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let (path, kind) = (below.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() && depth > 0 {
            add_files(folder, &path, depth - 1, found)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "yaml") {
            found.push(path);
        }
    }
    Ok(())
}

impl PendingCassette {
    /// The text of the cassette that it would replace; empty if there is none.
    pub(super) fn before(&self) -> Result<String, CliError> {
        match fs::read(&self.cassette) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(of(&self.cassette, &error)),
        }
    }

    /// Its own text.
    pub(super) fn now(&self) -> Result<String, CliError> {
        fs::read_to_string(&self.waits_at).map_err(|error| of(&self.waits_at, &error))
    }

    /// Puts it in the place of the cassette, whole or not at all.
    pub(super) fn accept(&self) -> Result<(), CliError> {
        let text = self.now()?;
        let put = || {
            let folder = self.cassette.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let mut file = NamedTempFile::new_in(folder)?;
            file.write_all(text.as_bytes())?;
            // A new file may be read by its owner only.
            let permissions = fs::metadata(match self.cassette.exists() {
                true => &self.cassette,
                false => &self.waits_at,
            })?;
            file.as_file().set_permissions(permissions.permissions())?;
            file.persist(&self.cassette)?;
            Ok(())
        };
        put().map_err(|error: io::Error| of(&self.cassette, &error))?;
        self.reject()
    }

    /// Takes it away.
    pub(super) fn reject(&self) -> Result<(), CliError> {
        fs::remove_file(&self.waits_at).map_err(|error| of(&self.waits_at, &error))
    }
}

fn of(path: &Path, error: &io::Error) -> CliError {
    CliError::new(Status::Io, format!("{}: {error}", path.display()))
}
