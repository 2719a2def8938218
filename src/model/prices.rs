//! The price of tokens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::answer::Usage;

/// The price of one model's tokens, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// For tokens of the request.
    pub prompt: f64,
    /// For tokens of the answer.
    pub completion: f64,
}

/// Prices by the model's name in requests. A model that is not listed has no price.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// One price per model.
    pub models: BTreeMap<String, Price>,
}

impl Prices {
    /// The price of a model.
    pub fn of(&self, model: &str) -> Option<Price> {
        self.models.get(model).copied()
    }

    /// The first invalid price, with its model.
    pub fn wrong(&self) -> Option<(&str, f64)> {
        let of_each = self.models.iter().flat_map(|(model, price)| {
            [price.prompt, price.completion].map(|price| (model.as_str(), price))
        });
        let mut all = of_each;
        all.find(|(_, price)| !(0.0..=1e6).contains(price))
    }
}

impl Price {
    /// The cost of an answer, in US dollars.
    pub fn cost(self, usage: Usage) -> f64 {
        let Usage { prompt_tokens, completion_tokens, .. } = usage;
        let part = |tokens: Option<u64>, price: f64| tokens.unwrap_or(0) as f64 * price / 1e6;
        part(prompt_tokens, self.prompt) + part(completion_tokens, self.completion)
    }
}
