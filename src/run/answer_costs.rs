//! What recorded answers cost.

use super::details::usage;
use crate::event::{Event, PROGRAM, ResponseDetails, StoredEvent};
use crate::id::{PromptHash, Seq, Time};
use crate::log::{LogError, Reader, event_at};
use crate::lookup::Recent;
use crate::model::{Bill, Destinations, Dollars, Order, Prices, ServiceTier};

/// What the answers of one run cost, as its events are read in order.
#[derive(Debug, Clone)]
pub struct AnswerCosts {
    prices: Prices,
    destinations: Destinations,
    /// What requests ask for.
    orders: Recent<PromptHash, Order>,
    questions: Recent<Seq, PromptHash>,
}

impl AnswerCosts {
    /// Before the first event of a run.
    pub fn new(prices: &Prices) -> Self {
        AnswerCosts {
            prices: prices.clone(),
            destinations: Destinations::default(),
            orders: Recent::default(),
            questions: Recent::default(),
        }
    }

    /// The prices.
    pub fn prices(&self) -> &Prices {
        &self.prices
    }

    /// Takes note of where requests go from here on.
    pub fn note(&mut self, event: &Event) {
        match event {
            Event::RunStarted(started) => {
                let is_program = started.experiment == PROGRAM;
                self.destinations =
                    Destinations::of_run(is_program, &started.settings, &started.model);
            }
            Event::RunResumed(resumed) => {
                self.destinations.go_on(&resumed.settings, &resumed.model);
            }
            _ => return,
        }
        self.orders = Recent::default();
    }

    /// What a request asks for.
    ///
    /// # Errors
    /// [`LogError`] if it cannot be read.
    pub fn order(
        &mut self,
        reader: &mut dyn Reader,
        prompt: PromptHash,
    ) -> Result<Order, LogError> {
        if let Some(order) = self.orders.get(&prompt) {
            return Ok(order.clone());
        }
        let request = reader.request_part(prompt)?;
        let order =
            request.map_or_else(Order::default, |request| self.destinations.order(&request));
        self.orders.insert(prompt, order.clone());
        Ok(order)
    }

    /// What an answer cost, and how much less than without the provider's cache; `None` if there is no price for it.
    pub(crate) fn cost(
        &self,
        order: &Order,
        details: &ResponseDetails,
        time: Time,
    ) -> Option<(Dollars, Dollars)> {
        let model = order.model.clone().or_else(|| details.model.clone());
        let order = Order { model, ..order.clone() };
        let bill = bill(&order, details, time);
        let rate = self.prices.rate(&order, &bill)?;
        Some((rate.cost(&bill), rate.saved_by_cache(&bill)))
    }

    /// What an answer cost in US dollars, if its question, the tokens and a price are known. Questions have to be passed as well.
    ///
    /// # Errors
    /// [`LogError`] if the question cannot be read.
    pub fn of_event(
        &mut self,
        reader: &mut dyn Reader,
        stored: &StoredEvent,
        event: &Event,
    ) -> Result<Option<f64>, LogError> {
        self.note(event);
        match event {
            Event::RequestSent(sent) => {
                self.questions.insert(stored.seq, sent.prompt);
                Ok(None)
            }
            Event::ResponseReceived(received) => {
                let asked = received.request;
                let prompt = match self.questions.get(&asked) {
                    Some(prompt) => Some(*prompt),
                    None => event_at(reader, stored.run, asked)?.and_then(|found| found.prompt),
                };
                let Some(prompt) = prompt else { return Ok(None) };
                let is_counted = usage(&received.details).is_some_and(|usage| usage.is_counted());
                let order = self.order(reader, prompt)?;
                let cost = self.cost(&order, &received.details, stored.time);
                Ok(cost.filter(|_| is_counted).map(|(cost, _)| cost.get()))
            }
            _ => Ok(None),
        }
    }
}

/// The bill of a recorded answer.
pub(super) fn bill(order: &Order, details: &ResponseDetails, time: Time) -> Bill {
    let used = usage(details).unwrap_or_default();
    let bill = Bill::new(used, details.service_tier.as_deref(), &details.extra, order, time);
    // Whatever the answer says about its tier.
    let batch = details.batch.map(|_| ServiceTier::Batch.as_str().to_owned());
    Bill { service: batch.or(bill.service), ..bill }
}
