//! The storage interface for events.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::error::LogError;
use super::finding::Finding;
use super::last_writer::LastWriter;
use super::ledger::{LedgerChange, LedgerEntry};
use super::store_index::StoreIndex;
use crate::event::chain::{Head, LinkedEvent};
use crate::event::{NewEvent, StoredEvent};
use crate::id::{PromptHash, RunId, Seq, Time};
use crate::prompt::Request;

/// A store that keeps the events of many runs.
///
/// A [`Log`](super::Log) is opened over one: `SqliteBackend`, [`MemoryBackend`](super::MemoryBackend),
/// or one of another crate, such as that of buckets and shared folders.
///
/// ```
/// use std::sync::Arc;
///
/// use retold::log::{Backend, Log, MemoryBackend};
///
/// let backend = MemoryBackend::new();
/// let log = Log::new(Arc::new(backend.clone()));
/// // The log writes through the backend, whose readers see all committed events.
/// assert_eq!(log.backend().name(), "memory");
/// assert!(backend.reader()?.runs()?.is_empty());
/// # Ok::<(), retold::log::LogError>(())
/// ```
///
/// No method of these traits has a body of its own: a wrapper that forgets one does not compile.
///
/// The contract, checked by one conformance suite for every backend:
///
/// - Events are never changed or deleted. Each content and each request is stored once.
/// - A commit is all or nothing, and durable when it returns.
/// - The seq of an event is one more than the last of its run, and its hash follows from the last
///   one's hash. An [`Append`] names the event that it follows; this is compared with the end of
///   the run inside the transaction, and a mismatch is a [`LogError::Conflict`].
/// - The log has a [ledger](super::ledger). A commit appends one entry for each first event of a
///   run, each `RunResumed` and each `RunFinished`, in the order of the events, and one at the end
///   of imported events. The entries are part of the commit: there is never an event without its
///   entry, nor an entry without its event. Entries are never changed or deleted.
/// - A run has one lease at a time across all processes; a crash releases it.
/// - Readers never block the writer, and only see whole commits.
pub trait Backend: Send + Sync {
    /// The name of the store, and what is known to be wrong with it.
    fn info(&self) -> StoreInfo;

    /// Takes the lease of a run.
    ///
    /// # Errors
    /// [`LogError::InUse`] if another process holds it.
    fn lease(&self, run: RunId) -> Result<Lease, LogError>;

    /// The process that wrote the last events of a run, if the store keeps that.
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be read.
    fn last_writer(&self, run: RunId) -> Result<Option<LastWriter>, LogError>;

    /// A connection that can append. One per process is enough.
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

/// The name of a store, and what is known to be wrong with it.
#[derive(Debug, Clone, Default)]
pub struct StoreInfo {
    /// The name, for messages.
    pub name: String,
    /// The file that is read, if it is one that others can change.
    pub file: Option<PathBuf>,
    /// Findings about data that the log once held and no longer does, as far as that can be
    /// detected. If anything was lost, nothing can be appended.
    pub losses: Vec<Finding>,
    /// Damage to the file itself, although it can be read.
    pub damage: Option<Finding>,
}

impl dyn Backend + '_ {
    /// [`StoreInfo::name`].
    pub fn name(&self) -> String {
        self.info().name
    }

    /// [`StoreInfo::file`].
    pub fn file(&self) -> Option<PathBuf> {
        self.info().file
    }

    /// [`StoreInfo::losses`].
    pub fn losses(&self) -> Vec<Finding> {
        self.info().losses
    }

    /// [`StoreInfo::damage`].
    pub fn damage(&self) -> Option<Finding> {
        self.info().damage
    }
}

/// The right to write a run; released when dropped, or when the process dies.
#[derive(Debug)]
pub struct Lease(#[expect(dead_code, reason = "held for its drop")] Box<dyn LeaseGuard>);

/// The guard inside a [`Lease`]: dropping it releases the lease in the backend.
pub trait LeaseGuard: Send + Sync + fmt::Debug {}

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
    /// The events; each follows the one before it.
    pub events: Vec<LinkedEvent>,
    /// Whether they are new.
    pub kind: AppendKind,
}

