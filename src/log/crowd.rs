//! Whether others want the log, or the processor.
//!
//! Whoever is alone may keep a transaction open while it waits for what is about to come: nobody is kept from
//! anything. Among others this is what they wait for, and on a busy machine a wait of some microseconds can
//! last many milliseconds. So it is noticed when there are others, and remembered for a while.

use std::time::{Duration, Instant};

/// How long others are remembered. To find out anew costs one long wait at most.
const MEMORY: Duration = Duration::from_secs(1);

/// What was to take a tenth of this and took longer: others had the processor.
const LONG: Duration = Duration::from_millis(1);

/// The others, as far as they have been noticed.
#[derive(Default)]
pub(super) struct Crowd {
    until: Option<Instant>,
}

impl Crowd {
    /// Whether others were noticed lately.
    pub(super) fn is_there(&mut self) -> bool {
        if self.until.is_some_and(|until| until < now()) {
            self.until = None;
        }
        self.until.is_some()
    }

    /// Others wanted the log.
    pub(super) fn met(&mut self) {
        self.until = Some(now() + MEMORY);
    }

    /// A short wait since then has ended.
    pub(super) fn waited(&mut self, since: Instant) {
        if since.elapsed() > LONG {
            self.met();
        }
    }
}

/// The time, to wait by.
#[expect(clippy::disallowed_methods, reason = "how long a thread waits is no part of a run")]
pub(super) fn now() -> Instant {
    Instant::now()
}
