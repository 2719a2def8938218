//! The pace at which a provider lets us ask, learned from its refusals.
//!
//! Retries alone do not get every call through a rate limit: while all calls ask as fast as they can, each retry competes
//! with them, and of ten thousand calls many lose every time. So after more than a few refusals, the attempts of a
//! run are spaced as attempts were accepted, and a little closer after each span without a refusal; TCP avoids
//! congestion in the same way (RFC 5681, section 3.1). An attempt counts as accepted if no refusal has come within a second:
//! refusals come at once, answers when the model has finished writing.
//!
//! A provider that counts by the minute accepts nothing once its limit is reached, and neither does one that is
//! overloaded. Meanwhile a run only knocks. As soon as an attempt is accepted, the run is at its former pace, because a
//! pause that is over says nothing about a rate. If next to nothing is accepted before the next pause, the pauses are
//! the rate.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

/// The shortest time over which attempts are counted.
const SPAN: Duration = Duration::from_secs(1);

/// The longest.
const LONG_SPAN: Duration = Duration::from_secs(20);

/// A span ends after so many refusals, or so many accepted attempts without a refusal.
const ENOUGH: u32 = 20;

/// The share of refusals that retries get over without help.
const TOLERATED: f64 = 0.05;

/// How much wider than attempts were accepted they are spaced after more refusals.
const CAUTION: f64 = 1.05;

/// How many times wider than before they are spaced at most: in one span, fewer may have been accepted by chance.
const STEEPEST: u32 = 4;

/// How much closer they are spaced after a span without a refusal.
const PROBING: f64 = 0.9;

/// The time without an accepted attempt after which a run knocks. Longer than one second, because many providers count by the second.
const SILENCE: Duration = Duration::from_millis(1500);

/// The same, in spacings.
const SILENT_GAPS: u32 = 4;

/// The closest spacing of knocks.
const KNOCKING: Duration = Duration::from_millis(500);

/// The share of the time without an accepted attempt after which the next knock follows.
const KNOCKS: u32 = 10;

/// The widest spacing.
const WIDEST: Duration = Duration::from_secs(10);

/// Spacings below this are none.
const CLOSEST: Duration = Duration::from_micros(10);

/// How many wider spacings are tried before it is judged whether they help.
const TRIALS: u32 = 4;

/// For how many spans nothing is tried after wider spacings did not help.
const PATIENCE: u32 = 30;

/// The pace learned so far.
#[derive(Debug, Default)]
pub(super) struct LearnedPace {
    count: Mutex<AttemptCount>,
    reopened: Notify,
}

/// What became of the attempts of a span, and what follows from it.
#[derive(Debug, Default)]
struct AttemptCount {
    since: Option<Instant>,
    /// The last attempt that was accepted or refused.
    last: Option<Instant>,
    accepted: u32,
    refused: u32,
    /// The first refusal of the span.
    first_refused: Option<Instant>,
    last_refused: Option<Instant>,
    /// The first refusal after the last accepted attempt.
    silent_since: Option<Instant>,
    /// The spacing of attempts.
    gap: Duration,
    /// Nothing is accepted.
    closure: Option<Closure>,
    /// The end of the last closure.
    reopening: Option<Reopening>,
    /// Wider spacings that are tried.
    trial: Option<Trial>,
    /// For how many more spans nothing is tried.
    waits: u32,
}

/// A time in which nothing is accepted.
#[derive(Debug)]
struct Closure {
    since: Instant,
    noticed: Instant,
    gap_before: Duration,
}

/// The number of attempts accepted since a closure began.
#[derive(Debug)]
struct Reopening {
    closed_since: Instant,
    accepted: u32,
}

/// Wider spacings, and the spacing and share of refusals that they are compared with.
#[derive(Debug)]
struct Trial {
    gap_before: Duration,
    refused_before: f64,
    spans: u32,
}

impl LearnedPace {
    fn lock(&self) -> MutexGuard<'_, AttemptCount> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The spacing of attempts.
    pub(super) fn gap(&self) -> Duration {
        self.lock().gap
    }

    /// Waits until attempts are accepted again, after a time in which none was.
    pub(super) fn reopen_notice(&self) -> Notified<'_> {
        self.reopened.notified()
    }

    /// An attempt that began at `begun` was accepted.
    pub(super) fn note_acceptance(&self, begun: Instant, now: Instant) {
        if self.lock().count_accepted(begun, now) {
            self.reopened.notify_waiters();
        }
    }

    /// An attempt was refused, because too much was asked.
    pub(super) fn note_refusal(&self, now: Instant) {
        self.lock().count_refused(now);
    }
}

