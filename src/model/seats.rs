//! A person among models.

use futures::future::BoxFuture;

use super::answer::{Answerer, Ask, Model, ModelInfo, Response};
use super::failure::Failure;

/// Two who answer: requests that name the person's model go to the person, all others to the
/// model. So what a person says is recorded, replayed and audited like any answer.
pub struct Seats {
    /// Who answers all else.
    pub model: Answerer,
    /// Who answers in person.
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
        match ask.request.model() == Some(self.name) {
            true => self.person.answer(ask),
            false => self.model.answer(ask),
        }
    }

    fn never_asked(&self) -> Vec<String> {
        self.model.never_asked()
    }
}
