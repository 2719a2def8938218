//! The group `request`, which all configs may have, in a config whose document has other keys for the same.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// The group `request` in a config that has keys of its own for what is in it: what it gives stands for these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RequestKeys {
    /// The model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// From 0 to 2; null leaves it to the provider.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    temperature: Option<Option<f64>>,
    /// The longest answer, in tokens; null leaves it to the provider.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    max_tokens: Option<Option<u32>>,
}

/// A value that may be null, which is another thing than none.
fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl RequestKeys {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        *self == RequestKeys::default()
    }

    /// Puts what is given in the place of a config's own keys, and leaves nothing behind.
    pub fn stand_for(
        &mut self,
        own_model: &mut String,
        own_temperature: &mut Option<f64>,
        own_max_tokens: &mut Option<u32>,
    ) {
        let RequestKeys { model, temperature, max_tokens } = std::mem::take(self);
        if let Some(model) = model {
            *own_model = model;
        }
        *own_temperature = temperature.unwrap_or(*own_temperature);
        *own_max_tokens = max_tokens.unwrap_or(*own_max_tokens);
    }
}
