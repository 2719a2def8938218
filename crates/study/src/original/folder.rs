//! The folder of an original run.

use std::path::{Path, PathBuf};

use super::{JsonFile, OriginalError, Rows};
use retold::encoding::{self, TextError};

/// The folder of an original run, in which files may be missing.
#[derive(Debug, Clone)]
pub struct OriginalFolder {
    path: PathBuf,
    /// The files that belong in it, in words.
    files: &'static str,
}

impl OriginalFolder {
    /// Opens a folder. `files` describes what belongs in it, for messages.
    ///
    /// # Errors
    /// [`OriginalError::Unreadable`] if there is no such folder.
    pub fn open(path: &Path, files: &'static str) -> Result<Self, OriginalError> {
        if !path.is_dir() {
            let what = if path.exists() { "not a folder" } else { "no such folder" };
            let reason = format!("{what}: give the folder of an original run, with {files} in it");
            return Err(OriginalError::unreadable(path, reason));
        }
        Ok(OriginalFolder { path: path.to_owned(), files })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it, whether or not it exists.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Whether it has a file with this name.
    pub fn has(&self, name: &str) -> bool {
        self.join(name).exists()
    }

    /// The error for a missing file.
    pub fn missing(&self, name: &str) -> OriginalError {
        let files = self.files;
        let reason =
            format!("it is missing: give the folder of an original run, with {files} in it");
        OriginalError::unreadable(&self.join(name), reason)
    }

    /// The error for something in a file that is inconsistent with the rest.
    pub fn inconsistent(&self, name: &str, reason: impl Into<String>) -> OriginalError {
        OriginalError::inconsistent(&self.join(name), reason)
    }

    /// The text of a file: UTF-8, without a byte order mark.
    ///
    /// # Errors
    /// [`OriginalError`] if it is missing, unreadable, or in another encoding.
    pub fn text(&self, name: &str) -> Result<String, OriginalError> {
        let path = self.join(name);
        encoding::read_text(&path).map_err(|e| match e {
            TextError::NotUtf8(problem) => {
                OriginalError::not_utf8(path.display().to_string(), problem)
            }
            e if e.is_missing() => self.missing(name),
            e => OriginalError::unreadable(&path, e.to_string()),
        })
    }

    /// A JSON file.
    ///
    /// # Errors
    /// [`OriginalError`] if it is missing, unreadable, or not JSON, with the line.
    pub fn json(&self, name: &str) -> Result<JsonFile, OriginalError> {
        JsonFile::parse(&self.join(name), self.text(name)?)
    }

    /// A table with at least these columns.
    ///
    /// # Errors
    /// [`OriginalError`] with the line.
    pub fn table(&self, name: &str, needed: &[&str]) -> Result<Rows, OriginalError> {
        Rows::parse(&self.text(name)?, &self.join(name).display().to_string(), needed)
    }
}
