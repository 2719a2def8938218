//! Tells a run to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// Tells a run to stop: what is in flight is finished and recorded.
#[derive(Debug, Clone, Default)]
pub struct Signal(Arc<(AtomicBool, Notify)>);

impl Signal {
    /// Tells the run to stop.
    pub fn stop(&self) {
        self.0.0.store(true, Ordering::SeqCst);
        self.0.1.notify_waiters();
    }

    /// Whether the run was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Waits until the run is told to stop.
    async fn stopped(&self) {
        let stopped = self.0.1.notified();
        tokio::pin!(stopped);
        // From here on, no notification is missed; so check once more.
        stopped.as_mut().enable();
        if !self.is_stopped() {
            stopped.await;
        }
    }
}

/// Keeps new calls from beginning when the caller asks for that, or when the execution has a reason
/// to stop. The latter ends with the execution; the former belongs to the caller.
#[derive(Debug, Default)]
pub(super) struct Brake {
    asked: Signal,
    met: Signal,
}

impl Brake {
    pub(super) fn new(asked: Signal) -> Self {
        Brake { asked, met: Signal::default() }
    }

    /// Keeps anything new from beginning in this execution.
    pub(super) fn pull(&self) {
        self.met.stop();
    }

    pub(super) fn is_pulled(&self) -> bool {
        self.asked.is_stopped() || self.met.is_stopped()
    }

    /// Waits until nothing new may begin.
    pub(super) async fn pulled(&self) {
        tokio::select! {
            () = self.asked.stopped() => {}
            () = self.met.stopped() => {}
        }
    }

    /// Waits for a while, or until nothing new may begin.
    pub(super) async fn pause(&self, wait: Duration) {
        // Either end of the wait is fine.
        let _ = tokio::time::timeout(wait, self.pulled()).await;
    }
}
