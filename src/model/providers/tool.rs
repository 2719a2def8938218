//! Calls of a program's own tools, as the Python package reports them. No model is asked: what answers is the program itself.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, NotRead, PlainAddress};
use super::ending::Ending;
use super::reply_parts::answer_of;
use crate::model::Response;
use crate::prompt::Api;

/// Where calls of tools are posted, below an upstream that stands for the program.
pub const CALLS_OF_TOOLS: PlainAddress =
    PlainAddress { api: Api::Tool, upstream: "_retold", path: "/_retold/tools" };

/// Calls of tools: `{"tool": "search", "arguments": {..}, "id": "call_1"}`, answered by `{"result": ..}`.
#[derive(Debug)]
pub(super) struct Tool;

impl Dialect for Tool {
    fn name(&self) -> &'static str {
        "tool"
    }

    fn paths(&self) -> &'static [&'static str] {
        &[CALLS_OF_TOOLS.path]
    }

    fn plain(&self) -> Option<PlainAddress> {
        Some(CALLS_OF_TOOLS)
    }

    /// A tool may be called with a key, which changes nothing that it says.
    fn credentials(&self) -> &'static [&'static str] {
        &["arguments.{key}", "arguments.*.{key}", "arguments.*.*.{key}"]
    }

    /// The id by which a model called it: the model of another run has made up another.
    fn invented_ids(&self, body: &mut Value, each: &mut dyn FnMut(&mut String)) {
        if let Some(Value::String(id)) = body.get_mut("id") {
            each(id);
        }
    }

    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let is_one =
            body.get("tool").is_some_and(Value::is_string) && body.contains_key("arguments");
        is_one.then_some((Api::Tool, body))
    }

    fn is_streamed(&self, _path: &str, _body: &Map<String, Value>) -> bool {
        false
    }

    /// A tool that raises an error says so by its status.
    fn ending(&self, _reply: &Value, _has_end: bool) -> Ending {
        Ending::Answered
    }

    /// The text is the result; JSON if it is no text.
    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let Some(result) = reply.get("result") else { return Err(NotRead::Missing("result")) };
        let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
        answer_of(json!({"content": text}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_the_text_of_its_answer() {
        for (result, due) in
            [(json!("rain"), "rain"), (json!({"mm": 3}), r#"{"mm":3}"#), (json!(null), "null")]
        {
            let answer = Tool.answer(json!({"result": result})).unwrap();
            assert_eq!(answer.content.text(), due);
        }
        assert_eq!(Tool.answer(json!({})).unwrap_err().to_string(), "it has no result");
    }

    #[test]
    fn a_request_names_its_tool_and_has_arguments() {
        for (body, is_one) in [
            (json!({"tool": "search", "arguments": {"q": "a"}}), true),
            (json!({"tool": "search"}), false),
            (json!({"tool": 3, "arguments": {}}), false),
        ] {
            let Value::Object(fields) = body.clone() else { panic!() };
            assert_eq!(Tool.prompt(fields).is_some(), is_one, "{body}");
        }
    }
}
