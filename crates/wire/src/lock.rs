//! Locks that outlive a panic: what they guard is whole after each change of one step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a thread has panicked that held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
