//! When to try again. Pure: it computes how long to wait; the run does the waiting.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use serde::{Deserialize, Serialize};

use super::failure::{Failure, FailureKind};
use super::throttle::{LONGEST_SECONDS, SettingError, check_range};

/// The retry settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetryPolicy {
    /// The most attempts after the first.
    pub max_retries: usize,
    /// The first wait; each following one is twice as long, with jitter. In seconds.
    pub base_seconds: f64,
    /// The longest wait between two attempts, even if the provider asks for more. In seconds.
    pub max_seconds: f64,
    /// The single wait after the quota is used up. In seconds.
    pub quota_seconds: f64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy { max_retries: 5, base_seconds: 2.0, max_seconds: 120.0, quota_seconds: 60.0 }
    }
}

/// The retry state of one call.
#[derive(Debug)]
pub struct Retry {
    policy: RetryPolicy,
    delays: ExponentialBackoff,
    quota_waited: bool,
}

impl RetryPolicy {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`SettingError`] for the first invalid setting.
    pub fn check(&self) -> Result<(), SettingError> {
        let RetryPolicy { max_retries, base_seconds, max_seconds, quota_seconds } = *self;
        if max_retries > 1000 {
            let value = max_retries.to_string();
            return Err(SettingError { field: "max_retries", rule: "from 0 to 1000", value });
        }
        let (rule, range) = ("from 0 to 86400", 0.0..=LONGEST_SECONDS);
        check_range("base_seconds", rule, base_seconds, range.clone())?;
        check_range("max_seconds", rule, max_seconds, range.clone())?;
        check_range("quota_seconds", rule, quota_seconds, range)
    }

    /// The shortest wait between two attempts.
    pub(crate) fn first_wait(&self) -> Duration {
        seconds(self.base_seconds.min(self.max_seconds))
    }

    /// Starts the retry state of one call.
    pub fn start(&self) -> Retry {
        let delays = ExponentialBuilder::default()
            .with_min_delay(seconds(self.base_seconds))
            .with_max_delay(seconds(self.max_seconds))
            .with_max_times(self.max_retries)
            .with_jitter()
            .build();
        Retry { policy: *self, delays, quota_waited: false }
    }
}

impl Retry {
    /// How long to wait before the next attempt, or `None` to give up.
    ///
    /// `Retry-After` is respected when it is longer than our own wait, up to `max_seconds`, or,
    /// after a used-up quota, up to the longer of that and `quota_seconds`.
    pub fn after(&mut self, failure: &Failure) -> Option<Duration> {
        match failure.kind {
            FailureKind::Rejected
            | FailureKind::Unauthorized
            | FailureKind::Untrusted
            | FailureKind::NoAnswer
            | FailureKind::Left => None,
            FailureKind::QuotaExhausted => {
                let first = !std::mem::replace(&mut self.quota_waited, true);
                let asked = failure.retry_after.unwrap_or(Duration::ZERO);
                let longest = seconds(self.policy.max_seconds);
                first.then(|| seconds(self.policy.quota_seconds).max(asked.min(longest)))
            }
            FailureKind::RateLimited
            | FailureKind::Server
            | FailureKind::Timeout
            | FailureKind::Connection
            | FailureKind::Malformed => {
                let own = self.delays.next()?;
                let asked = failure.retry_after.unwrap_or(Duration::ZERO);
                Some(own.max(asked).min(seconds(self.policy.max_seconds)))
            }
        }
    }
}

/// Must not panic on unchecked settings: invalid durations become zero, overlong ones become one
/// day.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value.clamp(0.0, LONGEST_SECONDS)).unwrap_or(Duration::ZERO)
}
