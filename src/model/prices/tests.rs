//! The rules of prices, with figures worked out by hand.

use super::*;
use crate::id::Time;

const MILLION: u64 = 1_000_000;

/// A price from the text of a file, as JSON.
fn price(text: &str) -> Price {
    serde_json::from_str(text).unwrap()
}

fn prices(text: &str) -> Prices {
    let prices = Prices::from(serde_json::from_str::<PriceFile>(text).unwrap());
    assert_eq!(prices.wrong(), None);
    prices
}

/// The cost of a bill.
fn cost(price: &Price, bill: &Bill) -> Option<f64> {
    price.rate(bill).map(|rate| rate.cost(bill).get())
}

fn tokens(prompt: u64, completion: u64) -> Bill {
    Bill { prompt, completion, ..Bill::default() }
}

#[test]
fn tokens_read_from_the_cache_and_written_to_it_have_prices_of_their_own() {
    // Claude Sonnet 4.5: 12 new tokens, 17,102 written ones and 150 of the answer. As plain tokens:
    // 17,114 × $3 + 150 × $15 = $0.053592. The written ones cost $3.75: 12 × 3 + 17,102 × 3.75 + 150 × 15 = 66,418.5.
    let sonnet = price(
        r#"{"prompt": 3, "cached": 0.3, "written": 3.75, "written_1h": 6, "completion": 15}"#,
    );
    let bill = Bill { prompt: 17_114, written: 17_102, completion: 150, ..Bill::default() };
    assert_eq!(cost(&sonnet, &bill), Some(0.066_418_5));
    let plain = Bill { written: 0, ..bill.clone() };
    assert_eq!(cost(&sonnet, &plain), Some(0.053_592));
    // Kept for an hour: 12 × 3 + 17,102 × 6 + 150 × 15 = 104,898.
    let for_an_hour = Bill { written_1h: 17_102, ..bill };
    assert_eq!(cost(&sonnet, &for_an_hour), Some(0.104_898));
    // The next request reads them: 12 × 3 + 17,102 × 0.3 + 150 × 15 = 7,416.6; without the cache 53,592.
    let read = Bill { cached: 17_102, written: 0, written_1h: 0, ..for_an_hour };
    assert_eq!(cost(&sonnet, &read), Some(0.007_416_6));
    assert_eq!(sonnet.0[0].saved_by_cache(&read).get(), 0.046_175_4);
}

