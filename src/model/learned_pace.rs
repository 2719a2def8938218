//! How fast a provider lets us ask, learned from what it refuses.
//!
//! Retries alone do not get every call through a rate limit: while all calls ask as fast as they can, each retry competes
//! with them, and of ten thousand calls a few lose every time. So after a refusal, the attempts of a run are spaced at the
//! rate at which answers came, and a little closer after each second without a refusal. (TCP avoids congestion in the same
//! way: RFC 5681, section 3.1.)

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long it is counted what is answered and what is refused.
const SPAN: Duration = Duration::from_secs(1);

/// How much wider than the answers came the attempts are spaced after a refusal.
const CAUTION: f64 = 1.05;

/// How much closer they are spaced after a span without one.
const PROBING: f64 = 0.95;

/// The widest spacing.
const WIDEST: Duration = Duration::from_secs(10);

/// Spacings below this are none.
const CLOSEST: Duration = Duration::from_micros(100);

/// What was learned so far.
#[derive(Debug, Default)]
pub(super) struct LearnedPace(Mutex<AnswerCount>);

/// What became of the attempts of a span.
#[derive(Debug, Default)]
struct AnswerCount {
    since: Option<Instant>,
    answered: u32,
    is_refused: bool,
    /// The spacing of attempts.
    gap: Duration,
}

impl LearnedPace {
    fn count(&self, now: Instant, add: impl FnOnce(&mut AnswerCount)) -> Duration {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.end_span(now);
        add(&mut counted);
        counted.gap
    }

    /// The spacing of attempts.
    pub(super) fn gap(&self, now: Instant) -> Duration {
        self.count(now, |_| {})
    }

    /// An attempt was answered.
    pub(super) fn answered(&self, now: Instant) {
        self.count(now, |counted| counted.answered = counted.answered.saturating_add(1));
    }

    /// An attempt was refused, because too much was asked.
    pub(super) fn refused(&self, now: Instant) {
        self.count(now, |counted| counted.is_refused = true);
    }
}

impl AnswerCount {
    /// Begins a new span if the last one is over, and draws the conclusion from that.
    fn end_span(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let elapsed = now.saturating_duration_since(since);
        if elapsed < SPAN {
            return;
        }
        // While nothing was asked, nothing was learned.
        let is_idle = elapsed > (2 * SPAN).max(3 * self.gap);
        if self.is_refused {
            let answers_came = elapsed.checked_div(self.answered).filter(|_| !is_idle);
            let gap = answers_came.map_or(2 * self.gap, |gap| gap.mul_f64(CAUTION));
            self.gap = gap.min(WIDEST);
        } else if !is_idle {
            self.gap = self.gap.mul_f64(PROBING);
        }
        if self.gap < CLOSEST {
            self.gap = Duration::ZERO;
        }
        (self.since, self.answered, self.is_refused) = (Some(now), 0, false);
    }
}
