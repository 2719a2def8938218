//! A log or recording of which not even a run can be read: what is beside it may still know its runs.

use std::path::Path;
use std::sync::Arc;

use retold::id::{RunId, Seq};
use retold::log::{
    Backend, Committer, Lease, LogError, MemoryBackend, Problem, Reader, SharedBackend,
};

/// A log that has no runs any more.
pub(crate) struct NothingLeft {
    name: String,
    /// Why nothing can be read.
    why: String,
    /// The runs that it is known to have had.
    lost: Vec<Problem>,
    empty: MemoryBackend,
}

impl NothingLeft {
    pub(crate) fn shared(name: String, why: String, lost: Vec<Problem>) -> SharedBackend {
        Arc::new(NothingLeft { name, why, lost, empty: MemoryBackend::new() })
    }
}

impl Backend for NothingLeft {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn file(&self) -> Option<&Path> {
        None
    }

    fn lease(&self, _run: RunId) -> Result<Lease, LogError> {
        Err(self.refused())
    }

    fn lost(&self) -> Vec<Problem> {
        self.lost.clone()
    }

    fn damaged(&self) -> Option<Problem> {
        Some(Problem { run: None, seq: Some(Seq(1)), what: self.why.clone() })
    }

    fn is_cut_off(&self) -> bool {
        false
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        Err(self.refused())
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        self.empty.reader()
    }
}

impl NothingLeft {
    fn refused(&self) -> LogError {
        LogError::Damaged { path: self.name.clone(), what: self.why.clone() }
    }
}
