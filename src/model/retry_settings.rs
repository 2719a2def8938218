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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
struct RetryFields {
    /// What is tried again, and how waits grow.
    rule: Option<RetryRule>,
    /// The most attempts after the first.
    max_retries: Option<usize>,
    /// The first wait, in seconds.
    base_seconds: Option<f64>,
    /// The longest wait between two attempts, in seconds.
    max_seconds: Option<f64>,
    /// The single wait after the quota is used up, in seconds.
    quota_seconds: Option<f64>,
}

/// Either the name of a rule or the map.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for RetrySettings {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RetrySettings".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let rule = generator.subschema_for::<RetryRule>();
        let map = generator.subschema_for::<RetryFields>();
        schemars::json_schema!({"anyOf": [rule, map]})
    }
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
