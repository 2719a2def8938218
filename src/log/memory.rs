//! A log in memory: for tests, and for recordings that are replayed from their file.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::backend::{
    Append, Backend, Committer, Lease, LeaseGuard, Reader, RunHead, StoreInfo, Turn,
};
use super::error::LogError;
use super::finding::{Fault, Finding};
use super::last_writer::LastWriter;
use super::ledger::{LedgerChange, LedgerEntry, LedgerHead};
use super::store_index::StoreIndex;
use crate::event::StoredEvent;
use crate::event::chain::Head;
use crate::id::{PromptHash, RunId, Seq};
use crate::prompt::Request;

/// Keeps events in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryBackend {
    store: Arc<Mutex<Store>>,
    /// The name of the log that it stands for.
    name: Option<Arc<str>>,
    /// Set for a log of which nothing can be read.
    remnant: Option<Arc<Remnant>>,
}

/// The findings about a log of which nothing can be read.
#[derive(Debug)]
struct Remnant {
    damaged: Finding,
    lost: Vec<Finding>,
}

#[derive(Debug, Default)]
struct Store {
    order: Vec<RunId>,
    runs: BTreeMap<RunId, Vec<StoredEvent>>,
    requests: BTreeMap<PromptHash, Request>,
    leases: std::collections::BTreeSet<RunId>,
    ledger: Vec<LedgerEntry>,
}

impl MemoryBackend {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty log that stands for a file without runs.
    pub fn with_name(name: String) -> Self {
        MemoryBackend { name: Some(name.into()), ..Self::default() }
    }

    /// Stands for a log of which nothing can be read, for this reason, and which has `lost` these runs. It is
    /// empty, and stays so.
    pub fn remnant(name: String, why: Fault, lost: Vec<Finding>) -> Self {
        let damaged = Finding { run: None, seq: Some(Seq(1)), fault: why };
        let remnant = Some(Arc::new(Remnant { damaged, lost }));
        MemoryBackend { remnant, ..Self::with_name(name) }
    }

    fn log_name(&self) -> String {
        self.name.as_deref().unwrap_or("memory").to_owned()
    }

    fn can_be_written(&self) -> Result<(), LogError> {
        let Some(Remnant { damaged, .. }) = self.remnant.as_deref() else { return Ok(()) };
        Err(LogError::damage(self.log_name(), damaged.fault.clone()))
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // A panic while the lock was held leaves only whole commits: they are swapped in at once.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Guard(MemoryBackend, RunId);

impl LeaseGuard for Guard {}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.store().leases.remove(&self.1);
    }
}

impl Backend for MemoryBackend {
    fn info(&self) -> StoreInfo {
        let remnant = self.remnant.as_deref();
        StoreInfo {
            name: self.log_name(),
            file: None,
            losses: remnant.map(|remnant| remnant.lost.clone()).unwrap_or_default(),
            damage: remnant.map(|remnant| remnant.damaged.clone()),
        }
    }

    /// Events in memory were written by the process that shows them.
    fn last_writer(&self, _run: RunId) -> Result<Option<LastWriter>, LogError> {
        Ok(None)
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        self.can_be_written()?;
        if !self.store().leases.insert(run) {
            return Err(LogError::InUse { run, holder: String::new() });
        }
        Ok(Lease::new(Guard(self.clone(), run)))
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        self.can_be_written()?;
        Ok(Box::new(MemoryCommitter { log: self.clone(), staged: StagedAppends::default() }))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(self.clone()))
    }
}

impl Store {
    fn head(&self, run: RunId) -> Head {
        let last = self.runs.get(&run).and_then(|events| events.last());
        last.map_or(Head::START, |e| Head { seq: e.seq, hash: e.hash })
    }
}

/// The events, requests and ledger changes that were appended but not flushed.
#[derive(Debug, Default)]
struct StagedAppends {
    order: Vec<RunId>,
    runs: BTreeMap<RunId, Vec<StoredEvent>>,
    requests: Vec<Request>,
    changes: Vec<(LedgerChange, RunId, Head)>,
}

struct MemoryCommitter {
    log: MemoryBackend,
    staged: StagedAppends,
}

impl MemoryCommitter {
    fn stage(&mut self, append: &Append) -> Result<(), LogError> {
        let Append { run, events, .. } = append;
        let last = self.staged.runs.get(run).and_then(|events| events.last());
        let last = last.map(|e| Head { seq: e.seq, hash: e.hash });
        append.end_after(last.unwrap_or_else(|| self.log.store().head(*run)))?;
        if events.is_empty() {
            return Ok(());
        }
        if last.is_none() {
            self.staged.order.push(*run);
        }
        let staged = self.staged.runs.entry(*run).or_default();
        staged.extend(events.iter().map(|event| event.to_stored(*run)));
        let changes = append.ledger_changes().into_iter();
        self.staged.changes.extend(changes.map(|(change, head)| (change, *run, head)));
        let requests = events.iter().filter_map(|event| event.event().prompt.clone());
        self.staged.requests.extend(requests);
        Ok(())
    }
}

impl Committer for MemoryCommitter {
    fn append(&mut self, append: &Append) -> Result<(), LogError> {
        let staged = self.stage(append);
        if staged.is_err() {
            self.staged = StagedAppends::default();
        }
        staged
    }

    /// The lock is held for as long as a commit takes, and nobody waits for it longer.
    fn flush(&mut self) -> Result<Turn, LogError> {
        let StagedAppends { order, mut runs, requests, changes } = std::mem::take(&mut self.staged);
        let mut store = self.log.store();
        // Another committer may have been faster.
        for (run, events) in &runs {
            if let Some(first) = events.first().filter(|e| e.seq != store.head(*run).seq.next()) {
                return Err(LogError::Conflict { run: *run, seq: first.seq });
            }
        }
        for request in requests {
            store.requests.insert(request.hash(), request);
        }
        for run in order {
            if !store.runs.contains_key(&run) {
                store.order.push(run);
            }
            store.runs.entry(run).or_default().extend(runs.remove(&run).unwrap_or_default());
        }
        for (change, run, head) in changes {
            let last = store.ledger.last().map_or(LedgerHead::START, LedgerEntry::ledger_head);
            store.ledger.push(LedgerEntry::after(last, change, run, head));
        }
        Ok(Turn::Free)
    }
}

impl Reader for MemoryBackend {
    fn runs(&mut self) -> Result<Vec<RunHead>, LogError> {
        let store = self.store();
        let heads = store.order.iter().filter_map(|run| {
            let started = store.runs.get(run)?.first()?.time;
            Some(RunHead { run: *run, started, head: store.head(*run) })
        });
        Ok(heads.collect())
    }

    fn events(
        &mut self,
        run: RunId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, LogError> {
        let store = self.store();
        let events = store.runs.get(&run).map_or(&[][..], Vec::as_slice);
        let after = usize::try_from(after.0).unwrap_or(usize::MAX);
        Ok(events.iter().skip(after).take(limit).cloned().collect())
    }

    fn ledger(&mut self, after: u64, limit: usize) -> Result<Vec<LedgerEntry>, LogError> {
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(self.store().ledger.iter().skip(after).take(limit).cloned().collect())
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        Ok(self.store().requests.get(&prompt).cloned())
    }

    fn index(&mut self) -> Option<&mut dyn StoreIndex> {
        None
    }
}
