//! A temporary log: for a file that is read and not kept.

use std::sync::Arc;

#[cfg(feature = "sqlite")]
use super::backend::Committer;
use super::backend::{Append, AppendKind, Backend, SharedBackend};
use super::error::LogError;
use super::memory::MemoryBackend;
#[cfg(feature = "sqlite")]
use super::sqlite::SqliteBackend;
use crate::event::chain::{Head, LinkedEvent};
use crate::event::{MerkleTree, NewEvent};
use crate::id::{EventsRoot, PromptHash, RunId};

/// How many events are stored together, and how many a log in memory may hold.
#[cfg(feature = "sqlite")]
const TOGETHER: usize = 8192;

/// And how many bytes of text, prompts included.
#[cfg(feature = "sqlite")]
const BYTES: usize = 16 << 20;

/// A run that is being read: kept in memory while it is short, and in a file in a private temporary
/// folder when it gets long (always in memory without the feature `sqlite`). Nothing is left of it
/// in the end.
pub struct Scratch {
    run: RunId,
    head: Head,
    tree: MerkleTree,
    pending: Vec<LinkedEvent>,
    bytes: usize,
    /// The request of the last question.
    asked: Option<PromptHash>,
    #[cfg(feature = "sqlite")]
    file: Option<(SqliteBackend, Box<dyn Committer>)>,
}

impl Scratch {
    /// A run without events.
    pub fn new(run: RunId) -> Self {
        Scratch {
            run,
            head: Head::START,
            tree: MerkleTree::default(),
            pending: Vec::new(),
            bytes: 0,
            asked: None,
            #[cfg(feature = "sqlite")]
            file: None,
        }
    }

    /// The end of the run so far.
    pub fn head(&self) -> Head {
        self.head
    }

    /// The root over the events so far.
    pub fn events_root(&self) -> EventsRoot {
        self.tree.root()
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
        self.tree.push(self.head.hash);
        let content = event.event().content.as_ref().map_or(0, |content| content.text().len());
        let asked = event.event().prompt.as_ref();
        // Samples of one prompt follow each other and share one request.
        let prompt =
            asked.filter(|request| self.asked.replace(request.hash()) != Some(request.hash()));
        let prompt = prompt.map_or(0, |request| request.canonical().len());
        self.bytes += content + prompt + event.event().body.len();
        self.pending.push(event);
        #[cfg(feature = "sqlite")]
        if self.pending.len() >= TOGETHER || self.bytes >= BYTES {
            self.store()?;
        }
        Ok(())
    }

    /// Moves the events in memory into the file.
    #[cfg(feature = "sqlite")]
    fn store(&mut self) -> Result<(), LogError> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let file = SqliteBackend::scratch()?;
                let committer = file.committer()?;
                (file, committer)
            }
        };
        let (_, committer) = self.file.insert(file);
        let events = std::mem::take(&mut self.pending);
        let append = Append { run: self.run, events, kind: AppendKind::New };
        self.bytes = 0;
        committer.commit(&[append])
    }

    /// The log with everything that was added; it is removed when dropped.
    ///
    /// # Errors
    /// [`LogError`] if there is no room for it.
    #[cfg_attr(not(feature = "sqlite"), expect(unused_mut, reason = "a file takes what is left"))]
    pub fn finish(mut self) -> Result<SharedBackend, LogError> {
        #[cfg(feature = "sqlite")]
        if self.file.is_some() {
            if !self.pending.is_empty() {
                self.store()?;
            }
            if let Some((file, _)) = self.file {
                return Ok(Arc::new(file));
            }
        }
        let memory = MemoryBackend::new();
        let append = Append { run: self.run, events: self.pending, kind: AppendKind::New };
        memory.committer()?.commit(&[append])?;
        Ok(Arc::new(memory))
    }
}
