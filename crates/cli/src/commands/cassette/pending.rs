//! The cassettes that wait for a review, as the plugin for pytest leaves them: a folder with a file for each, at its path
//! from the root of the tests, and the file `rootdir`, which names that root.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::{CliError, Status};
use retold::draft::Draft;
use retold::escaping::printable;

/// Where the plugin for pytest leaves them, from the root of the tests on.
const IN_CACHE: &str = ".pytest_cache/d/retold";

/// The file that names the root.
const ROOT: &str = "rootdir";

/// How many folders deep a cassette can be.
const DEEPEST: usize = 64;

/// A cassette that waits for a review.
pub(super) struct PendingCassette {
    /// Nothing is written outside of it.
    root: PathBuf,
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
    refuse_others(&place)?;
    let root = fs::read_to_string(&place).map_err(|error| {
        let said = format!("{}: {error}", place.display());
        CliError::new(Status::Io, said)
            .hint("name the folder that `pytest --retold=drift` writes: .pytest_cache/d/retold")
    })?;
    let root = own_root(folder, Path::new(root.trim_end_matches('\n')))?;
    let mut found = Vec::new();
    add_files(folder, Path::new(""), DEEPEST, &mut found).map_err(|error| of(folder, &error))?;
    found.sort();
    let pending = found.into_iter().map(|path| PendingCassette {
        root: root.clone(),
        cassette: root.join(&path),
        waits_at: folder.join(path),
    });
    Ok(pending.collect())
}

/// Refuses what another user of the machine has put there: accepting it would write their answers into the tests.
fn refuse_others(place: &Path) -> Result<(), CliError> {
    #[cfg(unix)]
    if let Ok(found) = place.metadata()
        && std::os::unix::fs::MetadataExt::uid(&found) != rustix::process::geteuid().as_raw()
    {
        let message = format!("{} is another user's", printable(&place.display().to_string(), 200));
        return Err(CliError::usage(message)
            .hint("nothing was written: run `pytest --retold=drift` as the user who reviews"));
    }
    #[cfg(not(unix))]
    let _ = place;
    Ok(())
}

/// The root of the tests that left a folder. The folder may have come with somebody else's tests, so the root that it
/// names counts only if these tests are there.
fn own_root(folder: &Path, named: &Path) -> Result<PathBuf, CliError> {
    let root = named.canonicalize().map_err(|error| of(named, &error))?;
    let inside = folder.canonicalize().map_err(|error| of(folder, &error))?;
    let is_own = match inside.ancestors().find(|above| above.join(IN_CACHE) == inside) {
        Some(own) => own == root,
        // The cache of these tests is elsewhere.
        None => {
            let here = Path::new(".").canonicalize().map_err(|error| of(Path::new("."), &error))?;
            inside.starts_with(&root) && root.starts_with(here)
        }
    };
    if is_own {
        return Ok(root);
    }
    let (place, root) = (folder.join(ROOT), printable(&root.display().to_string(), 200));
    Err(CliError::usage(format!(
        "{} names another folder as the root of these tests: {root}",
        place.display()
    ))
    .hint(
        "nothing was written: run `pytest --retold=drift` here, and then `retold cassette review`",
    ))
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
        self.is_inside()?;
        let put = || {
            let folder = self.cassette.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let (draft, mut file) = Draft::file(&self.cassette)?;
            file.write_all(text.as_bytes())?;
            fs::rename(draft.path(), &self.cassette)
        };
        put().map_err(|error: io::Error| of(&self.cassette, &error))?;
        self.reject()
    }

    /// Checks that no link leads its place out of the root.
    fn is_inside(&self) -> Result<(), CliError> {
        let above = self.cassette.ancestors().skip(1).find_map(|above| above.canonicalize().ok());
        if above.is_some_and(|above| above.starts_with(&self.root)) {
            return Ok(());
        }
        let shown = printable(&self.cassette.display().to_string(), 200);
        Err(CliError::usage(format!(
            "{shown} is not below {}: a link leads out of it",
            self.root.display()
        ))
        .hint("nothing was written there: remove the link, or copy the cassette yourself"))
    }

    /// Takes it away.
    pub(super) fn reject(&self) -> Result<(), CliError> {
        fs::remove_file(&self.waits_at).map_err(|error| of(&self.waits_at, &error))
    }
}

fn of(path: &Path, error: &io::Error) -> CliError {
    CliError::new(Status::Io, format!("{}: {error}", path.display()))
}
