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
    /// For tokens of the request that were in the provider's cache; as for all others if it is not
    /// given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// For tokens of the answer.
    pub completion: f64,
}

/// Prices by the model's name in requests. A name that ends in `*` is for all names that begin like
/// it, unless a longer one fits. A model that is not listed has no price, which is not a price of 0.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// One price per model.
    pub models: BTreeMap<String, Price>,
}

impl Prices {
    /// The price of a model.
    pub fn price(&self, model: &str) -> Option<Price> {
        let patterns = self.models.iter().filter_map(|(name, price)| {
            let beginning = name.strip_suffix('*')?;
            model.starts_with(beginning).then_some((beginning.len(), *price))
        });
        let longest = || patterns.max_by_key(|(length, _)| *length).map(|(_, price)| price);
        self.models.get(model).copied().or_else(longest)
    }

    /// The first invalid price, with its model.
    pub fn wrong(&self) -> Option<(&str, f64)> {
        let of_each = self.models.iter().flat_map(|(model, price)| {
            let cached = price.cached.unwrap_or(price.prompt);
            [price.prompt, cached, price.completion].map(|price| (model.as_str(), price))
        });
        let mut all = of_each;
        all.find(|(_, price)| !(0.0..=1e6).contains(price))
    }
}

impl Price {
    /// The cost of an answer, in US dollars.
    pub fn cost(self, usage: Usage) -> f64 {
        let Usage { prompt_tokens, completion_tokens, cached_tokens, .. } = usage;
        let part = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let prompt = prompt_tokens.unwrap_or(0);
        let cached = cached_tokens.unwrap_or(0).min(prompt);
        part(prompt - cached, self.prompt)
            + part(cached, self.cached.unwrap_or(self.prompt))
            + part(completion_tokens.unwrap_or(0), self.completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pattern_that_fits_has_the_price() {
        let price = |prompt| Price { prompt, cached: None, completion: 0.0 };
        let models = [("gpt-4o", 1.0), ("gpt-4o-2*", 2.0), ("gpt-4*", 3.0), ("o*", 4.0)];
        let models = models.map(|(name, prompt)| (name.to_owned(), price(prompt))).into();
        let prices = Prices { models };
        let of = |model| prices.price(model).map(|price| price.prompt);
        assert_eq!(of("gpt-4o"), Some(1.0));
        assert_eq!(of("gpt-4o-2024-08-06"), Some(2.0));
        assert_eq!(of("gpt-4o-mini"), Some(3.0));
        assert_eq!(of("gpt-5"), None);
    }

    #[test]
    fn cached_tokens_have_a_price_of_their_own() {
        let usage = |cached_tokens| Usage {
            prompt_tokens: Some(1_000_000),
            completion_tokens: Some(100_000),
            cached_tokens,
            ..Usage::default()
        };
        let price = Price { prompt: 2.0, cached: Some(0.5), completion: 10.0 };
        assert_eq!(price.cost(usage(None)), 3.0);
        assert_eq!(price.cost(usage(Some(400_000))), 2.4);
        assert_eq!(Price { cached: None, ..price }.cost(usage(Some(400_000))), 3.0);
    }
}
