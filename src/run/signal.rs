//! Tells a run to stop.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Tells a run to stop: calls in flight are finished and recorded.
#[derive(Debug, Clone, Default)]
pub struct Signal(CancellationToken);

impl Signal {
    /// Asks the run to stop.
    pub fn stop(&self) {
        self.0.cancel();
    }

    /// Waits for a while, or until the run is asked to stop; whether it was.
    pub(crate) async fn pause(&self, wait: Duration) -> bool {
        tokio::time::timeout(wait, self.0.cancelled()).await.is_ok()
    }

    /// Whether the run was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Keeps new calls from beginning when the caller asks for that, or when the execution has a reason
/// to stop. The latter ends with the execution; the former belongs to the caller, whose signal
/// stays as it is.
#[derive(Debug)]
pub(super) struct Brake(CancellationToken);

impl Brake {
    pub(super) fn new(asked: &Signal) -> Self {
        Brake(asked.0.child_token())
    }

    /// Keeps anything new from beginning in this execution.
    pub(super) fn pull(&self) {
        self.0.cancel();
    }

    pub(super) fn is_pulled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until nothing new may begin.
    pub(super) async fn wait_for_pull(&self) {
        self.0.cancelled().await;
    }

    /// Waits for a while, or until nothing new may begin.
    pub(super) async fn pause(&self, wait: Duration) {
        // Either end of the wait is fine.
        let _ = tokio::time::timeout(wait, self.wait_for_pull()).await;
    }
}
