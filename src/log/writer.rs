//! Appending to runs: the log, and the right to write one run of it.
//!
//! Submitted events go through a channel to one thread that owns the connection (`group`).

#[cfg(feature = "sqlite")]
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::backend::{Lease, Reader, SharedBackend};
use super::checked::CheckedReader;
use super::error::LogError;
use super::group::{Item, QueuedEvent, drain};
use super::memory::MemoryBackend;
#[cfg(feature = "sqlite")]
use super::sqlite::{SqliteBackend, SqliteOptions};
use crate::event::chain::{Head, LinkedEvent};
use crate::event::{MerkleTree, NewEvent};
use crate::id::{EventsRoot, RunId, Seq};
use crate::prompt::hash_of;

/// A log: a backend and its writer thread.
#[derive(Clone)]
pub struct Log {
    backend: SharedBackend,
    queue: Arc<WriterQueue>,
}

/// The channel to the writer thread, which is started at the first append.
struct WriterQueue {
    state: Mutex<Option<(Sender<Item>, JoinHandle<()>)>>,
}

/// Resolves when an event is on disk.
#[derive(Debug)]
pub struct Durable(oneshot::Receiver<Result<(), LogError>>);

impl Durable {
    /// Waits until the event is durable.
    ///
    /// # Errors
    /// [`LogError`] if it could not be stored.
    pub async fn wait(self) -> Result<(), LogError> {
        self.0.await.unwrap_or_else(|_| Err(writer_gone()))
    }
}

fn writer_gone() -> LogError {
    LogError::failure("", "the writer thread has ended")
}

impl Log {
    /// A log over a backend.
    pub fn new(backend: SharedBackend) -> Self {
        Log { backend, queue: Arc::new(WriterQueue { state: Mutex::new(None) }) }
    }

    /// A log that disappears when the program ends.
    pub fn in_memory() -> Self {
        Log::new(Arc::new(MemoryBackend::new()))
    }

    /// A log in a file, which is created if it does not exist.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be opened or created, or is not a log.
    #[cfg(feature = "sqlite")]
    pub fn in_file(path: &Path) -> Result<Self, LogError> {
        let backend = SqliteBackend::open_or_create(path, SqliteOptions::default())?;
        Ok(Log::new(Arc::new(backend)))
    }

    /// The backend.
    pub fn backend(&self) -> &SharedBackend {
        &self.backend
    }

    /// A connection that can read. Each event is compared with its own hash and its link as it is read; what is read of the
    /// [backend](Self::backend) is not.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be opened.
    pub fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(self.checked_reader()?))
    }

    /// The same, which also says how much was compared.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be opened.
    pub fn checked_reader(&self) -> Result<CheckedReader, LogError> {
        Ok(CheckedReader::new(self.backend.reader()?))
    }

    /// Takes the lease of a run that does not exist yet.
    ///
    /// # Errors
    /// [`LogError::RunExists`], [`LogError::InUse`].
    pub fn begin(&self, run: RunId) -> Result<RunWriter, LogError> {
        let lease = self.backend.lease(run)?;
        if self.head(run)?.is_some() {
            return Err(LogError::RunExists { run, path: self.backend.name() });
        }
        self.writer(run, Head::START, lease, Some(MerkleTree::default()))
    }

    /// Takes a lease on a name instead of a run: while it lasts, nobody else gets it.
    ///
    /// # Errors
    /// [`LogError::InUse`], of a run that does not exist.
    pub fn claim(&self, name: &str) -> Result<Lease, LogError> {
        let hash = hash_of(format!("retold claims a name\n{name}").as_bytes());
        let mut id = [0; 8];
        id.copy_from_slice(&hash[..8]);
        self.backend.lease(RunId(id))
    }

    /// Takes the lease of a run that exists.
    ///
    /// # Errors
    /// [`LogError::NoSuchRun`], [`LogError::InUse`].
    pub fn go_on(&self, run: RunId) -> Result<RunWriter, LogError> {
        let none = || LogError::NoSuchRun { run, path: self.backend.name() };
        if self.head(run)?.is_none() {
            // Another process may have started it and not stored anything yet.
            return Err(match self.backend.lease(run) {
                Err(in_use @ LogError::InUse { .. }) => in_use,
                _ => none(),
            });
        }
        let lease = self.backend.lease(run)?;
        let head = self.head(run)?.ok_or_else(none)?;
        self.writer(run, head, lease, None)
    }

    fn head(&self, run: RunId) -> Result<Option<Head>, LogError> {
        let runs = self.reader()?.runs()?;
        Ok(runs.into_iter().find(|r| r.run == run).map(|r| r.head))
    }

    fn writer(
        &self,
        run: RunId,
        head: Head,
        lease: Lease,
        tree: Option<MerkleTree>,
    ) -> Result<RunWriter, LogError> {
        let sender = self.queue.sender(&self.backend)?;
        let failed = Arc::new(OnceLock::new());
        let queue = self.queue.clone();
        Ok(RunWriter { run, head, tree, sender, failed, _lease: lease, _queue: queue })
    }
}

