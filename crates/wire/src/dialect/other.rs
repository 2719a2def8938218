//! Everything else below an upstream: recorded by method, path and body, so that nothing is lost.

use retold::model::Response;
use retold::prompt::Api;
use serde_json::{Map, Value};

use super::{Dialect, Ending, NotRead, Problem, openai_error};

/// Stands for all APIs without a file of their own.
pub const OTHER: Other = Other;

/// See [`OTHER`].
#[derive(Debug)]
pub struct Other;

impl Dialect for Other {
    fn name(&self) -> &'static str {
        "http"
    }

    fn is_at(&self, _path: &str) -> bool {
        true
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        Some((Api::Chat, body))
    }

    fn is_last(&self, _data: &str) -> bool {
        false
    }

    fn assembled(&self, _events: &[Value]) -> Value {
        Value::Null
    }

    /// What is not known is not called failed.
    fn ending(&self, _reply: &Value, _has_end: bool) -> Ending {
        Ending::Answered
    }

    /// The whole body is its text, which the recorder has already.
    fn answer(&self, _reply: Value) -> Result<Response, NotRead> {
        Ok(Response::text(""))
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        openai_error(problem)
    }
}
