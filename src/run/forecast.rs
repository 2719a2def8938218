//! The expected tokens and cost of the new calls of a rehearsal.

use std::collections::BTreeMap;

use serde::Serialize;

use super::clock;
use super::dry_run::{DryRun, Instead, KindUse, NewCall, WhyNew};
use crate::model::{Bill, Destinations, Prices};

/// The expected tokens and cost of the new calls of a rehearsal. Tokens are estimated: those of the
/// answer recorded in a call's place, the request's in proportion to its length; if nothing was
/// recorded or counted there, the mean of the other calls of its kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Forecast {
    /// Calls that a real run would certainly ask, by reason: nothing in their prompts follows from a
    /// new answer.
    pub known: BTreeMap<WhyNew, u64>,
    /// Calls whose prompts are made from new answers. Their number is that of the calls that the
    /// recorded run asked in their place, so the real run may ask more or fewer.
    pub foretold: u64,
    /// Tokens of all these requests, if any could be estimated.
    pub prompt_tokens: u64,
    /// Tokens of their answers.
    pub completion_tokens: u64,
    /// Calls whose tokens cannot be estimated, because no answer of their kind was counted.
    pub uncounted: u64,
    /// The same by model.
    pub models: BTreeMap<String, ModelForecast>,
    /// US dollars at list prices; `None` if a model has no price, or tokens could not be estimated.
    pub cost: Option<f64>,
    /// The day on which the prices were taken, if their file says it.
    pub prices_taken: Option<String>,
}

/// What one model would be asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ModelForecast {
    /// Calls.
    pub calls: u64,
    /// Tokens of the requests.
    pub prompt_tokens: u64,
    /// Tokens of the answers.
    pub completion_tokens: u64,
    /// Calls whose tokens cannot be estimated.
    pub uncounted: u64,
    /// US dollars at list prices; `None` if the model has no price, or tokens could not be
    /// estimated.
    pub cost: Option<f64>,
}

/// The model of a request that names none.
const UNNAMED: &str = "(no model)";

impl DryRun {
    /// The expected tokens and cost of the new calls, at the hosts where the run would ask.
    pub fn forecast(&self, prices: &Prices, destinations: &Destinations) -> Forecast {
        let prices_taken = prices.taken().map(str::to_owned);
        let mut all = Forecast { cost: Some(0.0), prices_taken, ..Forecast::default() };
        for call in &self.new {
            match call.follows_new {
                true => all.foretold += 1,
                false => *all.known.entry(call.why).or_default() += 1,
            }
            let order = destinations.ordered(&call.order);
            let model = order.model.as_deref().unwrap_or(UNNAMED);
            let of = all.models.entry(model.to_owned());
            let of = of.or_insert_with(|| ModelForecast { cost: Some(0.0), ..Default::default() });
            of.calls += 1;
            match self.tokens(call) {
                Some((prompt, completion)) => {
                    of.prompt_tokens += prompt;
                    of.completion_tokens += completion;
                    let bill = Bill::of_tokens(prompt, completion, &order, clock::now());
                    of.cost = of.cost.zip(prices.cost(&order, &bill)).map(|(sum, of)| sum + of);
                }
                None => {
                    of.uncounted += 1;
                    all.uncounted += 1;
                }
            }
        }
        for of in all.models.values_mut() {
            of.cost = of.cost.filter(|_| of.uncounted == 0);
            all.cost = all.cost.zip(of.cost).map(|(sum, of)| sum + of);
            all.prompt_tokens += of.prompt_tokens;
            all.completion_tokens += of.completion_tokens;
        }
        all
    }

    /// The tokens of a new call: of its request and of its answer.
    fn tokens(&self, call: &NewCall) -> Option<(u64, u64)> {
        if call.failed {
            return Some((0, 0));
        }
        let part = |tokens: u64, of: u64| {
            let share = call.bytes as f64 / of.max(1) as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "estimated"
            )]
            let tokens = (tokens as f64 * share).round() as u64;
            tokens
        };
        if let Some(Instead { bytes, usage: Some(usage), .. }) = call.instead
            && let Some(prompt) = usage.prompt_tokens
        {
            return Some((part(prompt, bytes), usage.completion_tokens.unwrap_or(0)));
        }
        let KindUse { answers, bytes, prompt_tokens, completion_tokens } =
            *self.used.get(&call.call.kind())?;
        Some((part(prompt_tokens, bytes), completion_tokens / answers.max(1)))
    }
}
