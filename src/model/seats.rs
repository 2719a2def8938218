//! A person among the models.

use futures::future::BoxFuture;

use super::answer::{Answerer, Ask, Model, ModelInfo, Response};
#[cfg(feature = "openai")]
use super::batching::Batching;
use super::failure::Failure;
#[cfg(feature = "openai")]
use crate::prompt::Request;

/// Two models in one: requests with the person's model name go to the person, all others to the
/// model. A person's answers are recorded, replayed and audited like all others.
pub struct Seats {
    /// Answers everything else.
    pub model: Answerer,
    /// Answers for the person.
    pub person: Answerer,
    /// The name of the person's model in requests.
    pub name: &'static str,
}

impl Model for Seats {
    fn info(&self) -> ModelInfo {
        let ModelInfo { kind, source, simulated } = self.model.info();
        ModelInfo { kind: format!("{kind}+{}", self.person.info().kind), source, simulated }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        if ask.request.model() == Some(self.name) {
            self.person.answer(ask)
        } else {
            self.model.answer(ask)
        }
    }

    fn models_without<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Option<Vec<String>>> {
        match model == self.name {
            true => self.person.models_without(model),
            false => self.model.models_without(model),
        }
    }

    fn may_refuse(&self) -> bool {
        self.model.may_refuse()
    }

    #[cfg(feature = "openai")]
    fn batching(&self, request: &Request) -> Option<&dyn Batching> {
        if request.model() == Some(self.name) { None } else { self.model.batching(request) }
    }

    fn never_asked(&self) -> Vec<String> {
        self.model.never_asked()
    }
}
