//! Retry settings as a config has them: a map, or the name of a rule.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::retry::{RetryPolicy, RetryRule};

/// What a config says about trying again.
#[derive(Debug, Clone, Copy, Default)]
pub struct RetrySettings(RetryFields);

/// The keys of the map.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RetryFields {
    rule: Option<RetryRule>,
    max_retries: Option<usize>,
    base_seconds: Option<f64>,
    max_seconds: Option<f64>,
    quota_seconds: Option<f64>,
}

impl RetrySettings {
    /// The policy, with these defaults for what the config leaves out.
    pub fn with_defaults(self, defaults: RetryPolicy) -> RetryPolicy {
        let RetrySettings(fields) = self;
        RetryPolicy {
            rule: fields.rule.unwrap_or(defaults.rule),
            max_retries: fields.max_retries.unwrap_or(defaults.max_retries),
            base_seconds: fields.base_seconds.unwrap_or(defaults.base_seconds),
            max_seconds: fields.max_seconds.unwrap_or(defaults.max_seconds),
            quota_seconds: fields.quota_seconds.unwrap_or(defaults.quota_seconds),
        }
    }
}

impl From<RetrySettings> for RetryPolicy {
    fn from(settings: RetrySettings) -> Self {
        settings.with_defaults(RetryPolicy::default())
    }
}

impl<'de> Deserialize<'de> for RetrySettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleOrMap)
    }
}

struct RuleOrMap;

impl<'de> Visitor<'de> for RuleOrMap {
    type Value = RetrySettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`exponential`, `fixed`, or a map of retry settings")
    }

    fn visit_str<E: Error>(self, rule: &str) -> Result<RetrySettings, E> {
        let rule = RetryRule::deserialize(StrDeserializer::new(rule))?;
        Ok(RetrySettings(RetryFields { rule: Some(rule), ..RetryFields::default() }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RetrySettings, A::Error> {
        RetryFields::deserialize(MapAccessDeserializer::new(map)).map(RetrySettings)
    }
}