impl WriterQueue {
    fn sender(&self, backend: &SharedBackend) -> Result<Sender<Item>, LogError> {
        let mut state = self.state.lock().map_err(|_| writer_gone())?;
        if let Some((sender, _)) = &*state {
            return Ok(sender.clone());
        }
        let committer = backend.committer()?;
        let (sender, receiver) = channel();
        let thread = std::thread::Builder::new()
            .name("retold-writer".to_owned())
            .spawn(move || drain(committer, &receiver))
            .map_err(|e| LogError::failure(backend.name(), e))?;
        *state = Some((sender.clone(), thread));
        Ok(sender)
    }
}

impl Drop for WriterQueue {
    /// Waits until everything that was submitted is stored.
    fn drop(&mut self) {
        let state = self.state.get_mut().ok().and_then(Option::take);
        if let Some((sender, thread)) = state {
            drop(sender);
            let _ = thread.join();
        }
    }
}

/// The right to append to one run, and the means to do so.
///
/// As the lease makes this the only writer and the channel keeps the order, an event's seq and hash
/// are known before it is stored. They are computed here, where there is more time than in the one
/// thread that all runs share. The transaction fails if the run ends differently. After a failure
/// nothing more is stored.
///
/// Dropping it waits until everything that was submitted is stored and only then releases the
/// lease, so that the next holder sees the end of the run.
pub struct RunWriter {
    run: RunId,
    /// The end of the run once everything that was submitted is stored.
    head: Head,
    /// The tree over all events, if this writer has seen all of them.
    tree: Option<MerkleTree>,
    sender: Sender<Item>,
    failed: Arc<OnceLock<LogError>>,
    _lease: Lease,
    /// Keeps the thread alive for as long as anyone can submit. It must be dropped after `sender`:
    /// otherwise we would wait for the thread while the thread waits for us.
    _queue: Arc<WriterQueue>,
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        self.flush();
    }
}

impl RunWriter {
    /// The run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The seq the next event will get.
    pub fn next_seq(&self) -> Seq {
        self.head.seq.next()
    }

    /// The root over the events so far, if this writer has seen all of them because it started the
    /// run.
    pub fn events_root(&self) -> Option<EventsRoot> {
        self.tree.as_ref().map(MerkleTree::root)
    }

    /// Waits until everything that was submitted is stored or has failed.
    pub fn flush(&self) {
        let (flushed, wait) = channel();
        if self.sender.send(Item::Flush(flushed)).is_ok() {
            // An error ends the wait as well: the other side was dropped.
            let _ = wait.recv();
        }
    }

    /// Submits an event without waiting for it to be stored.
    ///
    /// # Errors
    /// [`LogError`] if an earlier event could not be stored.
    pub fn submit(&mut self, event: NewEvent) -> Result<Seq, LogError> {
        self.send(event, None)
    }

    /// Submits an event; the second value resolves when it is on disk.
    ///
    /// # Errors
    /// [`LogError`] if an earlier event could not be stored.
    pub fn submit_durable(&mut self, event: NewEvent) -> Result<(Seq, Durable), LogError> {
        let (done, wait) = oneshot::channel();
        Ok((self.send(event, Some(done))?, Durable(wait)))
    }

    fn send(
        &mut self,
        event: NewEvent,
        done: Option<oneshot::Sender<Result<(), LogError>>>,
    ) -> Result<Seq, LogError> {
        if let Some(error) = self.failed.get() {
            return Err(error.clone());
        }
        let event = LinkedEvent::new(event, self.run, self.head);
        let head = event.head();
        let item = QueuedEvent { run: self.run, event, failed: self.failed.clone(), done };
        self.sender.send(Item::Event(Box::new(item))).map_err(|_| writer_gone())?;
        self.head = head;
        if let Some(tree) = &mut self.tree {
            tree.push(head.hash);
        }
        Ok(head.seq)
    }
}
