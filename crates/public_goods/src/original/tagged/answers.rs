//! A model that gives the original answers.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::original::Run;
use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};

/// The answers of an original run, by call path.
pub(super) struct Original {
    source: String,
    answers: BTreeMap<String, String>,
    simulated: bool,
}

impl Original {
    /// The answers of a run.
    pub(super) fn of(run: &Run) -> Self {
        let Run { config, answers, simulated, .. } = run;
        let source = config.experiment_id.clone();
        Original { source, answers: answers.clone(), simulated: *simulated }
    }
}

impl Model for Original {
    fn info(&self) -> ModelInfo {
        let source = Some(self.source.clone());
        ModelInfo { kind: "original".to_owned(), source, simulated: self.simulated }
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let answer = self.answers.get(ask.call.as_str()).filter(|_| ask.sample == 0);
        let answer = answer.map(|text| Response::text(text.as_str())).ok_or_else(|| {
            Failure::new(FailureKind::Rejected, "the original run has no answer to this")
        });
        async move { answer }.boxed()
    }
}
