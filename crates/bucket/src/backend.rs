//! A log in a bucket or a shared folder.

use std::path::PathBuf;
use std::sync::Arc;

use object_store::ObjectStore;
use retold::id::RunId;
use retold::log::{Backend, Committer, LastWriter, Lease, LeaseGuard, LogError, Reader, StoreInfo};

use crate::cache::Cache;
use crate::committer::BucketCommitter;
use crate::compaction::{self, CompactionResult};
use crate::ledger_entry::NewEntry;
use crate::marker;
use crate::reader::BucketReader;
use crate::repeated::RepeatedEvent;
use crate::run_end::RunEnd;
use crate::segments::Segments;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::writer::Writer;

/// A log in a bucket or a shared folder. Clones share it.
#[derive(Debug, Clone)]
pub struct BucketBackend {
    shared: Arc<Shared>,
    /// The runs that its readers list, if these are always the same.
    snapshot: Option<Arc<Snapshot>>,
}

impl BucketBackend {
    /// A log that exists.
    ///
    /// # Errors
    /// [`LogError::Missing`] if there is none; [`LogError::Damaged`] if only `retold.json` is missing; [`LogError`] if the
    /// store cannot be read.
    pub fn open(
        store: Arc<dyn ObjectStore>,
        prefix: object_store::path::Path,
        name: &str,
    ) -> Result<Self, LogError> {
        let shared = Shared::new(store, prefix, name)?;
        shared.wait(|segments| async move { marker::find(&segments).await })?;
        Ok(BucketBackend { shared: Arc::new(shared), snapshot: None })
    }

    /// A log, which is created if there is none. A store that does not keep the promise on which everything rests, to
    /// create an object only once, is refused.
    ///
    /// # Errors
    /// [`LogError::CannotOpen`] for such a store; [`LogError::Damaged`] if only `retold.json` is missing; [`LogError`] if it
    /// cannot be written.
    pub fn open_or_create(
        store: Arc<dyn ObjectStore>,
        prefix: object_store::path::Path,
        name: &str,
    ) -> Result<Self, LogError> {
        let shared = Shared::new(store, prefix, name)?;
        shared.wait(|segments| async move { marker::create(&segments).await })?;
        Ok(BucketBackend { shared: Arc::new(shared), snapshot: None })
    }

    /// Compacts a finished run: puts its events, with an index, into a few objects beside its segments.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] if the run is damaged; [`LogError`] if the store cannot be read or written.
    pub fn compact(&self, run: RunId) -> Result<CompactionResult, LogError> {
        let compact =
            move |segments: Arc<Segments>| async move { compaction::compact(&segments, run).await };
        self.shared.wait(compact)
    }

    /// The same log with the runs that it has now: those that its readers list first, they list again. So a command that asks
    /// several times which runs there are asks the store once.
    #[must_use]
    pub fn as_of_now(&self) -> Self {
        // Somebody may have compacted a run since.
        self.shared.segments.lock().compactions.retain(|_, found| found.is_some());
        BucketBackend { shared: self.shared.clone(), snapshot: Some(Arc::default()) }
    }

    /// Keeps segments that are read in a folder of this machine, and reads them there from then on.
    #[must_use]
    pub fn keeping_segments_in(self, folder: PathBuf) -> Self {
        let segments = &self.shared.segments;
        segments.keep_in(Cache::new(folder, segments.objects.name().to_owned()));
        self
    }
}

/// Completes the last commit of a run if the process that wrote its segments died before the ledger had its entries.
async fn settle(segments: &Segments, run: RunId) -> Result<(), LogError> {
    let end = segments.end(run).await?;
    if end == RunEnd::START {
        return Ok(());
    }
    let last = segments.last(run, end).await?;
    let ended = last.events.last().is_some_and(|event| event.kind == "RunFinished");
    let writer = &last.footer.writer;
    if !ended && !writer.is_own() && writer.is_alive() == Some(true) {
        let holder = format!(" ({writer})");
        return Err(LogError::InUse { run, holder });
    }
    if end.undecided.is_none() {
        return Ok(());
    }
    // The rest of this commit was never written: the import has to be repeated.
    if last.footer.more {
        return Ok(());
    }
    let first = segments.first(run).await?;
    let entries = last.footer.entries.iter().map(|entry| {
        // One of an earlier segment of the commit is not repeated.
        let at_head = RepeatedEvent::of_segment(&last, entry.head.seq);
        NewEntry::new(entry.what.as_str().into(), entry.head, &first, at_head)
    });
    segments.ledger.append(&entries.collect::<Vec<_>>()).await?;
    segments.end(run).await.map(drop)
}

#[derive(Debug)]
struct Guard(Arc<Shared>, RunId);

impl LeaseGuard for Guard {}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.leases().remove(&self.1);
    }
}

impl Backend for BucketBackend {
    fn info(&self) -> StoreInfo {
        StoreInfo {
            name: self.shared.segments.objects.name().to_owned(),
            file: None,
            losses: Vec::new(),
            damage: None,
        }
    }

    /// Within this process, and from processes on this machine that are alive. Between machines, the next segment of the
    /// run is the lease: it can be created once.
    fn lease(&self, run: RunId) -> Result<Lease, LogError> {
        if !self.shared.leases().insert(run) {
            return Err(LogError::InUse { run, holder: String::new() });
        }
        let lease = Lease::new(Guard(self.shared.clone(), run));
        self.shared.wait(move |segments| async move {
            // Nothing is begun that a damaged ledger could not name.
            segments.ledger.read().await?;
            settle(&segments, run).await
        })?;
        Ok(lease)
    }

    /// Each segment names the process that wrote it.
    fn last_writer(&self, run: RunId) -> Result<Option<LastWriter>, LogError> {
        self.shared.wait(move |segments| async move {
            match segments.end(run).await {
                Ok(_) | Err(LogError::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
            let end = segments.known_end(run);
            if end == RunEnd::START {
                return Ok(None);
            }
            Ok(Some(segments.last(run, end).await?.last_writer()))
        })
    }

    fn committer(&self) -> Result<Box<dyn Committer>, LogError> {
        let writer = Writer::new(self.shared.segments.objects.name())?;
        Ok(Box::new(BucketCommitter::new(self.shared.clone(), writer)))
    }

    fn reader(&self) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(BucketReader::new(self.shared.clone(), self.snapshot.clone())))
    }
}
