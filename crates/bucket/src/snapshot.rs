//! The runs of a log as they were at one moment.

use std::sync::Arc;

use retold::log::{LogError, RunHead};
use tokio::sync::OnceCell;

use crate::heads::heads;
use crate::ledger::KnownLedger;
use crate::segments::Segments;

/// The runs that a log had when they were first listed. A command that only reads lists them several times.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    ledger: OnceCell<Arc<KnownLedger>>,
    heads: OnceCell<Vec<RunHead>>,
}

impl Snapshot {
    /// The ledger.
    pub(crate) async fn ledger(&self, segments: &Segments) -> Result<Arc<KnownLedger>, LogError> {
        self.ledger.get_or_try_init(|| segments.ledger.read()).await.cloned()
    }

    /// The runs, in the order in which they came into the log.
    pub(crate) async fn heads(&self, segments: &Arc<Segments>) -> Result<Vec<RunHead>, LogError> {
        let list = || async { heads(segments, self.ledger(segments).await).await };
        self.heads.get_or_try_init(list).await.cloned()
    }
}
