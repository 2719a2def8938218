//! A program's own chance: what its Python processes find in their environment, and whether any has found it.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;

use super::environment::variable;
use crate::error::{CliError, Status};
use retold::scratch_folder::ScratchFolder;
use retold_wire::RecordedChance;

/// The package that does it, which the Python package `retold` has, too.
const PACKAGE: &str = "_retold_chance";

macro_rules! chance_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../python/retold/_chance/", $name)))),*]
    };
}

const FILES: [(&str, &str); 10] = chance_files![
    "__init__.py",
    "_chance.py",
    "_draws.py",
    "_imports.py",
    "_numpy.py",
    "_place.py",
    "_pools.py",
    "_processes.py",
    "_stack.py",
    "_tasks.py",
];

/// Python imports a module of this name before any other.
const START: &str = "sitecustomize.py";
const BEGIN: &str = include_str!("../../../../../python/retold/_chance/_begin.py");

/// The variable with the seed.
const VARIABLE: &str = "RETOLD_CHANCE";

/// Where Python looks for modules.
const PATH: &str = "PYTHONPATH";

/// The seed of hashes in Python: the order of sets of texts follows from it.
const HASHES: &str = "PYTHONHASHSEED";

/// The ending of the files by which processes say that they have begun.
const BEGUN: &str = "begun";

/// What `--chance` makes the run's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ChanceArg {
    /// The draws of `random` and `numpy.random`.
    Draws,
    /// Also `uuid4`.
    Uuid,
}

impl ChanceArg {
    /// The chance of a new run.
    ///
    /// # Errors
    /// [`CliError`] if the system cannot provide random bytes.
    pub(super) fn recorded(self) -> Result<RecordedChance, CliError> {
        RecordedChance::random(self == ChanceArg::Uuid).map_err(|error| {
            CliError::new(Status::Io, format!("the system cannot provide random bytes: {error}"))
        })
    }
}

/// The folder that Python processes find, until this is dropped.
pub(super) struct ChanceFolder {
    folder: ScratchFolder,
    variables: Vec<(String, OsString)>,
}

impl ChanceFolder {
    /// Writes the folder.
    ///
    /// # Errors
    /// [`CliError`] if it cannot be written.
    pub(super) fn write(chance: &RecordedChance, is_replay: bool) -> Result<Self, CliError> {
        let failed = |error: io::Error| {
            CliError::new(Status::Io, format!("no temporary folder for --chance: {error}"))
        };
        let folder = ScratchFolder::make().map_err(failed)?;
        write_files(folder.path()).map_err(failed)?;
        let own = variable(PATH);
        let paths = std::iter::once(folder.path().to_owned())
            .chain(own.iter().flat_map(|own| std::env::split_paths(own)));
        let path = std::env::join_paths(paths).map_err(|error| failed(io::Error::other(error)))?;
        let mut variables =
            vec![(PATH.to_owned(), path), (VARIABLE.to_owned(), chance.variable(is_replay).into())];
        // One that is set wins, as a seed in the program does.
        if variable(HASHES).is_none() {
            variables.push((HASHES.to_owned(), chance.hash_seed().to_string().into()));
        }
        Ok(ChanceFolder { folder, variables })
    }

    /// The variables that are set for the program.
    pub(super) fn variables(&self) -> impl Iterator<Item = (String, OsString)> {
        self.variables.iter().cloned()
    }

    /// The number of Python processes that took the chance of the run.
    pub(super) fn processes(&self) -> usize {
        let entries = fs::read_dir(self.folder.path()).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension().is_some_and(|it| it == BEGUN)).count()
    }
}

fn write_files(folder: &Path) -> io::Result<()> {
    let package = folder.join(PACKAGE);
    fs::create_dir(&package)?;
    for (name, text) in FILES {
        fs::write(package.join(name), text)?;
    }
    fs::write(folder.join(START), BEGIN)
}

/// What to say if no Python process of a program took the chance of the run.
pub(super) const UNREACHED: &str = "warning: no Python process of the program took its draws from the run: --chance reaches neither other \
     languages nor Python with -I, -E or -S\n";
