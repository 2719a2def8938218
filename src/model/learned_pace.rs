//! How fast a provider lets us ask, learned from what it refuses.
//!
//! Retries alone do not get every call through a rate limit: while all calls ask as fast as they can, each retry competes
//! with them, and of ten thousand calls many lose every time. So after more than a few refusals, the attempts of a
//! run are spaced as attempts were accepted, and a little closer after each span without a refusal; TCP avoids
//! congestion in the same way (RFC 5681, section 3.1). What is counted are attempts and refusals, which come at once, not
//! answers, which come when the model has finished writing.
//!
//! A provider that counts by the minute accepts nothing once its limit is reached. Meanwhile a run only knocks; then
//! it asks faster step by step, up to where it was (as TCP does after a timeout, section 3.1: slow start).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The shortest time over which attempts are counted.
const SPAN: Duration = Duration::from_secs(1);

/// The longest.
const LONG_SPAN: Duration = Duration::from_secs(20);

/// A span ends after so many refusals, or so many attempts of which none was refused.
const ENOUGH: u32 = 20;

/// The share of refusals that retries get over without help.
const TOLERATED: f64 = 0.05;

/// How much wider than attempts were accepted they are spaced after more refusals.
const CAUTION: f64 = 1.05;

/// How many times wider than before they are spaced at most: in one span, fewer may have been accepted by chance.
const STEEPEST: u32 = 4;

/// How much closer they are spaced after a span without a refusal.
const PROBING: f64 = 0.9;

/// The closest spacing while nothing is accepted.
const KNOCKING: Duration = Duration::from_secs(1);

/// The widest spacing.
const WIDEST: Duration = Duration::from_secs(10);

/// Spacings below this are none.
const CLOSEST: Duration = Duration::from_micros(10);

/// How many wider spacings are tried before it is judged whether they help.
const TRIALS: u32 = 4;

/// For how many spans nothing is tried after wider spacings did not help.
const PATIENCE: u32 = 30;

/// What was learned so far.
#[derive(Debug, Default)]
pub(super) struct LearnedPace(Mutex<AttemptCount>);

/// What became of the attempts of a span, and what follows from it.
#[derive(Debug, Default)]
struct AttemptCount {
    since: Option<Instant>,
    /// The last attempt or refusal.
    last: Option<Instant>,
    begun: u32,
    refused: u32,
    /// The spacing of attempts.
    gap: Duration,
    /// The spacing before nothing was accepted any more.
    gap_before_closing: Option<Duration>,
    /// Wider spacings that are tried.
    trial: Option<Trial>,
    /// For how many more spans nothing is tried.
    waits: u32,
}

/// Wider spacings, and what they are compared with.
#[derive(Debug)]
struct Trial {
    gap_before: Duration,
    refused_before: f64,
    spans: u32,
}

impl LearnedPace {
    fn count(&self, now: Instant, add: impl FnOnce(&mut AttemptCount)) -> Duration {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counted.end_span(now);
        add(&mut counted);
        counted.last = Some(now);
        counted.gap
    }

    /// An attempt begins: the spacing until the next one.
    pub(super) fn begun(&self, now: Instant) -> Duration {
        self.count(now, |counted| counted.begun = counted.begun.saturating_add(1))
    }

    /// An attempt was refused, because too much was asked.
    pub(super) fn refused(&self, now: Instant) {
        self.count(now, |counted| counted.refused = counted.refused.saturating_add(1));
    }
}

impl AttemptCount {
    /// Begins a new span if the last one is over, and draws the conclusion from that.
    fn end_span(&mut self, now: Instant) {
        let since = *self.since.get_or_insert(now);
        let elapsed = now.saturating_duration_since(since);
        let is_enough = match self.gap_before_closing {
            // Whether anything is accepted again shows at the first attempt.
            Some(_) => self.begun > 0,
            None => self.refused >= ENOUGH || (self.refused == 0 && self.begun >= ENOUGH),
        };
        if elapsed < SPAN || (!is_enough && elapsed < LONG_SPAN) {
            return;
        }
        // Nothing is learned while nothing is asked.
        let asked = self.last.map_or(SPAN, |last| last.saturating_duration_since(since));
        if self.begun > 0 {
            self.conclude(asked.max(SPAN));
        }
        (self.since, self.begun, self.refused) = (Some(now), 0, 0);
    }

    fn conclude(&mut self, elapsed: Duration) {
        self.waits = self.waits.saturating_sub(1);
        // What was refused may have begun in the span before.
        let accepted = self.begun.saturating_sub(self.refused);
        let share = 1.0 - f64::from(accepted) / f64::from(self.begun);
        if accepted == 0 {
            self.gap_before_closing.get_or_insert(self.gap);
            self.gap = (2 * self.gap).clamp(KNOCKING, WIDEST);
        } else if self.refused == 0 {
            self.trial = None;
            self.come_closer();
        } else if share <= TOLERATED {
            self.trial = None;
        } else {
            self.gap_before_closing = None;
            if self.waits == 0 {
                self.try_wider(share, elapsed.div_f64(f64::from(accepted)));
            }
        }
        if self.gap < CLOSEST {
            self.gap = Duration::ZERO;
        }
    }

    fn come_closer(&mut self) {
        self.gap = match self.gap_before_closing {
            Some(before) if before < self.gap / 2 => self.gap / 2,
            Some(before) => {
                self.gap_before_closing = None;
                before
            }
            None => self.gap.mul_f64(PROBING),
        };
    }

    fn try_wider(&mut self, share: f64, accepted_every: Duration) {
        let (gap_before, refused_before) = (self.gap, share);
        let trial = self.trial.get_or_insert(Trial { gap_before, refused_before, spans: 0 });
        trial.spans += 1;
        if trial.spans <= TRIALS {
            let steepest = if self.gap.is_zero() { WIDEST } else { STEEPEST * self.gap };
            let wider = accepted_every.mul_f64(CAUTION).min(steepest).min(WIDEST);
            self.gap = self.gap.max(wider);
            return;
        }
        // A provider that refuses as much of fewer attempts has no rate that we could keep to.
        if share > trial.refused_before / 2.0 {
            (self.gap, self.waits) = (trial.gap_before, PATIENCE);
        }
        self.trial = None;
    }
}