#[test]
fn what_a_price_does_not_name_costs_what_other_tokens_cost() {
    let plain = price(r#"{"prompt": 2, "completion": 10}"#);
    let bill = Bill {
        prompt: MILLION,
        cached: 400_000,
        written: 100_000,
        completion: 100_000,
        ..Bill::default()
    };
    assert_eq!(cost(&plain, &bill), Some(3.0));
    let cached = price(r#"{"prompt": 2, "cached": 0.5, "completion": 10}"#);
    // 600,000 at 2, 400,000 at 0.5, 100,000 at 10.
    assert_eq!(cost(&cached, &bill), Some(1.2 + 0.2 + 1.0));
    // Never more than there are.
    let odd = Bill { cached: 5 * MILLION, written: MILLION, ..bill };
    assert_eq!(cost(&cached, &odd), Some(0.5 + 1.0));
}

#[test]
fn a_long_request_costs_more_in_all_its_tokens() {
    let tiers = price(
        r#"[{"prompt": 1.25, "completion": 10}, {"above": 200000, "prompt": 2.5, "completion": 15}]"#,
    );
    let bill = |prompt| tokens(prompt, 1000);
    // 200,000 × 1.25 + 1,000 × 10 = 260,000; one token more: 200,001 × 2.5 + 1,000 × 15 = 515,002.5.
    assert_eq!(cost(&tiers, &bill(200_000)), Some(0.26));
    assert_eq!(cost(&tiers, &bill(200_001)), Some(0.515_002_5));
}

#[test]
fn batches_and_tiers_of_service_have_rates_and_unknown_tiers_the_usual_one() {
    let tiers = price(
        r#"[{"prompt": 2, "completion": 8}, {"above": 100, "prompt": 4, "completion": 8},
            {"service": "batch", "prompt": 1, "completion": 4},
            {"service": "batch", "above": 100, "prompt": 2, "completion": 4},
            {"service": "flex", "prompt": 1.5, "completion": 8}]"#,
    );
    let at = |service: Option<&str>, prompt| {
        let service = service.map(str::to_owned);
        cost(&tiers, &Bill { service, ..tokens(prompt, 0) })
    };
    assert_eq!([at(None, 100), at(None, 200)], [Some(0.000_2), Some(0.000_8)]);
    assert_eq!([at(Some("batch"), 100), at(Some("batch"), 200)], [Some(0.000_1), Some(0.000_4)]);
    assert_eq!([at(Some("flex"), 100), at(Some("flex"), 200)], [Some(0.000_15), Some(0.000_3)]);
    assert_eq!([at(Some("default"), 100), at(Some("scale"), 200)], [Some(0.000_2), Some(0.000_8)]);
}

#[test]
fn a_price_is_that_of_the_day_and_the_hour_of_the_answer() {
    let changing = price(
        r#"[{"prompt": 1, "completion": 0}, {"since": "2026-10-19", "prompt": 2, "completion": 0},
            {"since": "2026-10-19", "hours": "22:00-01:30", "prompt": 3, "completion": 0}]"#,
    );
    let at = |moment: &str| {
        let time = moment.parse::<jiff::Timestamp>().unwrap().as_millisecond();
        cost(&changing, &Bill { time: Some(Time(time)), ..tokens(MILLION, 0) })
    };
    assert_eq!(at("2025-01-01T23:00:00Z"), Some(1.0));
    assert_eq!(at("2026-10-18T23:59:59.999Z"), Some(1.0));
    assert_eq!(at("2026-10-19T12:00:00Z"), Some(2.0));
    assert_eq!(at("2026-10-19T21:59:00Z"), Some(2.0));
    assert_eq!(at("2026-10-19T22:00:00Z"), Some(3.0));
    assert_eq!(at("2026-10-20T01:29:00Z"), Some(3.0));
    assert_eq!(at("2026-10-20T01:30:00Z"), Some(2.0));
    assert_eq!(cost(&changing, &tokens(MILLION, 0)), Some(1.0));
    // Before its first day, a model has no price.
    let new = price(r#"[{"since": "2026-10-19", "prompt": 2, "completion": 0}]"#);
    let before = Bill { time: Some(Time(0)), ..tokens(1, 1) };
    assert_eq!(cost(&new, &before), None);
}

#[test]
fn sums_are_exact_in_any_order() {
    let small = price(r#"{"prompt": 0.1, "completion": 0.7}"#);
    let one = small.0[0].cost(&tokens(1, 1));
    let mut sum = Dollars::default();
    (0..MILLION).for_each(|_| sum += one);
    assert_eq!(sum.get(), 0.8);
}

#[test]
fn the_longest_name_that_fits_has_the_price() {
    let prices = prices(
        r#"{"models": {"gpt-4o": {"prompt": 1, "completion": 0}, "gpt-4o-2*": {"prompt": 2, "completion": 0},
            "GPT-4* | o*": {"prompt": 3, "completion": 0}, "*nova-lite*": {"prompt": 4, "completion": 0},
            "*eu.nova-lite*": {"prompt": 5, "completion": 0}, "a*b*c": {"prompt": 6, "completion": 0}}}"#,
    );
    let of = |model: &str| Some(prices.price(model, None)?.0[0].prompt);
    assert_eq!(of("gpt-4o"), Some(1.0));
    assert_eq!(of("gpt-4o-2024-08-06"), Some(2.0));
    assert_eq!(of("gpt-4o-mini"), Some(3.0));
    assert_eq!([of("o3"), of("O3")], [Some(3.0), Some(3.0)]);
    assert_eq!(of("amazon.nova-lite-v1:0"), Some(4.0));
    assert_eq!(of("eu.nova-lite-v1:0"), Some(5.0));
    assert_eq!([of("abc"), of("a-b-b-c"), of("acb"), of("ac")], [Some(6.0), Some(6.0), None, None]);
    assert_eq!(of("gpt-5"), None);
    assert_eq!(prices.names(), 7);
}

