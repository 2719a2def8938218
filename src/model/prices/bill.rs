//! What the price of an answer depends on, besides its model and host.

use serde_json::{Map, Value};

use super::order::Order;
use crate::id::Time;
use crate::model::answer::{Response, Usage};

/// What the price of an answer depends on, besides its model and host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bill {
    /// Tokens of the request: all of them.
    pub prompt: u64,
    /// Those that the provider had in its cache.
    pub cached: u64,
    /// Those that were written to the provider's cache.
    pub written: u64,
    /// Those of the written ones that are kept for an hour.
    pub written_1h: u64,
    /// Tokens of the answer.
    pub completion: u64,
    /// The tier of service that answered, or else the one that was asked for.
    pub service: Option<String>,
    /// When it was answered; without it, the rates without a first day and hours hold.
    pub time: Option<Time>,
}

impl Bill {
    /// The bill of an answer.
    pub fn of_response(response: &Response, order: &Order, time: Time) -> Self {
        let usage = response.usage.unwrap_or_default();
        Bill::new(usage, response.service_tier.as_deref(), &response.extra, order, time)
    }

    /// The bill of an answer, from the parts of it that say something about its cost.
    pub(crate) fn new(
        usage: Usage,
        tier: Option<&str>,
        extra: &Map<String, Value>,
        order: &Order,
        time: Time,
    ) -> Self {
        let rest = extra.get("usage").unwrap_or(&Value::Null);
        // Anthropic says it in the usage; `fast` is one of two speeds there.
        let tier = tier.or(rest["service_tier"].as_str());
        let tier = rest["speed"].as_str().filter(|speed| *speed == "fast").or(tier);
        let [written, written_1h] = written(rest);
        Bill {
            prompt: usage.prompt_tokens.unwrap_or(0),
            cached: usage.cached_tokens.unwrap_or(0),
            written,
            written_1h,
            completion: usage.completion_tokens.unwrap_or(0),
            service: match order.is_batch {
                true => Some("batch".to_owned()),
                false => tier.or(order.service.as_deref()).map(str::to_owned),
            },
            time: Some(time),
        }
    }

    /// The bill of tokens that were only counted, or foreseen.
    pub fn of_tokens(prompt: u64, completion: u64, order: &Order, time: Time) -> Self {
        let (prompt_tokens, completion_tokens) = (Some(prompt), Some(completion));
        let usage = Usage { prompt_tokens, completion_tokens, ..Usage::default() };
        Bill::new(usage, None, &Map::new(), order, time)
    }
}

/// The tokens that were written to the provider's cache, and how many of them are kept for an hour: what
/// [`TokenCounts`](crate::model::providers) writes, Anthropic's names, and OpenAI's.
fn written(usage: &Value) -> [u64; 2] {
    let count = |value: &Value| value.as_u64();
    let all = count(&usage["cache_creation_input_tokens"])
        .or_else(|| count(&usage["prompt_tokens_details"]["cache_write_tokens"]));
    let for_an_hour = count(&usage["cache_creation"]["ephemeral_1h_input_tokens"]);
    [all.or(for_an_hour).unwrap_or(0), for_an_hour.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bill(tier: Option<&str>, rest: Value, order: &Order) -> Bill {
        let usage = Usage { prompt_tokens: Some(100), cached_tokens: Some(7), ..Usage::default() };
        let extra = json!({"usage": rest});
        Bill::new(usage, tier, extra.as_object().unwrap(), order, Time(5))
    }

    #[test]
    fn tokens_written_to_the_cache_are_read_under_each_name() {
        let written = |rest| {
            let Bill { prompt, cached, written, written_1h, .. } =
                bill(None, rest, &Order::default());
            assert_eq!((prompt, cached), (100, 7));
            (written, written_1h)
        };
        let anthropic = json!({"cache_creation_input_tokens": 30,
            "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}});
        assert_eq!(written(anthropic), (30, 20));
        assert_eq!(written(json!({"cache_creation_input_tokens": 30})), (30, 0));
        assert_eq!(written(json!({"prompt_tokens_details": {"cache_write_tokens": 4}})), (4, 0));
        assert_eq!(written(json!({"cache_creation_input_tokens": "many"})), (0, 0));
    }

    #[test]
    fn the_tier_is_the_one_that_answered() {
        let asked = Order { service: Some("flex".to_owned()), ..Order::default() };
        let service = |tier, rest, order: &Order| bill(tier, rest, order).service;
        assert_eq!(service(None, json!({}), &Order::default()), None);
        assert_eq!(service(None, json!({}), &asked).as_deref(), Some("flex"));
        let batch = Order { is_batch: true, ..asked.clone() };
        assert_eq!(service(Some("default"), json!({}), &batch).as_deref(), Some("batch"));
        assert_eq!(service(Some("default"), json!({}), &asked).as_deref(), Some("default"));
        let said = json!({"service_tier": "batch"});
        assert_eq!(service(None, said, &asked).as_deref(), Some("batch"));
        let fast = json!({"service_tier": "standard", "speed": "fast"});
        assert_eq!(service(None, fast, &Order::default()).as_deref(), Some("fast"));
    }
}