impl AttemptCount {
    /// True if that ends a closure.
    fn count_accepted(&mut self, begun: Instant, now: Instant) -> bool {
        // It says nothing about the time since then.
        if self.closure.as_ref().is_some_and(|closure| begun < closure.noticed) {
            return false;
        }
        self.silent_since = None;
        let Some(Closure { since, gap_before, .. }) = self.closure.take() else {
            if let Some(reopening) = &mut self.reopening {
                reopening.accepted = reopening.accepted.saturating_add(1);
            }
            // Refusals before a time in which all attempts were accepted no longer count.
            let is_over = self.last_refused.is_some_and(|last| now - last >= self.silence());
            if is_over && self.refused > 0 {
                self.begin_span(now);
            }
            self.end_span(now, self.refused == 0 && self.accepted >= ENOUGH);
            self.accepted = self.accepted.saturating_add(1);
            self.last = Some(now);
            return false;
        };
        self.gap = gap_before;
        self.reopening = Some(Reopening { closed_since: since, accepted: 1 });
        self.begin_span(now);
        self.accepted = 1;
        true
    }

    fn count_refused(&mut self, now: Instant) {
        let since = *self.silent_since.get_or_insert(now);
        let silent = now.saturating_duration_since(since);
        if let Some(Closure { gap_before, .. }) = self.closure {
            self.gap = (silent / KNOCKS).clamp(KNOCKING.max(gap_before), WIDEST.max(gap_before));
            return;
        }
        let is_long = self.first_refused.is_some_and(|first| now - first >= SPAN);
        self.end_span(now, self.refused >= ENOUGH && is_long);
        self.refused = self.refused.saturating_add(1);
        self.first_refused.get_or_insert(now);
        self.last_refused = Some(now);
        self.last = Some(now);
        if silent >= self.silence() {
            let gap_before = self.gap.max(self.gap_of_pauses(now));
            self.gap = gap_before.max(KNOCKING);
            self.closure = Some(Closure { since, noticed: now, gap_before });
        }
    }

    /// How long nothing but refusals, or nothing but accepted attempts, is no chance.
    fn silence(&self) -> Duration {
        SILENCE.max(SILENT_GAPS * self.gap)
    }

    /// The spacing of the attempts that were accepted since the last closure began, if those are few.
    fn gap_of_pauses(&self, now: Instant) -> Duration {
        let few = self.reopening.as_ref().filter(|reopening| reopening.accepted < ENOUGH);
        few.map_or(Duration::ZERO, |Reopening { closed_since, accepted }| {
            let elapsed = now.saturating_duration_since(*closed_since);
            elapsed.div_f64(f64::from(*accepted)).mul_f64(CAUTION).min(WIDEST)
        })
    }

    fn begin_span(&mut self, now: Instant) {
        (self.since, self.last, self.first_refused) = (Some(now), Some(now), None);
        (self.accepted, self.refused) = (0, 0);
    }

    /// Begins a new span if the last one is over, and draws the conclusion from that.
    fn end_span(&mut self, now: Instant, is_enough: bool) {
        let since = *self.since.get_or_insert(now);
        let elapsed = now.saturating_duration_since(since);
        if elapsed < SPAN || (!is_enough && elapsed < LONG_SPAN) {
            return;
        }
        // Nothing is learned while nothing is asked.
        let asked = self.last.map_or(SPAN, |last| last.saturating_duration_since(since));
        if self.accepted > 0 {
            self.conclude(asked.max(SPAN));
        }
        self.begin_span(now);
    }

    fn conclude(&mut self, elapsed: Duration) {
        self.waits = self.waits.saturating_sub(1);
        let (accepted, refused) = (f64::from(self.accepted), f64::from(self.refused));
        let share = refused / (accepted + refused);
        if share <= TOLERATED {
            self.trial = None;
            if self.refused == 0 {
                self.gap = self.gap.mul_f64(PROBING);
            }
        } else if self.waits == 0 {
            self.try_wider(share, elapsed.div_f64(accepted));
        }
        if self.gap < CLOSEST {
            self.gap = Duration::ZERO;
        }
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
