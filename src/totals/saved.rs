//! The cost and the savings of a run, at the prices of its models.

use std::collections::BTreeMap;

use serde::Serialize;

use super::part::{Part, TokenUse};
use crate::model::{Price, Prices, Usage};

/// Answers that were not requested, or cost less.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Savings {
    /// Answers of the run that other calls with the same prompt used again.
    pub within_run: SavedPart,
    /// Answers of the run that it is a fork of.
    pub from_parent: SavedPart,
    /// Answers of any other run.
    pub from_other_runs: SavedPart,
    /// Answers that were already there when the run was continued, once for each time.
    pub resumed: SavedPart,
    /// Answers with tokens in the provider's cache, and what these tokens would have cost more.
    pub provider_cached: SavedPart,
}

/// Answers that were not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Default)]
pub struct SavedPart {
    /// How many.
    pub answers: u64,
    /// The tokens of their requests, as far as they were counted; `None` if they were counted in none
    /// of them.
    pub prompt_tokens: Option<u64>,
    /// Their own tokens, as far as they were counted; `None` if they were counted in none of them.
    pub completion_tokens: Option<u64>,
    /// Those of them whose tokens were not counted.
    pub uncounted: u64,
    /// US dollars at list prices; `None` if a model has no price, or tokens were not counted.
    pub dollars: Option<f64>,
}

/// What depends on prices.
#[derive(Debug, Clone)]
pub(super) struct PricedTotals {
    pub(super) dollars: Option<f64>,
    pub(super) without_price: BTreeMap<String, u64>,
    pub(super) uncounted: u64,
    pub(super) saved: Savings,
    pub(super) replay: SavedPart,
    pub(super) anew: SavedPart,
}

impl Default for PricedTotals {
    fn default() -> Self {
        let none = SavedPart::new(TokenUse::default(), None);
        let saved = Savings {
            within_run: none,
            from_parent: none,
            from_other_runs: none,
            resumed: none,
            provider_cached: none,
        };
        let without_price = BTreeMap::new();
        PricedTotals { dollars: None, without_price, uncounted: 0, saved, replay: none, anew: none }
    }
}

impl PricedTotals {
    /// The numbers of a model at its price.
    pub(super) fn new(model: &str, part: &Part, prices: &Prices) -> Self {
        let price = prices.price(model);
        let used = part.received;
        let mut without_price = BTreeMap::new();
        if price.is_none() && used.answers > 0 {
            without_price.insert(model.to_owned(), used.answers);
        }
        let cached = used.cached.total().unwrap_or(0);
        let provider_cached = SavedPart {
            answers: part.cached_answers,
            prompt_tokens: Some(cached),
            completion_tokens: Some(0),
            uncounted: 0,
            dollars: match price {
                _ if cached == 0 => Some(0.0),
                Some(price) => {
                    let less = price.prompt - price.cached.unwrap_or(price.prompt);
                    Some(cached as f64 * less / 1e6)
                }
                None => None,
            },
        };
        let mut anew = used;
        for shared in [part.from_parent, part.from_others] {
            anew.merge(shared);
        }
        let mut answered = anew;
        answered.merge(part.within);
        PricedTotals {
            dollars: price.filter(|_| used.counted > 0).map(|price| dollars(used, price)),
            without_price,
            uncounted: if price.is_some() { used.answers - used.counted } else { 0 },
            saved: Savings {
                within_run: SavedPart::new(part.within, price),
                from_parent: SavedPart::new(part.from_parent, price),
                from_other_runs: SavedPart::new(part.from_others, price),
                resumed: SavedPart::new(part.resumed, price),
                provider_cached,
            },
            replay: SavedPart::new(answered, price),
            anew: SavedPart::new(anew, price),
        }
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.dollars = match (self.dollars, other.dollars) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        self.without_price.extend(other.without_price);
        self.uncounted += other.uncounted;
        let (one, other_saved) = (self.saved, other.saved);
        self.saved = Savings {
            within_run: one.within_run.and(other_saved.within_run),
            from_parent: one.from_parent.and(other_saved.from_parent),
            from_other_runs: one.from_other_runs.and(other_saved.from_other_runs),
            resumed: one.resumed.and(other_saved.resumed),
            provider_cached: one.provider_cached.and(other_saved.provider_cached),
        };
        self.replay = self.replay.and(other.replay);
        self.anew = self.anew.and(other.anew);
        self
    }
}

impl SavedPart {
    fn and(self, other: Self) -> Self {
        match (self.answers, other.answers) {
            // Without answers, everything is known.
            (0, _) => return other,
            (_, 0) => return self,
            _ => {}
        }
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        SavedPart {
            answers: self.answers + other.answers,
            prompt_tokens: sum(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: sum(self.completion_tokens, other.completion_tokens),
            uncounted: self.uncounted + other.uncounted,
            dollars: self.dollars.zip(other.dollars).map(|(one, other)| one + other),
        }
    }

    /// Answers at a price; without answers, nothing was saved at any price.
    fn new(used: TokenUse, price: Option<Price>) -> Self {
        let is_counted = used.counted == used.answers;
        let dollars = price.filter(|_| is_counted).map(|price| dollars(used, price));
        let nothing = |known: Option<u64>| if used.answers == 0 { Some(0) } else { known };
        SavedPart {
            answers: used.answers,
            prompt_tokens: nothing(used.prompt.total()),
            completion_tokens: nothing(used.completion.total()),
            uncounted: used.answers - used.counted,
            dollars: if used.answers == 0 { Some(0.0) } else { dollars },
        }
    }
}

fn dollars(used: TokenUse, price: Price) -> f64 {
    price.cost(Usage {
        prompt_tokens: used.prompt.total(),
        completion_tokens: used.completion.total(),
        cached_tokens: used.cached.total(),
        ..Usage::default()
    })
}
