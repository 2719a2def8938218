//! Several servers in one run, chosen by the name of the model.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;

use super::answer::{Answerer, Ask, Model, ModelInfo, Response};
#[cfg(feature = "openai")]
use super::batching::Batching;
use super::failure::{Failure, FailureKind};
use crate::escaping::printable;
use crate::prompt::Request;

/// Several models in one: each request goes to the one registered for its model name, or else to
/// the one for all others.
pub struct ByName {
    named: BTreeMap<String, NamedAnswerer>,
    others: Option<Answerer>,
}

/// The model that answers for one name.
struct NamedAnswerer {
    answerer: Answerer,
    /// Whether it has received any request.
    asked: AtomicBool,
}

impl ByName {
    /// Combines models by the model names that they answer for, with an optional one for all other
    /// names.
    pub fn new(named: BTreeMap<String, Answerer>, others: Option<Answerer>) -> Self {
        let named = named.into_iter().map(|(name, answerer)| {
            (name, NamedAnswerer { answerer, asked: AtomicBool::new(false) })
        });
        ByName { named: named.collect(), others }
    }

    fn answerer(&self, model: &str) -> Result<&Answerer, Failure> {
        if let Some(NamedAnswerer { answerer, asked }) = self.named.get(model) {
            asked.store(true, Ordering::Relaxed);
            return Ok(answerer);
        }
        self.others.as_ref().ok_or_else(|| {
            let named: Vec<&str> = self.named.keys().map(String::as_str).collect();
            let message = format!(
                "there is no server for the model {:?}: it is not among the endpoints ({}), and there is no API key \
                 for another",
                printable(model, 100),
                printable(&named.join(", "), 300)
            );
            Failure::new(FailureKind::Unauthorized, message)
        })
    }
}

impl Model for ByName {
    fn info(&self) -> ModelInfo {
        let of = |name: &str, named: &NamedAnswerer| {
            let source = named.answerer.info().source.unwrap_or_default();
            format!("{name}: {source}")
        };
        let others = self.others.iter().filter_map(|others| others.info().source);
        let named = self.named.iter().map(|(name, named)| of(name, named));
        let answerers = || self.named.values().map(|named| &named.answerer).chain(&self.others);
        let all = || answerers().map(|answerer| answerer.info());
        ModelInfo {
            kind: all().next().map_or_else(String::new, |info| info.kind),
            source: Some(others.chain(named).collect::<Vec<_>>().join("; ")),
            simulated: all().any(|info| info.simulated),
        }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        match self.answerer(ask.request.model().unwrap_or("")) {
            Ok(answerer) => answerer.answer(ask),
            Err(failure) => Box::pin(async { Err(failure) }),
        }
    }

    fn refuses(&self, request: &Request) -> Option<String> {
        let named = self.named.get(request.model().unwrap_or("")).map(|named| &named.answerer);
        named.or(self.others.as_ref())?.refuses(request)
    }

    #[cfg(feature = "openai")]
    fn batching(&self, request: &Request) -> Option<&dyn Batching> {
        self.answerer(request.model().unwrap_or("")).ok()?.batching(request)
    }

    /// A server that was named for one model is taken at the user's word.
    fn models_without<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Option<Vec<String>>> {
        match &self.others {
            Some(others) if !self.named.contains_key(model) => others.models_without(model),
            _ => Box::pin(async { None }),
        }
    }

    fn may_refuse(&self) -> bool {
        let named = self.named.values().map(|named| &named.answerer);
        named.chain(&self.others).any(|answerer| answerer.may_refuse())
    }

    fn never_asked(&self) -> Vec<String> {
        let never = self.named.iter().filter(|(_, named)| !named.asked.load(Ordering::Relaxed));
        never.map(|(name, _)| name.clone()).collect()
    }
}
