//! The prices of tokens: by host, model, tier of service, day and length of the request.

mod bill;
mod order;
mod rate;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::service_tier::ServiceTier;

pub use bill::Bill;
pub use order::{Destinations, Order};
pub(crate) use rate::Dollars;
pub use rate::{Price, Rate};

/// A file of prices.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceFile {
    /// The day on which the prices were taken.
    #[serde(default)]
    pub taken: Option<String>,
    /// One price per model, whatever host is asked.
    #[serde(default)]
    pub models: BTreeMap<String, Price>,
    /// The prices of each provider.
    #[serde(default)]
    pub providers: BTreeMap<String, ProviderPrices>,
}

/// The prices of a provider.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderPrices {
    /// Its hosts; `*` stands for any text, here and below.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The names of models that mean its own where the host is that of no provider.
    #[serde(default)]
    pub names: Vec<String>,
    /// The providers whose models cost the same here.
    #[serde(default)]
    pub also: Vec<String>,
    /// One price per model. A key may be several names, separated by ` | `.
    #[serde(default)]
    pub models: BTreeMap<String, Price>,
}

/// What models cost. A model that is not listed has no price, which is not a price of 0.
///
/// A model has the price of its provider if the host is one of a provider's, and otherwise that of the provider that its name
/// means: by itself, or after the provider's own (`openai/gpt-5`). Of the names with `*` that fit, the longest counts.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    file: Arc<PriceFile>,
    /// The price of all answers in text, if there is one for all of them: `Some(None)` is an unknown one.
    of_all: Option<Option<Price>>,
    /// The tier in which everything is asked, whatever answers and requests say.
    tier: Option<ServiceTier>,
}

/// An invalid part of a price file: its key, and why it is invalid.
#[derive(Debug, Clone, PartialEq)]
pub struct WrongPrice {
    /// The key: `models.gpt-5`.
    pub key: String,
    /// Why it is invalid.
    pub message: String,
}

impl From<PriceFile> for Prices {
    fn from(file: PriceFile) -> Self {
        let split = |models: BTreeMap<String, Price>| {
            let names = |(key, price): (String, Price)| {
                let names = key.split(" | ").map(|name| name.trim().to_ascii_lowercase());
                names.map(|name| (name, price.clone())).collect::<Vec<_>>()
            };
            models.into_iter().flat_map(names).collect()
        };
        let PriceFile { taken, models, providers } = file;
        let providers = providers.into_iter().map(|(name, of)| {
            let models = split(of.models);
            (name, ProviderPrices { models, ..of })
        });
        let file = PriceFile { taken, models: split(models), providers: providers.collect() };
        Prices { file: Arc::new(file), of_all: None, tier: None }
    }
}

impl Prices {
    /// The day on which the prices were taken.
    pub fn taken(&self) -> Option<&str> {
        self.file.taken.as_deref()
    }

    /// How many names of models have a price.
    pub fn names(&self) -> usize {
        let providers = self.file.providers.values().map(|provider| provider.models.len());
        self.file.models.len() + providers.sum::<usize>()
    }

    /// These prices, but with this one for all answers in text. Embeddings keep their own: their answers cost nothing.
    #[must_use]
    pub fn with_one_for_all(&self, price: Option<Price>) -> Self {
        Prices { of_all: Some(price), ..self.clone() }
    }

    /// These prices, but with everything asked in a tier. A model that is not sold in it has no price; embeddings keep theirs.
    #[must_use]
    pub fn in_tier(&self, tier: ServiceTier) -> Self {
        Prices { tier: Some(tier), ..self.clone() }
    }

    /// The price of a model at a host.
    pub fn price(&self, model: &str, host: Option<&str>) -> Option<&Price> {
        let own = self.own_price(&model.to_ascii_lowercase(), host);
        match &self.of_all {
            Some(of_all) if !own.is_some_and(Price::is_of_requests) => of_all.as_ref(),
            _ => own,
        }
    }

    fn own_price(&self, model: &str, host: Option<&str>) -> Option<&Price> {
        let PriceFile { models, providers, .. } = &*self.file;
        if let Some(price) = named(models, model) {
            return Some(price);
        }
        let is_at =
            |host: &str, of: &ProviderPrices| of.hosts.iter().any(|known| fits(known, host));
        if let Some(at) = host.and_then(|host| providers.values().find(|of| is_at(host, of))) {
            let others = at.also.iter().filter_map(|name| providers.get(name));
            let mut all = std::iter::once(at).chain(others);
            return all.find_map(|of| named(&of.models, model));
        }
        let is_meant = |of: &ProviderPrices| of.names.iter().any(|known| fits(known, model));
        let mut meant = providers.values().filter(|of| is_meant(of));
        let after_provider = || {
            let (provider, model) = model.split_once('/')?;
            named(&providers.get(provider)?.models, model)
        };
        meant.find_map(|of| named(&of.models, model)).or_else(after_provider)
    }

    /// The rate of an answer.
    pub(crate) fn rate(&self, order: &Order, bill: &Bill) -> Option<&Rate> {
        let price = self.price(order.model.as_deref()?, order.host.as_deref())?;
        let Some(tier) = self.tier.filter(|_| !price.is_of_requests()) else {
            return price.rate(bill);
        };
        let service = Some(tier.as_str().to_owned());
        let rate = price.rate(&Bill { service, ..bill.clone() })?;
        (rate.service.as_deref() == Some(tier.as_str())).then_some(rate)
    }

    /// The cost of an answer in US dollars; `None` if there is no price for it.
    pub fn cost(&self, order: &Order, bill: &Bill) -> Option<f64> {
        self.rate(order, bill).map(|rate| rate.cost(bill).get())
    }

    /// The first invalid price or condition.
    pub fn wrong(&self) -> Option<WrongPrice> {
        let PriceFile { models, providers, .. } = &*self.file;
        let of_providers = providers.iter().flat_map(|(provider, of)| {
            let key = move |model: &String| format!("providers.{provider}.models.{model}");
            of.models.iter().map(move |(model, price)| (key(model), price))
        });
        let own = models.iter().map(|(model, price)| (format!("models.{model}"), price));
        let wrong = own.chain(of_providers).find_map(|(key, price)| {
            let message = wrong_in(price)?;
            Some(WrongPrice { key, message })
        });
        let unknown = providers.iter().find_map(|(provider, of)| {
            let name = of.also.iter().find(|name| !providers.contains_key(*name))?;
            let message = format!("{name} is not a provider of this file");
            Some(WrongPrice { key: format!("providers.{provider}.also"), message })
        });
        wrong.or(unknown)
    }
}

fn wrong_in(price: &Price) -> Option<String> {
    if price.0.is_empty() {
        return Some("a model has one rate or more".to_owned());
    }
    price.0.iter().find_map(|rate| {
        let amount = rate.prices().find(|price| !(0.0..=1e6).contains(price));
        let amount =
            amount.map(|price| format!("a price is from 0 to 1000000 dollars, not {price}"));
        let condition = rate.wrong_condition();
        amount.or(condition.map(|(text, like)| format!("{text:?} is not like {like}")))
    })
}

/// The price of a name: its own, or that of the longest pattern that fits.
fn named<'p>(models: &'p BTreeMap<String, Price>, model: &str) -> Option<&'p Price> {
    let patterns = || {
        let fitting = models.iter().filter(|(name, _)| name.contains('*') && fits(name, model));
        fitting.max_by_key(|(name, _)| name.replace('*', "").len()).map(|(_, price)| price)
    };
    models.get(model).or_else(patterns)
}

/// True if a text fits a pattern, in which `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}
