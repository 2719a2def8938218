//! How fast a provider lets us ask, learned from what it refuses.
//!
//! Retries alone do not get every call through a rate limit: while all calls ask as fast as they can, each retry competes
//! with them, and of ten thousand calls a few lose every time. So after more than a few refusals, the attempts of a
//! run are spaced at the rate at which answers came, and a little closer after each second without a refusal. (TCP avoids congestion in the same
//! way: RFC 5681, section 3.1.)

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long it is counted what is answered and what is refused.
const SPAN: Duration = Duration::from_secs(1);

/// The share of refusals that retries get over without help.
const TOLERATED: f64 = 0.02;

/// How much wider than the answers came the attempts are spaced after more refusals.
const CAUTION: f64 = 1.05;

/// How much closer they are spaced after a span without a refusal.
const PROBING: f64 = 0.95;

/// The widest spacing.
const WIDEST: Duration = Duration::from_secs(10);

/// Spacings below this are none: timers are no finer.
const CLOSEST: Duration = Duration::from_millis(1);

/// For how many spans nothing is tried after a wider spacing did not help.
const PATIENCE: u32 = 30;

/// What was learned so far.
#[derive(Debug, Default)]
pub(super) struct LearnedPace(Mutex<AnswerCount>);

/// What became of the attempts of a span, and what follows from it.
#[derive(Debug, Default)]
struct AnswerCount {
    since: Option<Instant>,
    answered: u32,
    refused: u32,
    /// The spacing of attempts.
    gap: Duration,
    /// A wider spacing that is tried.
    trial: Option<Trial>,
    /// For how many more spans nothing is tried.
    waits: u32,
}

/// A wider spacing, and what it is compared with.
#[derive(Debug)]
struct Trial {
    gap_before: Duration,
    refused_before: f64,
    /// How many spans are over: what was in flight when it began tells nothing.
    spans: u32,
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
        self.count(now, |counted| counted.refused = counted.refused.saturating_add(1));
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
        if elapsed <= (2 * SPAN).max(3 * self.gap) {
            self.conclude(elapsed);
        }
        (self.since, self.answered, self.refused) = (Some(now), 0, 0);
    }

    fn conclude(&mut self, elapsed: Duration) {
        let attempts = f64::from(self.answered) + f64::from(self.refused);
        let share = f64::from(self.refused) / attempts.max(1.0);
        self.waits = self.waits.saturating_sub(1);
        match &mut self.trial {
            Some(trial) if trial.spans == 0 => trial.spans = 1,
            Some(trial) => {
                // Whoever refuses however slowly we ask is not helped by asking more slowly.
                if share > trial.refused_before / 2.0 {
                    (self.gap, self.waits) = (trial.gap_before, PATIENCE);
                }
                self.trial = None;
            }
            None if share > TOLERATED && self.waits == 0 => {
                let (gap_before, refused_before) = (self.gap, share);
                self.trial = Some(Trial { gap_before, refused_before, spans: 0 });
                let answers_came = elapsed.checked_div(self.answered);
                let gap = answers_came.map_or(2 * self.gap, |gap| gap.mul_f64(CAUTION));
                self.gap = gap.min(WIDEST);
            }
            None if self.refused == 0 => self.gap = self.gap.mul_f64(PROBING),
            None => {}
        }
        if self.gap < CLOSEST {
            self.gap = Duration::ZERO;
        }
    }
}
