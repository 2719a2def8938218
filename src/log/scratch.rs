//! A temporary log: for a file that is read and not kept.

use std::sync::Arc;

use tempfile::TempDir;

use super::backend::{Append, Backend, Committer, Lease, Origin, Reader, SharedBackend};
use super::error::LogError;
use super::memory::MemoryBackend;
use super::sqlite::SqliteBackend;
use crate::event::NewEvent;
use crate::event::chain::{Head, LinkedEvent};
use crate::id::{PromptHash, RunId};

/// How many events are stored together, and how many a log in memory may hold.
const TOGETHER: usize = 8192;

/// And how many bytes of text, prompts included.
const BYTES: usize = 16 << 20;

/// A run that is being read: kept in memory while it is short, and in a file in a private temporary
/// folder when it gets long. Nothing is left of it in the end.
pub struct Scratch {
    run: RunId,
    head: Head,
    pending: Vec<LinkedEvent>,
    bytes: usize,
    /// The request of the last question.
    asked: Option<PromptHash>,
    file: Option<(ScratchFile, Box<dyn Committer>)>,
}

impl Scratch {
    /// A run without events.
    pub fn new(run: RunId) -> Self {
        Scratch { run, head: Head::START, pending: Vec::new(), bytes: 0, asked: None, file: None }
    }

    /// The end of the run so far.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Links an event to the end of the run; [`add`](Self::add) adds it.
    pub fn link(&self, event: NewEvent) -> LinkedEvent {
        LinkedEvent::new(event, self.run, self.head)
    }

    /// Adds an event that was linked to the end of the run.
    ///
    /// # Errors
    /// [`LogError`] if there is no room for it.
    pub fn add(&mut self, event: LinkedEvent) -> Result<(), LogError> {
        self.head = event.head();
        let content = event.event().content.as_ref().map_or(0, |content| content.text().len());
        let asked = event.event().prompt.as_ref();
        // Samples of one prompt follow each other and share one request.
        let prompt =
            asked.filter(|request| self.asked.replace(request.hash()) != Some(request.hash()));
        let prompt = prompt.map_or(0, |request| request.canonical().len());
        self.bytes += content + prompt + event.event().body.len();
        self.pending.push(event);
        if self.pending.len() >= TOGETHER || self.bytes >= BYTES {
            self.store()?;
        }
        Ok(())
    }

    /// Moves what is in memory into the file.
    fn store(&mut self) -> Result<(), LogError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = ScratchFile::make()?;
                let committer = file.log.committer()?;
                (file, committer)
            }
        };
        let (_, committer) = self.file.insert(file);
        let events = std::mem::take(&mut self.pending);
        let append = Append { run: self.run, events, origin: Origin::Here };
        self.bytes = 0;
        committer.commit(&[append])
    }

    /// The log with everything that was added; it is removed when dropped.
    ///
    /// # Errors
    /// [`LogError`] if there is no room for it.
    pub fn finish(mut self) -> Result<SharedBackend, LogError> {
        if self.file.is_some() && !self.pending.is_empty() {
            self.store()?;
        }
        match self.file {
            Some((file, _)) => Ok(Arc::new(file)),
            None => {
                let memory = MemoryBackend::new();
                let append = Append { run: self.run, events: self.pending, origin: Origin::Here };
                memory.committer()?.commit(&[append])?;
                Ok(Arc::new(memory))
            }
        }
    }
}

/// A log file in its own folder, which is removed with it.
struct ScratchFile {
    log: SqliteBackend,
    _folder: TempDir,
}

impl ScratchFile {
    fn make() -> Result<Self, LogError> {
        let failed = |e: std::io::Error| LogError::Failed {
            path: "a temporary folder".to_owned(),
            reason: format!("{e}; set TMPDIR to use another folder"),
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