#[test]
fn one_name_has_the_price_of_the_provider_that_is_asked() {
    let prices = prices(
        r#"{"taken": "2026-11-30", "models": {"mine": {"prompt": 9, "completion": 0}},
            "providers": {
              "openai": {"hosts": ["api.openai.com"], "names": ["gpt-*"], "models": {"gpt-5*": {"prompt": 1, "completion": 0}}},
              "azure": {"hosts": ["*.openai.azure.com"], "also": ["openai"], "models": {"gpt-5": {"prompt": 2, "completion": 0}}},
              "groq": {"hosts": ["api.groq.com"], "models": {"llama": {"prompt": 3, "completion": 0}}},
              "ollama": {"hosts": ["ollama"], "models": {}}}}"#,
    );
    let of = |model: &str, host: Option<&str>| Some(prices.price(model, host)?.0[0].prompt);
    assert_eq!(of("gpt-5", Some("api.openai.com")), Some(1.0));
    assert_eq!(of("gpt-5", Some("me.openai.azure.com")), Some(2.0));
    assert_eq!(of("gpt-5-mini", Some("me.openai.azure.com")), Some(1.0), "as at OpenAI");
    assert_eq!(of("gpt-5", Some("api.groq.com")), None, "Groq has no such model");
    assert_eq!(of("gpt-5", Some("127.0.0.1")), Some(1.0), "a gateway is no provider");
    assert_eq!(of("gpt-5", None), Some(1.0));
    assert_eq!(of("gpt-5", Some("ollama")), None);
    assert_eq!([of("llama", None), of("groq/llama", None)], [None, Some(3.0)]);
    assert_eq!(of("openai/gpt-5", Some("127.0.0.1")), Some(1.0));
    assert_eq!(of("mine", Some("api.groq.com")), Some(9.0), "one's own price is for any host");
    assert_eq!(prices.taken(), Some("2026-11-30"));
    let embedding = prices.with_one_for_all(Some(price(r#"{"prompt": 7, "completion": 7}"#)));
    assert_eq!(
        embedding.price("gpt-5", None).unwrap().0[0].prompt,
        1.0,
        "its answers cost nothing"
    );
    assert_eq!(embedding.price("any", None).unwrap().0[0].prompt, 7.0);
    assert_eq!(prices.with_one_for_all(None).price("any", None), None);
}

#[test]
fn invalid_prices_are_named_with_their_key() {
    let wrong = |text: &str| {
        let wrong = Prices::from(serde_json::from_str::<PriceFile>(text).unwrap()).wrong().unwrap();
        format!("{}: {}", wrong.key, wrong.message)
    };
    assert_eq!(
        wrong(r#"{"models": {"m": {"prompt": 1, "cached": -1, "completion": 1}}}"#),
        "models.m: a price is from 0 to 1000000 dollars, not -1"
    );
    assert_eq!(
        wrong(
            r#"{"providers": {"p": {"models": {"m": [{"since": "June", "prompt": 1, "completion": 1}]}}}}"#
        ),
        "providers.p.models.m: \"June\" is not like since: 2026-10-19"
    );
    assert_eq!(
        wrong(r#"{"models": {"m": {"hours": "1-4", "prompt": 1, "completion": 1}}}"#),
        "models.m: \"1-4\" is not like hours: \"01:00-04:00\""
    );
    assert_eq!(wrong(r#"{"models": {"m": []}}"#), "models.m: a model has one rate or more");
    assert_eq!(
        wrong(r#"{"providers": {"p": {"also": ["q"]}}}"#),
        "providers.p.also: q is not a provider of this file"
    );
}
