//! How fast a run may ask: how many attempts at once, and how many per minute.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::failure::{Failure, FailureKind};
use super::learned_pace::LearnedPace;

/// The limits of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The most attempts under way at the same time. A batch of embeddings counts as one.
    pub concurrency: usize,
    /// The most attempts that begin in a minute. They are spread evenly, without bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_minute: Option<f64>,
    /// The shortest time between the starts of two attempts. In seconds.
    pub min_interval_seconds: f64,
    /// How long one attempt may take, from connecting to the last byte. In seconds; ten minutes by default, as in the
    /// providers' own libraries, because models that reason may take minutes.
    pub timeout_seconds: f64,
    /// Consecutive connection failures, over all calls, after which the run stops and can be
    /// resumed. Simultaneous failures count as one.
    #[serde(skip_serializing_if = "is_usual_row")]
    pub max_connection_failures: u32,
    /// The largest share of failed calls, or of failed parts such as participants, for which a finished run still succeeds; a
    /// tenth if not given, and any for a simulated model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_failed: Option<f64>,
    /// Tokens of requests and answers after which the run stops and can be resumed; no limit if not
    /// given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// US dollars after which the run stops and can be resumed; no limit if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
}

/// The most embeddings that are sent in one request and count as one attempt. Providers allow from
/// 96 to 2,048; the deliberation document asks for 100.
pub const EMBEDDINGS_TOGETHER: usize = 100;

/// The default of [`Limits::max_connection_failures`].
const USUAL_ROW: u32 = 20;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_usual_row(row: &u32) -> bool {
    *row == USUAL_ROW
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            concurrency: 8,
            per_minute: None,
            min_interval_seconds: 0.0,
            timeout_seconds: 600.0,
            max_connection_failures: USUAL_ROW,
            max_failed: None,
            max_tokens: None,
            max_cost: None,
        }
    }
}

/// A setting with an invalid value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("\"{field}\" must be {rule}, not {value}")]
pub struct SettingError {
    /// The setting.
    pub field: &'static str,
    /// The rule for its value.
    pub rule: &'static str,
    /// Its value.
    pub value: String,
}

/// An attempt that is not refused within this time is accepted.
const ACCEPTED_AFTER: Duration = Duration::from_secs(1);

/// How finely a timer measures.
const TIMER: Duration = Duration::from_millis(1);

/// One day: longer waits are mistakes of units.
pub(super) const LONGEST_SECONDS: f64 = 86_400.0;

/// Checks that a number is between two others; `NaN` never is.
pub(super) fn check_range(
    field: &'static str,
    rule: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
) -> Result<(), SettingError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SettingError { field, rule, value: value.to_string() })
}

impl Limits {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`SettingError`] for the first invalid setting.
    pub fn check(&self) -> Result<(), SettingError> {
        let Limits {
            concurrency,
            per_minute,
            min_interval_seconds,
            timeout_seconds,
            max_connection_failures,
            max_failed,
            max_tokens: _,
            max_cost,
        } = *self;
        if !(1..=1_000_000).contains(&max_connection_failures) {
            return Err(SettingError {
                field: "max_connection_failures",
                rule: "from 1 to 1000000",
                value: max_connection_failures.to_string(),
            });
        }
        if !(1..=10_000).contains(&concurrency) {
            return Err(SettingError {
                field: "concurrency",
                rule: "from 1 to 10000",
                value: concurrency.to_string(),
            });
        }
        let interval = 0.0..=LONGEST_SECONDS;
        let timeout = 0.001..=LONGEST_SECONDS;
        check_range(
            "per_minute",
            "above 0 and at most 1000000",
            per_minute.unwrap_or(1.0),
            1e-3..=1e6,
        )?;
        check_range("max_failed", "a share from 0 to 1", max_failed.unwrap_or(0.0), 0.0..=1.0)?;
        check_range("max_cost", "from 0 to 1000000000", max_cost.unwrap_or(0.0), 0.0..=1e9)?;
        check_range("min_interval_seconds", "from 0 to 86400", min_interval_seconds, interval)?;
        check_range("timeout_seconds", "from 0.001 to 86400", timeout_seconds, timeout)
    }

    /// How long one attempt may take.
    pub fn timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.timeout_seconds).unwrap_or(Duration::MAX)
    }

    /// The shortest time between the starts of two attempts, whichever limit says it; zero without one.
    pub fn interval(&self) -> Duration {
        let evenly = self.per_minute.map_or(0.0, |n| 60.0 / n);
        Duration::try_from_secs_f64(evenly.max(self.min_interval_seconds)).unwrap_or(Duration::ZERO)
    }
}

/// Holds back the attempts of one run. An attempt holds a [`Permit`] while it is under way, but not
/// while it waits for a retry.
#[derive(Debug)]
pub struct Throttle {
    limits: Limits,
    places: Arc<Semaphore>,
    interval: Duration,
    /// How fast the provider lets us ask.
    learned: Arc<LearnedPace>,
    /// When the last attempt started.
    last: Arc<Mutex<Option<Instant>>>,
}

