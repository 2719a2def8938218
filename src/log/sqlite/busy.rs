//! Waiting for a lock that several processes want.
//!
//! A process that writes holds the lock nearly all the time: it releases it when it commits, and
//! takes it again some ten microseconds later. SQLite's own handler sleeps longer the longer it has
//! waited, up to 0.1 s, and so finds the lock free less often than a process that has waited less:
//! out of four processes, one could wait for seconds. Here every process tries again after a short
//! random time, so that all have the same chance, more than a thousand times a second. A process
//! that has had no luck for a second tries five times as often.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode};

use crate::log::contention::now;

/// The longest pause in microseconds; the mean is half of it.
const LONGEST_PAUSE: u32 = 1000;

/// The same for a process that has waited this long.
const SHORTER_PAUSE: u32 = 200;
const LONG: Duration = Duration::from_secs(1);

/// Whether a connection has had to wait since this was last called.
#[derive(Default, Clone)]
pub(super) struct WaitFlag(Arc<AtomicBool>);

impl WaitFlag {
    pub(super) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// Makes a connection wait for its turn, for at most `patience`.
pub(super) fn take_turns(db: &mut Connection, patience: Duration) -> rusqlite::Result<WaitFlag> {
    let waited = WaitFlag::default();
    let note = waited.clone();
    let mut since = now();
    db.busy_handler(Some(move |tries: i32| {
        if tries == 0 {
            since = now();
            note.0.store(true, Ordering::Relaxed);
        }
        let waited = since.elapsed();
        let keeps_waiting = waited < patience;
        if keeps_waiting {
            pause(waited);
        }
        keeps_waiting
    }))?;
    Ok(waited)
}

/// Retries what SQLite gives up at once when it finds a lock, such as changing the journal mode.
pub(super) fn until_free(
    patience: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let since = now();
    loop {
        match attempt() {
            Err(e) if is_locked(&e) && since.elapsed() < patience => pause(since.elapsed()),
            result => return result,
        }
    }
}

/// Whether another process holds a lock.
pub(super) fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn pause(waited: Duration) {
    let longest = if waited < LONG { LONGEST_PAUSE } else { SHORTER_PAUSE };
    // Without randomness all pauses are equally long, which is no worse than SQLite's own wait.
    let chance = getrandom::u32().unwrap_or(longest / 2);
    std::thread::sleep(Duration::from_micros(u64::from(1 + chance % longest)));
}
