//! The only module that reads the clock. Times are recorded and shown; nothing depends on them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::id::Time;

/// The time of day.
#[expect(clippy::disallowed_methods, reason = "events say when they happened; no outcome uses it")]
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Measures how long something took.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    #[expect(clippy::disallowed_methods, reason = "latency is recorded and shown, never used")]
    pub fn start() -> Self {
        Stopwatch(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
