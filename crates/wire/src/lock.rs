//! Locks that outlive a panic: the values that they guard are whole after each change of one step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after a thread has panicked that held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
