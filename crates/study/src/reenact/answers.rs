//! A model that answers what was answered then.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;

use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};

/// The answers of an original run, by call path. A call without one stops the run.
pub struct Answers {
    /// The file or folder that they are from, without its place.
    pub source: String,
    /// The answers.
    pub by_call: BTreeMap<String, String>,
}

impl Model for Answers {
    fn info(&self) -> ModelInfo {
        let source = Some(self.source.clone());
        ModelInfo { kind: "scripted".to_owned(), source, simulated: false }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let found = self.by_call.get(ask.call.as_str()).map(|text| Response::text(text.as_str()));
        let answer = found.ok_or_else(|| {
            let message = format!("{} has no answer to call {}", self.source, ask.call);
            Failure::new(FailureKind::NoAnswer, message)
        });
        async move { answer }.boxed()
    }
}
