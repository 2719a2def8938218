//! The runs of a log as they were at one moment.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use retold::id::RunId;
use retold::log::{LogError, RunHead};
use tokio::sync::OnceCell;

use crate::heads::heads;
use crate::ledger::KnownLedger;
use crate::run_end::RunEnd;
use crate::segments::Segments;

/// The runs that a log had when they were first listed. A command that only reads lists them several times.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    ledger: OnceCell<Arc<KnownLedger>>,
    heads: OnceCell<Vec<RunHead>>,
    /// The runs that had ended, and whose last segment was found.
    over: Mutex<BTreeSet<RunId>>,
}

impl Snapshot {
    /// The ledger.
    ///
    /// # Errors
    /// As [`Ledger::read`](crate::ledger::Ledger::read).
    pub(crate) async fn ledger(&self, segments: &Segments) -> Result<Arc<KnownLedger>, LogError> {
        self.ledger.get_or_try_init(|| segments.ledger.read()).await.cloned()
    }

    /// The runs, in the order in which they came into the log.
    ///
    /// # Errors
    /// [`LogError`] if the store cannot be read.
    pub(crate) async fn heads(&self, segments: &Arc<Segments>) -> Result<Vec<RunHead>, LogError> {
        let list = || async { heads(segments, self.ledger(segments).await).await };
        self.heads.get_or_try_init(list).await.cloned()
    }

    /// The end of a run of which an earlier one is known. It is not looked for again once the run had ended.
    ///
    /// # Errors
    /// As [`Segments::end`].
    pub(crate) async fn end(
        &self,
        segments: &Segments,
        run: RunId,
        known: RunEnd,
    ) -> Result<RunEnd, LogError> {
        if known != RunEnd::START && self.over().contains(&run) {
            return Ok(known);
        }
        let end = segments.end_after(run, known).await?;
        let ledger = segments.ledger.last_read().await;
        let last = ledger.of(run).next_back();
        if last.is_some_and(|last| last.is_the_end() && last.entry.head == end.head) {
            self.over().insert(run);
        }
        Ok(end)
    }

    fn over(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        // A run is added at once.
        self.over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
