//! A model that gives the original answers.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;

use retold::content::Content;
use retold::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};

/// The answers of an original run, by call path.
pub struct Answers {
    /// The source of the answers: another program's files, or a program that made the answers up.
    pub info: ModelInfo,
    /// The answers.
    pub by_call: BTreeMap<String, Content>,
    /// The failure of a call without an answer.
    pub unanswered: Box<dyn Fn(&Ask<'_>) -> Failure + Send + Sync>,
}

impl Answers {
    /// The answers in a file or folder, which is named without its location. A call without an
    /// answer stops the run.
    pub fn new(source: String, by_call: BTreeMap<String, Content>) -> Self {
        let named = source.clone();
        let unanswered = Box::new(move |ask: &Ask<'_>| {
            let message = format!("{named} has no answer to call {}", ask.call);
            Failure::new(FailureKind::NoAnswer, message)
        });
        let info =
            ModelInfo { kind: "scripted".to_owned(), source: Some(source), simulated: false };
        Answers { info, by_call, unanswered }
    }
}

impl Model for Answers {
    fn info(&self) -> ModelInfo {
        self.info.clone()
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        let found = self.by_call.get(ask.call.as_str());
        let answer = match found {
            Some(content) => Ok(Response { content: content.clone(), ..Response::text("") }),
            None => Err((self.unanswered)(&ask)),
        };
        async move { answer }.boxed()
    }
}
