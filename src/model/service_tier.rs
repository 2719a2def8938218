//! The tier of service that a run asks for. It changes when an answer comes and what it costs, and not what is asked: so it is sent with
//! each request and is not part of its prompt.

use serde::{Deserialize, Serialize};

/// A tier of service besides a provider's usual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServiceTier {
    /// Half the price, for answers that may take minutes or be refused for a while: [OpenAI's flex
    /// processing](https://developers.openai.com/api/docs/guides/flex-processing), [Gemini's flex
    /// inference](https://ai.google.dev/gemini-api/docs/flex-inference).
    Flex,
}

impl ServiceTier {
    /// Its name, as both providers spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            ServiceTier::Flex => "flex",
        }
    }

    /// How long one attempt may take in it, unless a config says otherwise, in seconds: OpenAI's advice is 15 minutes.
    pub fn timeout_seconds(self) -> f64 {
        match self {
            ServiceTier::Flex => 900.0,
        }
    }
}
