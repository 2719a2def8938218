//! A program that is told to end closes the logs that it writes: the last connection to a file removes its WAL.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long connections are waited for. What they do is stopped at once; the rest is rolled back.
const MOST_WAIT: Duration = Duration::from_secs(2);

static IS_ENDING: AtomicBool = AtomicBool::new(false);
static HAS_WRITTEN: AtomicBool = AtomicBool::new(false);
static OPEN: Mutex<usize> = Mutex::new(0);
static CLOSED: Condvar = Condvar::new();

/// Stops what this process does with files of logs, and waits until they are closed, if it has written one. It ends
/// directly after this.
pub fn close_all() {
    IS_ENDING.store(true, Ordering::SeqCst);
    if HAS_WRITTEN.load(Ordering::SeqCst) {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        // What takes longer is closed by the next command that writes.
        drop(CLOSED.wait_timeout_while(open, MOST_WAIT, |open| *open > 0));
    }
}

/// Whether all queries are to stop.
pub(super) fn is_ending() -> bool {
    IS_ENDING.load(Ordering::Relaxed)
}

/// Notes that this process writes.
pub(super) fn will_write() {
    HAS_WRITTEN.store(true, Ordering::SeqCst);
}

/// A connection that is open.
pub(super) struct OpenCount;

impl OpenCount {
    pub(super) fn new() -> Self {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        OpenCount
    }
}

impl Drop for OpenCount {
    fn drop(&mut self) {
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        CLOSED.notify_all();
    }
}
