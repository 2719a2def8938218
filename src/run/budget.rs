//! Limits on the tokens and dollars that a run may use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer_costs::{AnswerCosts, bill};
use super::clock;
use crate::event::Event;
use crate::id::{PromptHash, RunId, Seq};
use crate::log::{LogError, Reader, RunEvents};
use crate::model::{Bill, Destinations, Limits, Order, Prices, Response};
use crate::prompt::Request;

/// The tokens and dollars that a run has used, and its limits. Calls in flight at the limit are
/// still recorded, so the limits can be exceeded by that much.
#[derive(Debug)]
pub struct Budget {
    max_tokens: Option<u64>,
    max_cost: Option<f64>,
    prices: Prices,
    /// Where the run's requests go, on which prices depend.
    destinations: Destinations,
    spent: Mutex<Spending>,
    /// The limits that several runs share, besides.
    shared: Option<Arc<Budget>>,
}

/// The tokens and dollars used so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spending {
    /// The tokens of all answers that report them.
    pub tokens: u64,
    /// In US dollars.
    pub cost: f64,
    /// Whether an answer came without token counts.
    pub is_uncounted: bool,
    /// Whether a model that answered has no price.
    pub is_unpriced: bool,
}

impl Spending {
    /// Whether the cost is that of all answers.
    pub fn is_complete(self) -> bool {
        !self.is_uncounted && !self.is_unpriced
    }
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
    /// The tokens of several runs are used up.
    #[error("the runs of this command have used {used} tokens together, and max_tokens is {max}")]
    TokensOfAll {
        /// How many, including recorded ones.
        used: u64,
        /// How many they may use.
        max: u64,
    },
    /// The money of several runs is used up.
    #[error("the runs of this command have cost {used:.4} dollars together, and max_cost is {max}")]
    CostOfAll {
        /// How much, including recorded answers.
        used: f64,
        /// How much they may cost.
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

impl OverBudget {
    /// The same of a budget that several runs share.
    fn of_all(self) -> Self {
        match self {
            OverBudget::Tokens { used, max } => OverBudget::TokensOfAll { used, max },
            OverBudget::Cost { used, max } => OverBudget::CostOfAll { used, max },
            other => other,
        }
    }
}

impl Budget {
    /// A budget of which nothing is used.
    pub fn new(limits: &Limits, prices: Prices) -> Self {
        let Limits { max_tokens, max_cost, .. } = *limits;
        let destinations = Destinations::default();
        Budget { max_tokens, max_cost, prices, destinations, spent: Mutex::default(), shared: None }
    }

    /// The budget of a run whose requests go there.
    #[must_use]
    pub fn asking(self, destinations: Destinations) -> Self {
        Budget { destinations, ..self }
    }

    /// The budget of a run that is also counted in one of several runs. What these may use together takes the place of what
    /// each of them may use.
    #[must_use]
    pub fn within(self, shared: Option<Arc<Budget>>) -> Self {
        let Some(of_all) = &shared else { return self };
        Budget {
            max_tokens: self.max_tokens.filter(|_| of_all.max_tokens.is_none()),
            max_cost: self.max_cost.filter(|_| of_all.max_cost.is_none()),
            shared,
            ..self
        }
    }

    /// No limits.
    pub fn unlimited() -> Self {
        Budget::new(&Limits::default(), Prices::default())
    }

    fn spent(&self) -> MutexGuard<'_, Spending> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_unlimited(&self) -> bool {
        self.max_tokens.is_none() && self.max_cost.is_none() && self.shared.is_none()
    }

    /// Whether a request may be sent.
    ///
    /// # Errors
    /// [`OverBudget`]: the budget is used up, or the tokens or cost of the answer cannot be known.
    pub fn check(&self, request: &Request) -> Result<(), OverBudget> {
        if self.is_unlimited() || request.tool().is_some() {
            return Ok(());
        }
        self.check_order(&self.destinations.order(request))
    }

    fn check_order(&self, order: &Order) -> Result<(), OverBudget> {
        if let Some(shared) = &self.shared {
            shared.check_order(order).map_err(OverBudget::of_all)?;
        }
        let model = order.model.as_deref().unwrap_or("");
        if self.max_cost.is_some() && self.prices.price(model, order.host.as_deref()).is_none() {
            return Err(OverBudget::NoPrice { model: model.to_owned() });
        }
        let Spending { tokens, cost, is_uncounted, .. } = *self.spent();
        if is_uncounted {
            return Err(OverBudget::Uncounted);
        }
        match (self.max_tokens, self.max_cost) {
            (Some(max), _) if tokens >= max => Err(OverBudget::Tokens { used: tokens, max }),
            (_, Some(max)) if cost >= max => Err(OverBudget::Cost { used: cost, max }),
            _ => Ok(()),
        }
    }

    /// The tokens and dollars used so far: by this execution, and if there are limits, by earlier ones.
    pub fn spending(&self) -> Spending {
        *self.spent()
    }

    /// Whether anything depends on prices.
    fn limits_cost(&self) -> bool {
        self.max_cost.is_some() || self.shared.as_ref().is_some_and(|shared| shared.limits_cost())
    }

    /// Counts a live answer. One with an unreadable usage is not held against the server.
    pub fn count(&self, request: &Request, response: &Response, readable: bool) {
        let order = self.destinations.order(request);
        if order.tool.is_some() {
            return;
        }
        let bill = Bill::of_response(response, &order, clock::now());
        let is_counted = response.usage.is_some_and(|usage| usage.is_counted());
        self.add(&order, &bill, readable && !is_counted);
    }

    fn add(&self, order: &Order, bill: &Bill, is_uncounted: bool) {
        if let Some(shared) = &self.shared {
            shared.add(order, bill, is_uncounted);
        }
        let cost = self.prices.cost(order, bill);
        let mut spent = self.spent();
        spent.is_uncounted |= is_uncounted;
        spent.is_unpriced |= cost.is_none();
        spent.tokens = spent.tokens.saturating_add(bill.prompt.saturating_add(bill.completion));
        spent.cost += cost.unwrap_or_default();
    }

    /// Counts the recorded answers of a run. Answers that it shares with another run were paid for there.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read.
    pub fn count_recorded(&self, reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
        if self.is_unlimited() {
            return Ok(());
        }
        let mut asked: BTreeMap<Seq, PromptHash> = BTreeMap::new();
        let mut costs = AnswerCosts::new(&self.prices);
        let mut events = RunEvents::new(run);
        while let Some(stored) = events.next(reader)? {
            if stored.is_received() {
                let Event::ResponseReceived(answer) = stored.event()? else { continue };
                let prompt = asked.remove(&answer.request);
                // Only the price depends on the request.
                let order = match prompt.filter(|_| self.limits_cost()) {
                    Some(prompt) => costs.order(reader, prompt)?,
                    None => Order::default(),
                };
                if order.tool.is_none() {
                    self.add(&order, &bill(&order, &answer.details, stored.time), false);
                }
            } else if let Some(prompt) = stored.prompt {
                asked.insert(stored.seq, prompt);
            } else {
                costs.note(&stored.event()?);
            }
        }
        Ok(())
    }
}
