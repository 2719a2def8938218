//! What the Python processes of a program find in their environment: where their draws come from, and that the tools of their
//! frameworks are recorded by the Python package.

use std::ffi::OsString;
use std::path::Path;
use std::{fs, io};

use super::environment::variable;
use crate::error::{CliError, Status};
use retold::scratch_folder::ScratchFolder;
use retold_wire::RecordedChance;

/// The package that gives them their draws, which the Python package `retold` has, too.
const PACKAGE: &str = "_retold_chance";

macro_rules! chance_files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../../python/retold/_chance/", $name)))),*]
    };
}

const FILES: [(&str, &str); 11] = chance_files![
    "__init__.py", "_chance.py", "_draws.py", "_hidden.py", "_imports.py", "_numpy.py",
    "_place.py", "_pools.py", "_processes.py", "_stack.py", "_tasks.py",
];

/// Python imports a module of this name before any other.
const START: &str = "sitecustomize.py";
const BEGIN: &str = include_str!("../../../../../python/retold/_begin.py");

/// The variable with the seed.
const VARIABLE: &str = "RETOLD_CHANCE";

/// Where Python looks for modules.
const PATH: &str = "PYTHONPATH";

/// The seed of hashes in Python: the order of sets of texts follows from it.
const HASHES: &str = "PYTHONHASHSEED";

/// The endings of the files by which processes say that they have begun, and that the Python package is not beside a framework.
const BEGUN: &str = "begun";
const UNREACHED: &str = "unreached";

/// The frameworks of agents whose tools the Python package records.
const FRAMEWORKS: [&str; 3] = ["agents", "langchain_core", "pydantic_ai"];

/// The folder that Python processes find, until this is dropped.
pub(super) struct PythonFolder {
    folder: ScratchFolder,
    variables: Vec<(String, OsString)>,
    has_chance: bool,
}

impl PythonFolder {
    /// Writes the folder.
    ///
    /// # Errors
    /// [`CliError`] if it cannot be written.
    pub(super) fn write(
        chance: Option<&RecordedChance>,
        is_replay: bool,
    ) -> Result<Self, CliError> {
        let failed = |error: io::Error| {
            CliError::new(Status::Io, format!("no temporary folder for the program: {error}"))
        };
        let folder = ScratchFolder::make().map_err(failed)?;
        fs::write(folder.path().join(START), BEGIN).map_err(failed)?;
        let own = variable(PATH);
        let paths = std::iter::once(folder.path().to_owned())
            .chain(own.iter().flat_map(|own| std::env::split_paths(own)));
        let path = std::env::join_paths(paths).map_err(|error| failed(io::Error::other(error)))?;
        let mut variables = vec![(PATH.to_owned(), path)];
        if let Some(chance) = chance {
            write_package(folder.path()).map_err(failed)?;
            variables.push((VARIABLE.to_owned(), chance.variable(is_replay).into()));
            // One that is set wins, as a seed in the program does.
            if variable(HASHES).is_none() {
                variables.push((HASHES.to_owned(), chance.hash_seed().to_string().into()));
            }
        }
        Ok(PythonFolder { folder, variables, has_chance: chance.is_some() })
    }

    /// The variables that are set for the program.
    pub(super) fn variables(&self) -> impl Iterator<Item = (String, OsString)> {
        self.variables.iter().cloned()
    }

    /// The first framework that a process imported without the Python package beside it, whose tools are not recorded.
    pub(super) fn unreached_framework(&self) -> Option<&'static str> {
        let place = |name: &str| self.folder.path().join(format!("{name}.{UNREACHED}"));
        FRAMEWORKS.into_iter().find(|name| place(name).exists())
    }

    /// The number of Python processes that took the chance of the run; `None` if it has none.
    pub(super) fn processes_with_chance(&self) -> Option<usize> {
        let entries = fs::read_dir(self.folder.path()).into_iter().flatten().flatten();
        let begun = entries.filter(|entry| entry.path().extension().is_some_and(|it| it == BEGUN));
        self.has_chance.then(|| begun.count())
    }
}

fn write_package(folder: &Path) -> io::Result<()> {
    let package = folder.join(PACKAGE);
    fs::create_dir(&package)?;
    FILES.iter().try_for_each(|(name, text)| fs::write(package.join(name), text))
}
