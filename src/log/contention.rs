//! Whether other processes want the log or the processor.
//!
//! A writer that is alone may keep a transaction open while it waits for events that are about to
//! arrive, since that delays nobody. When there are others, they would have to wait for that
//! transaction, and on a busy machine a pause of a few microseconds can last many milliseconds. So
//! this notices other processes and remembers them for a while.

use std::time::{Duration, Instant};

/// How long others are remembered. Noticing them again costs one long wait at most.
const MEMORY: Duration = Duration::from_secs(1);

/// A short wait that takes longer than this (ten times as long as intended) means that others had
/// the processor.
const LONG: Duration = Duration::from_millis(1);

/// The other processes, as far as they have been noticed.
#[derive(Default)]
pub(super) struct Contention {
    until: Option<Instant>,
}

impl Contention {
    /// Whether others were noticed recently.
    pub(super) fn is_there(&mut self) -> bool {
        if self.until.is_some_and(|until| until < now()) {
            self.until = None;
        }
        self.until.is_some()
    }

    /// Notes that others wanted the log.
    pub(super) fn note_others(&mut self) {
        self.until = Some(now() + MEMORY);
    }

    /// Notes the end of a short wait that began at `since`.
    pub(super) fn note_wait(&mut self, since: Instant) {
        if since.elapsed() > LONG {
            self.note_others();
        }
    }
}

/// The current time, used only to time waits.
#[expect(clippy::disallowed_methods, reason = "how long a thread waits is not part of a run")]
pub(super) fn now() -> Instant {
    Instant::now()
}
