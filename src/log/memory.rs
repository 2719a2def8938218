//! A log in memory: for tests, and for recordings that are replayed from their file.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::backend::{Append, Backend, Committer, Head, Lease, LeaseGuard, Reader, RunHead};
use super::error::LogError;
use crate::event::chain::{GENESIS, Link, content_key};
use crate::event::{NewEvent, StoredEvent};
use crate::id::{PromptHash, RunId, Seq};
use crate::prompt::Request;

/// Keeps events in memory. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryBackend(Arc<Mutex<Store>>);

#[derive(Debug, Default)]
struct Store {
    order: Vec<RunId>,
    runs: BTreeMap<RunId, Vec<StoredEvent>>,
    requests: BTreeMap<PromptHash, Request>,
    leases: std::collections::BTreeSet<RunId>,
}

impl MemoryBackend {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        // A panic while the lock was held leaves whole commits only: they are swapped in at once.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        if !self.store().leases.insert(run) {
            return Err(LogError::InUse { run, holder: String::new() });
        }
        Ok(Lease::new(Guard(self.clone(), run)))
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        Ok(Box::new(self.clone()))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(self.clone()))
    }
}

impl Store {
    fn head(&self, run: RunId) -> Head {
        let last = self.runs.get(&run).and_then(|events| events.last());
        last.map_or(Head { seq: Seq(0), hash: GENESIS }, |e| Head { seq: e.seq, hash: e.hash })
    }
}

fn stored(event: &NewEvent, run: RunId, after: Head) -> StoredEvent {
    let content = event.content.as_ref().map(content_key);
    let seq = after.seq.next();
    let hash = Link::of_new(event, run, seq, content).hash_after(after.hash);
    let NewEvent { kind, version, time, call, sample, prompt, cause, content, body } =
        event.clone();
    let prompt = prompt.map(|p| p.hash());
    StoredEvent { run, seq, kind, version, time, call, sample, prompt, cause, content, body, hash }
}

impl Committer for MemoryBackend {
    fn commit(&mut self, appends: &[Append]) -> Result<Vec<Head>, LogError> {
        let mut store = self.store();
        let mut staged: BTreeMap<RunId, Vec<StoredEvent>> = BTreeMap::new();
        let mut heads = Vec::with_capacity(appends.len());
        for append in appends {
            let staged_here = staged.entry(append.run).or_default();
            let last = staged_here.last().map(|e| Head { seq: e.seq, hash: e.hash });
            let mut head = last.unwrap_or_else(|| store.head(append.run));
            if head.seq.next() != append.first {
                return Err(LogError::Conflict { run: append.run, seq: append.first });
            }
            for event in &append.events {
                let event = stored(event, append.run, head);
                head = Head { seq: event.seq, hash: event.hash };
                staged_here.push(event);
            }
            heads.push(head);
        }
        for request in appends.iter().flat_map(|a| &a.events).filter_map(|e| e.prompt.as_ref()) {
            store.requests.insert(request.hash(), request.clone());
        }
        for Append { run, .. } in appends {
            let Some(events) = staged.remove(run).filter(|events| !events.is_empty()) else {
                continue;
            };
            if !store.runs.contains_key(run) {
                store.order.push(*run);
            }
            store.runs.entry(*run).or_default().extend(events);
        }
        Ok(heads)
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
        let events = store.runs.get(&run).map(Vec::as_slice).unwrap_or_default();
        let after = usize::try_from(after.0).unwrap_or(usize::MAX);
        Ok(events.iter().skip(after).take(limit).cloned().collect())
    }

    fn request(&mut self, prompt: PromptHash) -> Result<Option<Request>, LogError> {
        Ok(self.store().requests.get(&prompt).cloned())
    }

    fn prompts(&mut self, prefix: &str, limit: usize) -> Result<Vec<PromptHash>, LogError> {
        let store = self.store();
        let found = store.requests.keys().filter(|hash| hash.to_string().starts_with(prefix));
        Ok(found.take(limit).copied().collect())
    }

    fn integrity(&mut self) -> Result<Vec<String>, LogError> {
        Ok(Vec::new())
    }
}
