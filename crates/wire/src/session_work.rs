//! The exchanges and reports that are under way in a session, and its end.

use std::sync::{Arc, Mutex};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::lock::lock;

/// The exchanges and reports that are under way in a session, until it is closed.
#[derive(Default)]
pub struct SessionWork {
    state: Mutex<WorkState>,
    idle: Notify,
    closed: Notify,
}

#[derive(Default)]
struct WorkState {
    under_way: usize,
    /// True if nothing more is begun.
    is_closed: bool,
    /// When the program died, if it did.
    died: Option<Instant>,
}

/// An exchange or a report under way, until it is dropped.
pub(crate) struct Working(Arc<SessionWork>);

impl Drop for Working {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.under_way -= 1;
        if state.under_way == 0 {
            self.0.idle.notify_waiters();
        }
    }
}

impl SessionWork {
    /// Begins an exchange or a report; `None` if the session is closed.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Working> {
        let mut state = lock(&self.state);
        if state.is_closed {
            return None;
        }
        state.under_way += 1;
        Some(Working(self.clone()))
    }

    /// How many are under way.
    pub(crate) fn count(&self) -> usize {
        lock(&self.state).under_way
    }

    /// Refuses new requests; those in flight are finished.
    pub fn close(&self) {
        lock(&self.state).is_closed = true;
        self.closed.notify_waiters();
    }

    /// Waits until new requests are refused.
    pub(crate) async fn closed(&self) {
        let closed = self.closed.notified();
        tokio::pin!(closed);
        closed.as_mut().enable();
        if !lock(&self.state).is_closed {
            closed.await;
        }
    }

    /// Notes that the program died, and with it all its clients.
    pub fn note_death(&self) {
        lock(&self.state).died.get_or_insert_with(Instant::now);
    }

    /// True if the program had died by this time.
    pub(crate) fn had_died_by(&self, time: Instant) -> bool {
        lock(&self.state).died.is_some_and(|died| died <= time)
    }

    /// Waits until no exchange is under way.
    pub async fn idle(&self) {
        loop {
            let notified = self.idle.notified();
            tokio::pin!(notified);
            notified.as_mut().enable();
            if lock(&self.state).under_way == 0 {
                return;
            }
            notified.await;
        }
    }
}
