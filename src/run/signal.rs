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
    async fn stopped(&self) {
        let stopped = self.0.1.notified();
        tokio::pin!(stopped);
        // From here on a notification is not missed; then look once more.
        stopped.as_mut().enable();
        if !self.is_stopped() {
            stopped.await;
        }
    }
}

/// Holds back what has not begun, when someone asks for it or when the execution has met a reason
/// to stop. The second ends with the execution; the first is the caller's.
#[derive(Debug, Default)]
pub(super) struct Brake {
    asked: Signal,
    met: Signal,
}

impl Brake {
    pub(super) fn new(asked: Signal) -> Self {
        Brake { asked, met: Signal::default() }
    }

    /// Lets nothing new begin in this execution.
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
        // Either end of the wait will do.
        let _ = tokio::time::timeout(wait, self.pulled()).await;
    }
}
