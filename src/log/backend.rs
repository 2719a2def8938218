//! Where events are kept.

use std::sync::Arc;

use super::error::LogError;
use crate::event::chain::{Head, LinkedEvent};
use crate::event::{NewEvent, StoredEvent};
use crate::id::{PromptHash, RunId, Seq, Time};
use crate::prompt::Request;

/// A place that keeps the events of many runs.
///
/// The contract, checked by one conformance suite for every backend:
///
/// - Events are never changed or deleted. Content is kept once, requests are kept once.
/// - A commit is all or nothing, and durable when it returns.
/// - The seq of an event is one more than the last of its run, and its hash follows from the last
///   one's. An [`Append`] says which event it follows; inside the transaction that is compared with
///   the end of the run, and another one is a [`LogError::Conflict`].
/// - A run has one lease at a time, over all processes; a crash releases it.
/// - Readers never block the writer, and see whole commits only.
pub trait Backend: Send + Sync {
    /// Where it is, for messages.
    fn name(&self) -> String;

    /// Takes the lease of a run.
    ///
    /// # Errors
    /// [`LogError::InUse`] if another holds it.
    fn lease(&self, run: RunId) -> Result<Lease, LogError>;

    /// A connection that can append. One is enough for a process.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be opened.
    fn committer(&self) -> Result<Box<dyn Committer>, LogError>;

    /// A connection that can read. Any number may be open.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be opened.
    fn reader(&self) -> Result<Box<dyn Reader>, LogError>;
}

/// The right to write a run; given back when dropped, or when the process dies.
#[derive(Debug)]
pub struct Lease(#[expect(dead_code, reason = "held for its drop")] Box<dyn LeaseGuard>);

/// What a backend holds while a lease lasts.
pub trait LeaseGuard: Send + Sync + std::fmt::Debug {}

impl Lease {
    /// A lease that ends when `guard` is dropped.
    pub fn new(guard: impl LeaseGuard + 'static) -> Self {
        Lease(Box::new(guard))
    }
}

/// Events to append to one run, in order.
#[derive(Debug, Clone)]
pub struct Append {
    /// The run.
    pub run: RunId,
    /// The events, each of which follows the one before.
    pub events: Vec<LinkedEvent>,
}

impl Append {
    /// Events that follow `after` in a run.
    pub fn new(run: RunId, after: Head, events: impl IntoIterator<Item = NewEvent>) -> Self {
        let link = |head: &mut Head, event| {
            let event = LinkedEvent::new(event, run, *head);
            *head = event.head();
            Some(event)
        };
        Append { run, events: events.into_iter().scan(after, link).collect() }
    }
}

/// Appends.
pub trait Committer: Send {
    /// Appends to a run, in a transaction that is opened if none is. Nothing is durable before
    /// [`flush`](Self::flush), and nobody else sees it.
    ///
    /// # Errors
    /// [`LogError`]; then everything since the last flush is dropped.
    fn append(&mut self, append: &Append) -> Result<(), LogError>;

    /// Makes durable what was appended since the last flush: all of it or nothing.
    ///
    /// # Errors
    /// [`LogError`]; then nothing of it was stored.
    fn flush(&mut self) -> Result<(), LogError>;

    /// Appends to any number of runs in one durable transaction.
    ///
    /// # Errors
    /// [`LogError`]; then nothing of it was stored.
    fn commit(&mut self, appends: &[Append]) -> Result<(), LogError> {
        appends.iter().try_for_each(|append| self.append(append))?;
        self.flush()
    }
}

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunHead {
    /// The run.
    pub run: RunId,
    /// When its first event happened.
    pub started: Time,
    /// The end of its chain.
    pub head: Head,
}

/// Reads.
pub trait Reader: Send {
    /// All runs, in the order in which they were begun. A damaged run is shown as far as it can be
    /// read, so that it does not hide the others; verification names the damage.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError>;

    /// Up to `limit` events of a run after a seq, in order, fewer if they are large; empty only at the end
    /// or for no such run.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] at an event that cannot be read.
    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError>;

    /// A stored request.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError>;

    /// The hashes of stored requests that begin with some hex digits, up to `limit`.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError>;

    /// Checks what no chain covers: stray or damaged contents, requests, tables. Messages, empty
    /// if all is well.
    ///
    /// # Errors
    /// [`LogError`] if the check itself failed.
    fn integrity(&mut self) -> Result<Vec<String>, LogError>;
}

/// A shared backend.
pub type SharedBackend = Arc<dyn Backend>;
