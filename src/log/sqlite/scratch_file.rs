//! A log file for a while.

use std::path::Path;

use tempfile::TempDir;

use super::SqliteBackend;
use crate::id::RunId;
use crate::log::backend::{Backend, Committer, Lease, Reader};
use crate::log::{Format, LogError, Problem, Reworded};

/// A log file in its own folder, which is removed with it.
pub(in crate::log) struct ScratchFile {
    pub(in crate::log) log: SqliteBackend,
    _folder: TempDir,
}

impl ScratchFile {
    pub(in crate::log) fn make() -> Result<Self, LogError> {
        let failed = |source: std::io::Error| {
            let words = format!("{source}; set TMPDIR to use another folder");
            LogError::failed("a temporary folder", Reworded { words, source })
        };
        let folder = tempfile::Builder::new().prefix("retold-").tempdir().map_err(failed)?;
        let log = SqliteBackend::scratch(&folder.path().join("scratch.db"))?;
        Ok(ScratchFile { log, _folder: folder })
    }
}

impl Backend for ScratchFile {
    fn name(&self) -> String {
        self.log.name()
    }

    /// Nothing else reads it.
    fn file(&self) -> Option<&Path> {
        None
    }

    fn format(&self) -> Format {
        self.log.format()
    }

    fn lost(&self) -> Vec<Problem> {
        self.log.lost()
    }

    fn damaged(&self) -> Option<Problem> {
        self.log.damaged()
    }

    fn is_cut_off(&self) -> bool {
        self.log.is_cut_off()
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        self.log.lease(run)
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        self.log.committer()
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        self.log.reader()
    }
}
