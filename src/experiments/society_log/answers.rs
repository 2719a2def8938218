//! The answers of a log, by call path.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::files::Row;
use crate::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};

/// The answers of a log.
pub(super) struct Answers {
    pub(super) source: String,
    pub(super) by_call: BTreeMap<String, String>,
}

/// The answer of a turn, put together from what the log holds of it.
pub(super) fn answer(row: &Row) -> String {
    let mut object = Map::new();
    let mut put = |key: &str, value: &Value| {
        if !value.is_null() {
            object.insert(key.to_owned(), value.clone());
        }
    };
    put("thought", &row.thought);
    put("content", &row.content);
    if row.action_type == "speak" {
        put("action", &"forum_post".into());
    } else {
        put("action", &row.action_type);
        put("target", &row.target);
    }
    Value::Object(object).to_string()
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
