//! What the Python processes of a program find, so that the tools of its frameworks are recorded by the Python package.

use std::ffi::OsString;
use std::fs;
use std::io;

use super::environment::variable;
use crate::error::{CliError, Status};
use retold::scratch_folder::ScratchFolder;

/// Python imports a module of this name before any other.
const START: &str = "sitecustomize.py";
const BEGIN: &str = include_str!("../../../../../python/retold/_catch/_begin.py");

/// Where Python looks for modules.
const PATH: &str = "PYTHONPATH";

/// The folder that Python processes find, until this is dropped.
pub(super) struct ToolFolder {
    _folder: ScratchFolder,
    path: OsString,
}

impl ToolFolder {
    /// Writes the folder.
    ///
    /// # Errors
    /// [`CliError`] if it cannot be written.
    pub(super) fn write() -> Result<Self, CliError> {
        let failed = |error: io::Error| {
            CliError::new(Status::Io, format!("no temporary folder for the program: {error}"))
        };
        let folder = ScratchFolder::make().map_err(failed)?;
        fs::write(folder.path().join(START), BEGIN).map_err(failed)?;
        let own = variable(PATH);
        let paths = std::iter::once(folder.path().to_owned())
            .chain(own.iter().flat_map(|own| std::env::split_paths(own)));
        let path = std::env::join_paths(paths).map_err(|error| failed(io::Error::other(error)))?;
        Ok(ToolFolder { _folder: folder, path })
    }

    /// The variable that is set for the program.
    pub(super) fn variable(&self) -> (String, OsString) {
        (PATH.to_owned(), self.path.clone())
    }
}
