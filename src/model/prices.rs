//! What tokens cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::answer::Usage;

/// The price of one model's tokens, in US dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of the request.
    pub prompt: f64,
    /// Of the answer.
    pub completion: f64,
}

/// Prices by the model's name as requests give it. A model that is not listed has none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// One a model.
    pub models: BTreeMap<String, Price>,
}

impl Prices {
    /// The price of a model.
    pub fn of(&self, model: &str) -> Option<Price> {
        self.models.get(model).copied()
    }

    /// The first price that is none.
    pub fn wrong(&self) -> Option<(&str, f64)> {
        let of_each = self.models.iter().flat_map(|(model, price)| {
            [price.prompt, price.completion].map(|price| (model.as_str(), price))
        });
        let mut all = of_each;
        all.find(|(_, price)| !(0.0..=1e6).contains(price))
    }
}

impl Price {
    /// What an answer has cost, in US dollars.
    pub fn cost(self, usage: Usage) -> f64 {
        let Usage { prompt_tokens, completion_tokens, .. } = usage;
        let part = |tokens: Option<u64>, price: f64| tokens.unwrap_or(0) as f64 * price / 1e6;
        part(prompt_tokens, self.prompt) + part(completion_tokens, self.completion)
    }
}
