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
    /// Half the price, for answers that come within a day: all that can be asked at the same time is handed to the server in
    /// one piece, and collected later.
    Batch,
}

impl ServiceTier {
    /// Its name, as both providers spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            ServiceTier::Flex => "flex",
            ServiceTier::Batch => "batch",
        }
    }

    /// The name by which a request asks for it; `None` if it is another door of the server that leads to it.
    pub fn asked_for(self) -> Option<&'static str> {
        match self {
            ServiceTier::Flex => Some(self.as_str()),
            ServiceTier::Batch => None,
        }
    }

    /// How long one attempt may take in it, unless a config says otherwise, in seconds: OpenAI's advice for flex is 15 minutes,
    /// which is enough to send the largest batch.
    pub fn timeout_seconds(self) -> f64 {
        match self {
            ServiceTier::Flex | ServiceTier::Batch => 900.0,
        }
    }
}
