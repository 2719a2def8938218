//! OpenAI's embeddings, and the servers that speak them.

use retold::model::Response;
use retold::prompt::Api;
use serde_json::{Map, Value};

use super::ending::error_in;
use super::{Dialect, Ending, NotRead, Problem, openai_error, read};

#[derive(Debug)]
pub(super) struct OpenAiEmbeddings;

impl Dialect for OpenAiEmbeddings {
    fn name(&self) -> &'static str {
        "openai.embeddings"
    }

    fn is_at(&self, path: &str) -> bool {
        path.ends_with("/embeddings")
    }

    fn is_plain(&self, upstream: &str, path: &str) -> bool {
        upstream == "openai" && path == "/embeddings"
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        body.contains_key("input").then_some((Api::Embedding, body))
    }

    fn is_last(&self, _data: &str) -> bool {
        false
    }

    fn assembled(&self, _events: &[Value]) -> Value {
        Value::Null
    }

    fn ending(&self, reply: &Value, _has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::Answered)
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        match reply["data"].as_array().map(Vec::len) {
            // A log has one vector per answer.
            Some(2..) => Err(NotRead::Whole),
            _ => read(reply),
        }
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        openai_error(problem)
    }
}
