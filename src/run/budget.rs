//! Limits on what a run may use: tokens and dollars.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::details::usage;
use crate::event::Event;
use crate::id::{PromptHash, RunId, Seq};
use crate::log::{LogError, Reader, RunEvents};
use crate::model::{Limits, Prices, Usage};
use crate::prompt::Request;

/// What a run has used, and how much it may use. Calls in flight at the limit are still recorded,
/// so the limits can be exceeded by that much.
#[derive(Debug)]
pub(super) struct Budget {
    max_tokens: Option<u64>,
    max_cost: Option<f64>,
    prices: Prices,
    tokens: Cell<u64>,
    cost: Cell<f64>,
    uncounted: Cell<bool>,
}

/// Why nothing more may be asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OverBudget {
    /// The tokens are used up.
    #[error("the run has used {used} tokens, and max_tokens is {max}")]
    Tokens {
        /// How many, including recorded ones.
        used: u64,
        /// How many it may use.
        max: u64,
    },
    /// The money is used up.
    #[error("the run has cost {used:.4} dollars, and max_cost is {max}")]
    Cost {
        /// How much, including recorded answers.
        used: f64,
        /// How much it may cost.
        max: f64,
    },
    /// An answer came without token counts.
    #[error(
        "the server does not report how many tokens an answer took, so a limit on tokens or cost cannot be enforced"
    )]
    Uncounted,
    /// A model without a price.
    #[error("there is no price for the model {model:?}, so max_cost cannot be enforced")]
    NoPrice {
        /// Its name in the request; empty if it has none.
        model: String,
    },
}

impl Budget {
    pub(super) fn new(limits: &Limits, prices: Prices) -> Self {
        let Limits { max_tokens, max_cost, .. } = *limits;
        let (tokens, cost, uncounted) = Default::default();
        Budget { max_tokens, max_cost, prices, tokens, cost, uncounted }
    }

    fn is_unlimited(&self) -> bool {
        self.max_tokens.is_none() && self.max_cost.is_none()
    }

    /// Whether a request may be sent.
    pub(super) fn check(&self, request: &Request) -> Result<(), OverBudget> {
        if self.is_unlimited() {
            return Ok(());
        }
        let model = request.model().unwrap_or("");
        if self.max_cost.is_some() && self.prices.price(model).is_none() {
            return Err(OverBudget::NoPrice { model: model.to_owned() });
        }
        if self.uncounted.get() {
            return Err(OverBudget::Uncounted);
        }
        match (self.max_tokens, self.max_cost) {
            (Some(max), _) if self.tokens.get() >= max => {
                Err(OverBudget::Tokens { used: self.tokens.get(), max })
            }
            (_, Some(max)) if self.cost.get() >= max => {
                Err(OverBudget::Cost { used: self.cost.get(), max })
            }
            _ => Ok(()),
        }
    }

    /// Counts a live answer. One with an unreadable usage is not held against the server.
    pub(super) fn count(&self, request: &Request, usage: Usage, readable: bool) {
        if self.is_unlimited() {
            return;
        }
        self.uncounted.set(self.uncounted.get() || readable && !usage.is_counted());
        self.add(request.model().unwrap_or(""), usage);
    }

    fn add(&self, model: &str, usage: Usage) {
        let Usage { prompt_tokens, completion_tokens, .. } = usage;
        let tokens = prompt_tokens.unwrap_or(0).saturating_add(completion_tokens.unwrap_or(0));
        self.tokens.set(self.tokens.get().saturating_add(tokens));
        let cost = self.prices.price(model).map_or(0.0, |price| price.cost(usage));
        self.cost.set(self.cost.get() + cost);
    }

    /// Counts what a run has recorded. Answers that it shares with another run were paid for there.
    pub(super) fn count_recorded(
        &self,
        reader: &mut dyn Reader,
        run: RunId,
    ) -> Result<(), LogError> {
        if self.is_unlimited() {
            return Ok(());
        }
        let mut asked: BTreeMap<Seq, PromptHash> = BTreeMap::new();
        let mut models: BTreeMap<PromptHash, String> = BTreeMap::new();
        let mut events = RunEvents::new(run);
        while let Some(stored) = events.next(reader)? {
            if stored.is_received() {
                let Event::ResponseReceived(answer) = stored.event()? else { continue };
                let prompt = asked.remove(&answer.request);
                // Only the price depends on the model.
                let model = match prompt.filter(|_| self.max_cost.is_some()) {
                    Some(prompt) => match models.get(&prompt) {
                        Some(model) => model.clone(),
                        None => {
                            let request = reader.request(prompt)?;
                            let model = request.as_ref().and_then(Request::model);
                            let model = model.unwrap_or("").to_owned();
                            models.entry(prompt).or_insert(model).clone()
                        }
                    },
                    None => String::new(),
                };
                self.add(&model, usage(&answer.details).unwrap_or_default());
            } else if let Some(prompt) = stored.prompt {
                asked.insert(stored.seq, prompt);
            }
        }
        Ok(())
    }
}
