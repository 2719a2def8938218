//! When to try again. Pure: it computes how long to wait; the run does the waiting.

use std::time::Duration;

use backon::{
    BackoffBuilder, ConstantBackoff, ConstantBuilder, ExponentialBackoff, ExponentialBuilder,
};
use serde::{Deserialize, Serialize};

use super::failure::{Failure, FailureKind};
use super::retry_settings::RetrySettings;
use super::throttle::{LONGEST_SECONDS, SettingError, check_range};

/// When to try again, and how long to wait before. In a config, the name of a rule stands for it with the defaults of the
/// study: `retry: fixed`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(from = "RetrySettings")]
pub struct RetryPolicy {
    /// What is tried again, and how waits grow.
    #[serde(skip_serializing_if = "RetryRule::is_usual")]
    pub rule: RetryRule,
    /// The most attempts after the first.
    pub max_retries: usize,
    /// The first wait, in seconds.
    pub base_seconds: f64,
    /// The longest wait between two attempts, even if the provider asks for more. In seconds.
    pub max_seconds: f64,
    /// The single wait after the quota is used up, in seconds. The rule `fixed` has no such wait.
    pub quota_seconds: f64,
}

/// What is tried again, and how waits grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryRule {
    /// What may pass is tried again. Each wait is twice as long as the one before, with jitter, and there is one long
    /// wait after the quota is used up.
    #[default]
    Exponential,
    /// The rule of the agent society's document ("LLM API Errors"): after a rate limit, the wait is `base_seconds` times two
    /// to the power of the attempts before, and up to one second at random; after any other error of the provider, even one that will
    /// come again, it is `base_seconds`.
    Fixed,
}

impl RetryRule {
    /// Whether settings need not name it.
    fn is_usual(&self) -> bool {
        *self == RetryRule::Exponential
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy {
            rule: RetryRule::Exponential,
            max_retries: 5,
            base_seconds: 2.0,
            max_seconds: 120.0,
            quota_seconds: 60.0,
        }
    }
}

/// The retry state of one call.
#[derive(Debug)]
pub struct Retry {
    policy: RetryPolicy,
    waits: Waits,
    quota_waited: bool,
}

/// The waits of a call that is tried again.
#[derive(Debug)]
enum Waits {
    Exponential(ExponentialBackoff),
    /// A second and up to another one at random, for each attempt after the first; and how many attempts there were.
    Fixed(ConstantBackoff, i32),
}

impl RetryPolicy {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`SettingError`] for the first invalid setting.
    pub fn check(&self) -> Result<(), SettingError> {
        let RetryPolicy { rule: _, max_retries, base_seconds, max_seconds, quota_seconds } = *self;
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
        let waits = match self.rule {
            RetryRule::Exponential => Waits::Exponential(
                ExponentialBuilder::default()
                    .with_min_delay(seconds(self.base_seconds))
                    .with_max_delay(seconds(self.max_seconds))
                    .with_max_times(self.max_retries)
                    .with_jitter()
                    .build(),
            ),
            RetryRule::Fixed => {
                let jitter = ConstantBuilder::default().with_delay(ONE_SECOND).with_jitter();
                Waits::Fixed(jitter.with_max_times(self.max_retries).build(), 0)
            }
        };
        Retry { policy: *self, waits, quota_waited: false }
    }

    /// The part of a wait that is kept even if the provider accepts what others ask meanwhile: after a rate limit as long as it asked
    /// for, otherwise all of it.
    pub(crate) fn least_wait(&self, failure: &Failure, wait: Duration) -> Duration {
        match (self.rule, failure.kind) {
            (RetryRule::Exponential, FailureKind::RateLimited) => {
                wait.min(failure.retry_after.unwrap_or_default())
            }
            _ => wait,
        }
    }
}

/// The longest random part of a wait of [`RetryRule::Fixed`].
const ONE_SECOND: Duration = Duration::from_secs(1);

impl Retry {
    /// How long to wait before the next attempt, or `None` to give up.
    ///
    /// `Retry-After` is respected when it is longer than our own wait, up to `max_seconds`, or,
    /// after a used-up quota, up to the longer of that and `quota_seconds`.
    pub fn after(&mut self, failure: &Failure) -> Option<Duration> {
        let asked = failure.retry_after.unwrap_or(Duration::ZERO);
        let longest = seconds(self.policy.max_seconds);
        match (failure.kind, &mut self.waits) {
            (FailureKind::Untrusted | FailureKind::NoAnswer | FailureKind::Left, _) => None,
            (kind, Waits::Fixed(jitter, attempts)) => {
                let random = jitter.next()?.saturating_sub(ONE_SECOND);
                let base = self.policy.base_seconds;
                let own = match kind {
                    FailureKind::RateLimited | FailureKind::QuotaExhausted => {
                        seconds(base * 2_f64.powi(*attempts)).saturating_add(random)
                    }
                    _ => seconds(base),
                };
                *attempts += 1;
                Some(own.max(asked).min(longest))
            }
            (FailureKind::Rejected | FailureKind::Unauthorized, Waits::Exponential(_)) => None,
            (FailureKind::QuotaExhausted, Waits::Exponential(_)) => {
                let first = !std::mem::replace(&mut self.quota_waited, true);
                first.then(|| seconds(self.policy.quota_seconds).max(asked.min(longest)))
            }
            (
                FailureKind::RateLimited
                | FailureKind::Server
                | FailureKind::Timeout
                | FailureKind::Connection
                | FailureKind::Malformed
                | FailureKind::Unanswered,
                Waits::Exponential(delays),
            ) => Some(delays.next()?.max(asked).min(longest)),
        }
    }
}

/// Must not panic on unchecked settings: invalid durations become zero, overlong ones become one
/// day.
fn seconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value.clamp(0.0, LONGEST_SECONDS)).unwrap_or(Duration::ZERO)
}
