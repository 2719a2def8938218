//! Cohere's Embed API, versions 1 and 2 (docs.cohere.com/reference/embed).

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, NotRead, Problem};
use super::ending::Ending;
use super::vectors;
use crate::model::Response;
use crate::prompt::Api;

/// The Embed API.
#[derive(Debug)]
pub(super) struct CohereEmbed;

impl Dialect for CohereEmbed {
    fn name(&self) -> &'static str {
        "cohere.embed"
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/v2/embed", "/v1/embed"]
    }

    /// Only texts; `inputs` and `images`, which may have images, stay as they are.
    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let texts = body.remove("texts").filter(Value::is_array)?;
        body.insert("input".to_owned(), texts).is_none().then_some((Api::Embedding, body))
    }

    fn body(&self, mut prompt: Map<String, Value>, _: &str, _: bool) -> Map<String, Value> {
        if let Some(texts) = prompt.remove("input") {
            prompt.insert("texts".to_owned(), texts);
        }
        prompt
    }

    /// It has no streams, and no error under a good status.
    fn ending(&self, _reply: &Value, _has_end: bool) -> Ending {
        Ending::Answered
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        fields
            .get("embeddings")
            .is_some_and(|it| it.is_array() || it.is_object())
            .then_some("Cohere's Embed API")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        vectors::of_lists(&reply, &reply["meta"]["billed_units"]["input_tokens"])
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        json!({"message": problem.message})
    }
}
