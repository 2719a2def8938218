//! What new calls would use and cost.

use std::fmt::Write;

use crate::output::{count_of, group_digits};
use retold::escaping::printable;
use retold::run::{Forecast, ModelForecast, NewCall, WhyNew};
use retold::totals::at_prices;
use serde_json::{Value, json};

/// The new calls, as JSON.
pub(crate) fn new_calls_json(calls: &[NewCall]) -> Vec<Value> {
    let call = |call: &NewCall| {
        let NewCall { call, sample, why, follows_new, order, .. } = call;
        json!({"call": call, "sample": sample, "why": why, "foretold": follows_new, "model": order.model})
    };
    calls.iter().map(call).collect()
}

/// Where the tokens of a forecast come from, if no model was asked.
pub(crate) const ESTIMATED: &str = "tokens, estimated from the recorded answers";

/// How many calls are new, and why; their tokens, and where these come from, and cost by model.
pub(crate) fn forecast_text(forecast: &Forecast, tokens: &str) -> String {
    let Forecast {
        known,
        foretold,
        prompt_tokens,
        completion_tokens,
        uncounted,
        models,
        cost,
        prices_taken,
    } = forecast;
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    for (why, calls) in known {
        let _ = writeln!(text, "  {:>9} {}", group_digits(*calls), says(*why));
    }
    if *foretold > 0 {
        let _ = writeln!(
            text,
            "  {:>9} foretold, not known: they follow from answers that would be new, and are counted from the recorded ones",
            group_digits(*foretold)
        );
    }
    if models.is_empty() {
        return text;
    }
    let _ = writeln!(text, "{tokens}, and US dollars {}", at_prices(prices_taken.as_deref()));
    let width = models.keys().map(|model| model.chars().count()).max().unwrap_or(0).clamp(5, 40);
    for (model, of) in models {
        let ModelForecast { calls, prompt_tokens, completion_tokens, uncounted, cost } = of;
        let _ = writeln!(
            text,
            "  {:<width$} {:>9} {:>11} in {:>11} out  {}",
            printable(model, 40),
            count_of(*calls, "call"),
            group_digits(*prompt_tokens),
            group_digits(*completion_tokens),
            dollars(*cost, *uncounted == 0)
        );
    }
    if models.len() > 1 {
        let _ = writeln!(
            text,
            "  {:<width$} {:>9} {:>11} in {:>11} out  {}",
            "all",
            "",
            group_digits(*prompt_tokens),
            group_digits(*completion_tokens),
            dollars(*cost, false)
        );
    }
    if *uncounted > 0 {
        let calls = count_of(*uncounted, "call");
        let _ = writeln!(
            text,
            "  tokens of {calls} are unknown: of no recorded answer of their kind were they counted"
        );
    }
    text
}

fn says(why: WhyNew) -> &'static str {
    match why {
        WhyNew::Changed => "recorded with another prompt",
        WhyNew::Unrecorded => "never recorded",
        WhyNew::NotShared => "recorded after the place of the fork, or failed and asked again",
        WhyNew::Foretold => "made from new answers",
    }
}

fn dollars(cost: Option<f64>, is_counted: bool) -> String {
    match cost {
        Some(cost) if cost > 0.0 && cost < 0.01 => "less than $0.01".to_owned(),
        Some(cost) => format!("${cost:.2}"),
        None if is_counted => "cost unknown: no price for it (--prices FILE)".to_owned(),
        None => "cost unknown".to_owned(),
    }
}