/// How appended events came about; the ledger records an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendKind {
    /// They happened in this log.
    New,
    /// They happened in another log.
    Imported,
    /// They happened in another log, and more of the same import follow before the flush: the last append stands for all
    /// of them.
    ImportedInPart,
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
        Append { run, events, kind: AppendKind::New }
    }

    /// The end of the run after these events, if they follow its present `end`.
    ///
    /// # Errors
    /// [`LogError::Conflict`] at the first that does not follow the one before it.
    pub fn end_after(&self, end: Head) -> Result<Head, LogError> {
        self.events.iter().try_fold(end, |end, event| match event.after() == end {
            true => Ok(event.head()),
            false => Err(LogError::Conflict { run: self.run, seq: event.head().seq }),
        })
    }

    /// The changes that the ledger records about these events, in order, each with the end of the run at that event.
    pub fn ledger_changes(&self) -> Vec<(LedgerChange, Head)> {
        match self.kind {
            AppendKind::New => {
                let change = |event: &LinkedEvent| {
                    let head = event.head();
                    Some((LedgerChange::new(head.seq, &event.event().kind)?, head))
                };
                self.events.iter().filter_map(change).collect()
            }
            AppendKind::Imported => {
                let last = self.events.last().map(|last| (LedgerChange::Imported, last.head()));
                last.into_iter().collect()
            }
            AppendKind::ImportedInPart => Vec::new(),
        }
    }

    /// The same, for events that happened elsewhere.
    #[must_use]
    pub fn into_import(self) -> Self {
        Append { kind: AppendKind::Imported, ..self }
    }

    /// The same, for events that happened elsewhere and are continued in another append.
    #[must_use]
    pub fn imported_with_more(self) -> Self {
        Append { kind: AppendKind::ImportedInPart, ..self }
    }
}

/// Appends.
pub trait Committer: Send {
    /// Appends to a run, opening a transaction if none is open. Nothing is durable or visible to
    /// others before [`flush`](Self::flush).
    ///
    /// # Errors
    /// [`LogError`]; then everything since the last flush is discarded.
    fn append(&mut self, append: &Append) -> Result<(), LogError>;

    /// Makes everything that was appended since the last flush durable: all of it or nothing.
    ///
    /// # Errors
    /// [`LogError`]; then none of it was stored.
    fn flush(&mut self) -> Result<Turn, LogError>;
}

/// When a committer got its turn to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// At once.
    Free,
    /// After others had kept it from writing.
    AfterOthers,
}

impl dyn Committer + '_ {
    /// Appends to any number of runs in one durable transaction.
    ///
    /// # Errors
    /// [`LogError`]; then none of it was stored.
    pub fn commit(&mut self, appends: &[Append]) -> Result<(), LogError> {
        appends.iter().try_for_each(|append| self.append(append))?;
        self.flush().map(drop)
    }
}

/// A run as lists show it.
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
    /// All runs, in the order in which they were started. A damaged run is shown as far as it can
    /// be read, so that it does not hide the others; verification reports the damage.
    ///
    /// # Errors
    /// [`LogError`] if they cannot be read.
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError>;

    /// Up to `limit` events of a run after a seq, in order; fewer if they are large. Empty only at
    /// the end or if there is no such run.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] at an event that cannot be read.
    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError>;

    /// Up to `limit` entries of the ledger after a number, in order; empty only at the end.
    ///
    /// # Errors
    /// [`LogError::CorruptLedger`] at an entry that cannot be read.
    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError>;

    /// A stored request.
    ///
    /// # Errors
    /// [`LogError::CorruptRequest`] if it does not have the hash it is stored under.
    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError>;

    /// The store's [index](StoreIndex), if it keeps one. What it answers, `dyn Reader` has as methods: without an index,
    /// they read events.
    fn index(&mut self) -> Option<&mut dyn StoreIndex>;
}

/// A shared backend.
pub type SharedBackend = Arc<dyn Backend>;
