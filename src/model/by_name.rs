//! Several servers in one run, by the name of the model.

use std::collections::BTreeMap;

use futures::future::BoxFuture;

use super::answer::{Answerer, Ask, Model, ModelInfo, Response};
use super::failure::{Failure, FailureKind};
use crate::inert::inert;

/// Several who answer: a request goes to the one that its model is named with, or else to the one for all others.
pub struct ByName {
    named: BTreeMap<String, Answerer>,
    others: Option<Answerer>,
}

impl ByName {
    /// Those who answer, by the names of their models, and who answers everything else, if anybody does.
    pub fn new(named: BTreeMap<String, Answerer>, others: Option<Answerer>) -> Self {
        ByName { named, others }
    }

    fn of(&self, model: &str) -> Result<&Answerer, Failure> {
        let found = self.named.get(model).or(self.others.as_ref());
        found.ok_or_else(|| {
            let named: Vec<&str> = self.named.keys().map(String::as_str).collect();
            let message = format!(
                "there is no server for the model {:?}: it is not among the endpoints ({}), and there is no API key \
                 for another",
                inert(model, 100),
                inert(&named.join(", "), 300)
            );
            Failure::new(FailureKind::Unauthorized, message)
        })
    }
}

impl Model for ByName {
    fn info(&self) -> ModelInfo {
        let of = |name: &str, answerer: &Answerer| {
            let source = answerer.info().source.unwrap_or_default();
            format!("{name}: {source}")
        };
        let others = self.others.iter().filter_map(|others| others.info().source);
        let named = self.named.iter().map(|(name, answerer)| of(name, answerer));
        let all = || self.named.values().chain(&self.others).map(|answerer| answerer.info());
        ModelInfo {
            kind: all().next().map_or_else(String::new, |info| info.kind),
            source: Some(others.chain(named).collect::<Vec<_>>().join("; ")),
            simulated: all().any(|info| info.simulated),
        }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        match self.of(ask.request.model().unwrap_or_default()) {
            Ok(answerer) => answerer.answer(ask),
            Err(failure) => Box::pin(async { Err(failure) }),
        }
    }
}
