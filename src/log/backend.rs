//! Where events are kept.

use std::sync::Arc;

use super::error::LogError;
use super::format::{FORMAT, Format};
use super::index::Section;
use super::ledger::Entry;
use super::verify::Problem;
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
/// - The log has a [ledger](super::ledger). A commit appends an entry for each first event of a run, each
///   `RunResumed` and each `RunFinished`, in the order of the events, and one at the end of events that were
///   imported. It is part of the commit: there is never an event without its entry, nor an entry without
///   its event. Entries are never changed or deleted.
/// - A run has one lease at a time, over all processes; a crash releases it.
/// - Readers never block the writer, and see whole commits only.
pub trait Backend: Send + Sync {
    /// Where it is, for messages.
    fn name(&self) -> String;

    /// The format of what is written to it: the newest, unless it is a file that was made in another.
    fn format(&self) -> Format {
        FORMAT
    }

    /// Takes the lease of a run.
    ///
    /// # Errors
    /// [`LogError::InUse`] if another holds it.
    fn lease(&self, run: RunId) -> Result<Lease, LogError>;

    /// What it held once and holds no more, as far as that can be seen. Then nothing can be appended.
    fn lost(&self) -> Vec<Problem> {
        Vec::new()
    }

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
    /// Where they happened.
    pub origin: Origin,
}

/// Where events that are appended happened: the ledger says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// In this log.
    Here,
    /// In another one, from which they are imported.
    Elsewhere,
    /// There, too, and more of the same import follow before the flush: the last says so for all.
    ElsewhereWithMore,
}

impl Append {
    /// Events that follow `after` in a run.
    pub fn new(run: RunId, after: Head, events: impl IntoIterator<Item = NewEvent>) -> Self {
        let link = |head: &mut Head, event| {
            let event = LinkedEvent::new(event, run, *head);
            *head = event.head();
            Some(event)
        };
        let events = events.into_iter().scan(after, link).collect();
        Append { run, events, origin: Origin::Here }
    }

    /// The same, of events that happened elsewhere.
    #[must_use]
    pub fn imported(self) -> Self {
        Append { origin: Origin::Elsewhere, ..self }
    }

    /// The same, of events that happened elsewhere, the next of which follow in another append.
    #[must_use]
    pub fn imported_with_more(self) -> Self {
        Append { origin: Origin::ElsewhereWithMore, ..self }
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

    /// Whether others have kept it from writing since it was last asked.
    fn met_others(&mut self) -> bool {
        false
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

    /// Up to `limit` entries of the ledger after a number, in order; empty only at the end. `None` if the
    /// log was made by a release without ledgers and no later one has written to it.
    ///
    /// # Errors
    /// [`LogError::CorruptLedger`] at an entry that cannot be read.
    fn ledger(&mut self, after: u64, limit: usize) -> Result<Option<Vec<Entry>>, LogError>;

    /// A stored request.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError>;

    /// Whether a request is stored; the same as [`request`](Self::request), but that it need not be put
    /// together to find out that it is sound.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    fn check_request(&mut self, prompt: PromptHash) -> Result<bool, LogError> {
        Ok(self.request(prompt)?.is_some())
    }

    /// The hashes of stored requests that begin with some hex digits, up to `limit`.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError>;

    /// The pieces of a run's [`Index`](super::Index) that the log keeps, in order; none unless it keeps such
    /// an index.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    fn pieces(&mut self, _run: RunId) -> Result<Vec<u64>, LogError> {
        Ok(Vec::new())
    }

    /// What a section of one of these pieces says.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    fn piece(
        &mut self,
        _run: RunId,
        _piece: u64,
        _section: Section,
    ) -> Result<Option<Vec<u8>>, LogError> {
        Ok(None)
    }

    /// Checks what no chain covers: stray or damaged contents, requests, tables. Messages, empty
    /// if all is well.
    ///
    /// # Errors
    /// [`LogError`] if the check itself failed.
    fn integrity(&mut self) -> Result<Vec<String>, LogError>;
}

/// A shared backend.
pub type SharedBackend = Arc<dyn Backend>;
