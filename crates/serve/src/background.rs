//! Work in the background whose end a page awaits for a moment.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::job_error::JobError;

/// How long a page waits for work in the background.
pub(crate) const WAIT_TIMEOUT: Duration = Duration::from_millis(50);

/// A state that work in the background changes.
#[derive(Default)]
pub(crate) struct Background<S> {
    state: Mutex<S>,
    changed: Condvar,
}

impl<S> Background<S> {
    pub(crate) fn new(state: S) -> Self {
        Background { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, S> {
        lock(&self.state)
    }

    /// The state once it is not pending any more, or after a time.
    pub(crate) fn wait_while(
        &self,
        timeout: Duration,
        is_pending: impl FnMut(&mut S) -> bool,
    ) -> MutexGuard<'_, S> {
        let waited = self.changed.wait_timeout_while(self.state(), timeout, is_pending);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Does some work here and now, and changes the state with its result. Work that panics has failed: a page must not
    /// wait for it forever.
    pub(crate) fn work<T>(
        &self,
        work: impl FnOnce() -> Result<T, JobError>,
        end: impl FnOnce(&mut S, Result<T, JobError>),
    ) {
        let result = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(JobError::Panicked));
        end(&mut self.state(), result);
        self.changed.notify_all();
    }
}

impl<S: Send + 'static> Background<S> {
    /// The same in a thread of its own.
    pub(crate) fn begin<T>(
        self: &Arc<Self>,
        work: impl FnOnce() -> Result<T, JobError> + Send + 'static,
        end: impl FnOnce(&mut S, Result<T, JobError>) + Send + 'static,
    ) {
        let background = self.clone();
        std::thread::spawn(move || background.work(work, end));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