/// The right to make one attempt; returned when dropped.
#[derive(Debug)]
#[must_use = "dropping it lets the next attempt begin"]
pub struct Permit(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Default for Throttle {
    /// A throttle with the default limits.
    fn default() -> Self {
        Throttle::with_limits(Limits::default())
    }
}

impl Throttle {
    /// A throttle with these limits.
    ///
    /// # Errors
    /// As [`Limits::check`].
    pub fn new(limits: &Limits) -> Result<Self, SettingError> {
        limits.check()?;
        Ok(Throttle::with_limits(*limits))
    }

    /// The throttle of another run that asks the same provider: the two make as many attempts at once as this one alone
    /// would, and one at a time begins. The other run keeps its own interval and its other limits.
    ///
    /// # Errors
    /// As [`Limits::check`].
    pub fn shared_with(&self, limits: &Limits) -> Result<Self, SettingError> {
        let throttle = Throttle::new(limits)?;
        let (places, last) = (self.places.clone(), self.last.clone());
        Ok(Throttle { places, last, learned: self.learned.clone(), ..throttle })
    }

    fn with_limits(limits: Limits) -> Self {
        Throttle {
            limits,
            places: Arc::new(Semaphore::new(limits.concurrency)),
            interval: limits.interval(),
            learned: Arc::default(),
            last: Arc::default(),
        }
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Makes an attempt, and learns how fast the provider lets us ask from whether it is refused. If many are, the next
    /// ones are spaced as attempts were accepted.
    ///
    /// # Errors
    /// The attempt's.
    pub async fn watch<T>(
        &self,
        attempt: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let begun = Instant::now();
        let mut attempt = std::pin::pin!(attempt);
        let outcome = match timeout(ACCEPTED_AFTER, &mut attempt).await {
            Ok(outcome) => outcome,
            Err(_elapsed) => {
                self.learned.note_acceptance(begun, Instant::now());
                return attempt.await.inspect_err(|failure| self.learn(begun, Some(failure)));
            }
        };
        self.learn(begun, outcome.as_ref().err());
        outcome
    }

    /// Other failures say nothing about a limit.
    fn learn(&self, begun: Instant, failure: Option<&Failure>) {
        match failure.map(|failure| failure.kind) {
            None => self.learned.note_acceptance(begun, Instant::now()),
            Some(FailureKind::RateLimited) => self.learned.note_refusal(Instant::now()),
            Some(_) => {}
        }
    }

    /// Waits for a while, or until attempts are accepted again after a time in which none was.
    pub async fn pause(&self, wait: Duration) {
        // Either end of the wait is fine.
        let _ = timeout(wait, self.learned.reopen_notice()).await;
    }

    /// Waits until an attempt may start. Attempts start in the order of their requests.
    pub async fn acquire(&self) -> Permit {
        let permit = match self.places.clone().acquire_owned().await {
            Ok(permit) => permit,
            // Only a closed semaphore refuses, and this one is never closed.
            Err(_closed) => std::future::pending().await,
        };
        // Held while waiting: the mutex is fair and serves as the queue.
        let mut last = self.last.lock().await;
        let due = loop {
            let reopened = self.learned.reopen_notice();
            let (now, interval) = (Instant::now(), self.interval.max(self.learned.gap()));
            match last.map(|last| last + interval) {
                None => break now,
                // What was learned meanwhile counts.
                Some(at) if at > now => drop(timeout_at(at, reopened).await),
                // Intervals below what a timer can measure are kept on average.
                Some(at) => break at.max(now - TIMER.saturating_sub(interval)),
            }
        };
        *last = Some(due);
        drop(last);
        Permit(permit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn attempts_are_spread_evenly() {
        let limits = Limits { per_minute: Some(60.0), ..Limits::default() };
        let throttle = Throttle::new(&limits).unwrap();
        let start = Instant::now();
        for _ in 0..5 {
            let _permit = throttle.acquire().await;
        }
        let waited = start.elapsed().as_millis();
        assert!((4000..4010).contains(&waited), "{waited}");
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_at_once_than_allowed() {
        let throttle = Throttle::new(&Limits { concurrency: 2, ..Limits::default() }).unwrap();
        let first = throttle.acquire().await;
        let _second = throttle.acquire().await;
        let third = tokio::time::timeout(Duration::from_secs(9), throttle.acquire()).await;
        assert!(third.is_err());
        drop(first);
        let _third = throttle.acquire().await;
    }

    #[tokio::test(start_paused = true)]
    async fn runs_that_share_a_throttle_keep_to_one_rate() {
        let limits = Limits { concurrency: 2, min_interval_seconds: 1.0, ..Limits::default() };
        let one = Throttle::new(&limits).unwrap();
        let other = one.shared_with(&Limits { concurrency: 9, ..limits }).unwrap();
        let start = Instant::now();
        let _first = one.acquire().await;
        let second = other.acquire().await;
        assert_eq!(start.elapsed().as_secs(), 1);
        let third = tokio::time::timeout(Duration::from_secs(9), other.acquire()).await;
        assert!(third.is_err(), "two at once, whichever asks");
        drop(second);
        let _third = other.acquire().await;
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let check = |limits: Limits| limits.check().unwrap_err().to_string();
        let all = [
            check(Limits { concurrency: 0, ..Limits::default() }),
            check(Limits { per_minute: Some(0.0), ..Limits::default() }),
            check(Limits { per_minute: Some(f64::NAN), ..Limits::default() }),
            check(Limits { min_interval_seconds: -1.0, ..Limits::default() }),
            check(Limits { timeout_seconds: f64::INFINITY, ..Limits::default() }),
            check(Limits { max_connection_failures: 0, ..Limits::default() }),
            check(Limits { max_failed: Some(1.5), ..Limits::default() }),
        ];
        insta::assert_snapshot!(all.join("\n"), @r#"
        "concurrency" must be from 1 to 10000, not 0
        "per_minute" must be above 0 and at most 1000000, not 0
        "per_minute" must be above 0 and at most 1000000, not NaN
        "min_interval_seconds" must be from 0 to 86400, not -1
        "timeout_seconds" must be from 0.001 to 86400, not inf
        "max_connection_failures" must be from 1 to 1000000, not 0
        "max_failed" must be a share from 0 to 1, not 1.5
        "#);
    }
}
