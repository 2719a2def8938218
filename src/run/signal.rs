//! Asking a run to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// A way to ask a run to stop: what is in flight is finished and recorded.
#[derive(Debug, Clone, Default)]
pub struct Signal(Arc<(AtomicBool, Notify)>);

impl Signal {
    /// Asks the run to stop.
    pub fn stop(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        self.0.1.notify_waiters();
    }

    /// Whether the run was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Waits until the run is asked to stop.
    pub(super) async fn stopped(&self) {
        let stopped = self.0.1.notified();
        tokio::pin!(stopped);
        // From here on a notification is not missed; then look once more.
        stopped.as_mut().enable();
        if !self.is_stopped() {
            stopped.await;
        }
    }

    /// Waits for a while, or until the run is asked to stop.
    pub(super) async fn pause(&self, wait: Duration) {
        // Either end of the wait will do.
        let _ = tokio::time::timeout(wait, self.stopped()).await;
    }
}
