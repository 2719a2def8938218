//! The rates of one model, and which of them holds for an answer.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::bill::Bill;

/// US dollars per million tokens, under conditions. Rates without a condition hold always.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The tier of service: `batch`, `flex`, `priority`, `fast`. Where none of the rates is of the answer's tier, those without
    /// a tier hold.
    #[serde(default)]
    pub service: Option<String>,
    /// The first day, in UTC: `2026-10-19`.
    #[serde(default)]
    pub since: Option<String>,
    /// The hours of each day, in UTC: `01:00-04:00`. The end does not belong to them.
    #[serde(default)]
    pub hours: Option<String>,
    /// How many tokens a request must exceed. The rate then holds for all its tokens.
    #[serde(default)]
    pub above: u64,
    /// For tokens of the request.
    pub prompt: f64,
    /// For tokens of the request that were in the provider's cache; like all others if it is not given.
    #[serde(default)]
    pub cached: Option<f64>,
    /// For tokens of the request that were written to the provider's cache; like all others if it is not given.
    #[serde(default)]
    pub written: Option<f64>,
    /// For tokens that were written to be kept for an hour; like those that are kept for minutes if it is not given.
    #[serde(default)]
    pub written_1h: Option<f64>,
    /// For tokens of the answer.
    pub completion: f64,
}

impl Rate {
    /// Its prices.
    pub(super) fn prices(&self) -> impl Iterator<Item = f64> {
        let more = [self.cached, self.written, self.written_1h];
        [self.prompt, self.completion].into_iter().chain(more.into_iter().flatten())
    }

    /// The first condition that is not one, and how it is written.
    pub(super) fn wrong_condition(&self) -> Option<(&str, &'static str)> {
        let is_like = |text: &str, like: &str| {
            let mut pairs = text.bytes().zip(like.bytes());
            let fits =
                |(c, like): (u8, u8)| if like == b'0' { c.is_ascii_digit() } else { c == like };
            text.len() == like.len() && pairs.all(fits)
        };
        let since = self.since.as_deref().filter(|day| !is_like(day, "0000-00-00"));
        let hours = self.hours.as_deref().filter(|hours| !is_like(hours, "00:00-00:00"));
        let since = since.map(|text| (text, "since: 2026-10-19"));
        since.or_else(|| hours.map(|text| (text, "hours: \"01:00-04:00\"")))
    }

    fn depends_on_time(&self) -> bool {
        self.since.is_some() || self.hours.is_some()
    }

    fn holds(&self, bill: &Bill, moment: &str) -> bool {
        let (day, time) = (moment.get(..10).unwrap_or(""), moment.get(11..16).unwrap_or(""));
        let is_within = |hours: &str| match hours.split_once('-') {
            Some((begin, end)) if begin <= end => (begin..end).contains(&time),
            Some((begin, end)) => time >= begin || time < end,
            None => false,
        };
        self.service.as_deref().is_none_or(|service| bill.service.as_deref() == Some(service))
            && self.since.as_deref().is_none_or(|since| since <= day)
            && self.hours.as_deref().is_none_or(is_within)
            && (self.above == 0 || bill.prompt > self.above)
    }

    /// Its place among those that hold: the highest one counts.
    fn rank(&self) -> (bool, Option<&str>, bool, u64) {
        (self.service.is_some(), self.since.as_deref(), self.hours.is_some(), self.above)
    }

    /// The cost of an answer.
    pub(crate) fn cost(&self, bill: &Bill) -> Dollars {
        let Bill { prompt, cached, written, written_1h, completion, .. } = *bill;
        let cached = cached.min(prompt);
        let written = written.min(prompt - cached);
        let for_an_hour = written_1h.min(written);
        let price_written = self.written.unwrap_or(self.prompt);
        Dollars::of(prompt - cached - written, self.prompt)
            + Dollars::of(cached, self.cached.unwrap_or(self.prompt))
            + Dollars::of(written - for_an_hour, price_written)
            + Dollars::of(for_an_hour, self.written_1h.unwrap_or(price_written))
            + Dollars::of(completion, self.completion)
    }

    /// How much more the answer would have cost without the provider's cache.
    pub(crate) fn saved_by_cache(&self, bill: &Bill) -> Dollars {
        let cached = bill.cached.min(bill.prompt);
        let less = self.prompt - self.cached.unwrap_or(self.prompt);
        Dollars::of(cached, less.max(0.0))
    }
}

/// The rates of one model: one, or several with conditions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Price(pub Vec<Rate>);

impl Price {
    /// The rate that holds for an answer; `None` if there is none, as before the first day of all of them.
    pub(super) fn rate(&self, bill: &Bill) -> Option<&Rate> {
        let moment = bill.time.filter(|_| self.0.iter().any(Rate::depends_on_time));
        let moment = moment.map_or_else(String::new, |time| time.to_string());
        let holding = self.0.iter().filter(|rate| rate.holds(bill, &moment));
        holding.max_by(|one, other| one.rank().cmp(&other.rank()))
    }

    /// True if the model's answers have no tokens that cost anything, like those of embeddings.
    pub(super) fn is_of_requests(&self) -> bool {
        self.0.iter().all(|rate| rate.completion <= 0.0)
    }
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Price;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a rate, {prompt: 1, completion: 2}, or a list of rates")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Price, A::Error> {
                Ok(Price(vec![Rate::deserialize(MapAccessDeserializer::new(map))?]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Price, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Price)
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

/// A sum of US dollars, in millionths of a millionth: prices per million tokens have at most six decimals, so that sums are exact in
/// any order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Dollars(u128);

impl Dollars {
    fn of(tokens: u64, per_million: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "prices were checked to be from 0 to a million"
        )]
        let price = (per_million * 1e6).round() as u128;
        Dollars(u128::from(tokens) * price)
    }

    /// As a number.
    pub(crate) fn get(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl std::ops::Add for Dollars {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Dollars(self.0.saturating_add(other.0))
    }
}

impl std::ops::AddAssign for Dollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
