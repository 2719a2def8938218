//! Calls of tools of an MCP server over HTTP (modelcontextprotocol.io, 2025-11-25): JSON-RPC, whose answer is JSON or the events of
//! a stream. Other requests to such a server are none of this API.

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, NotRead, Problem};
use super::ending::Ending;
use super::reply_parts::answer_of;
use crate::model::Response;
use crate::prompt::Api;

/// The method of a call.
const CALL: &str = "tools/call";

/// The field of a stored body with what a call has besides the tool and its arguments.
const RPC: &str = "rpc";

/// Calls of tools over MCP. They are known by their bodies, because a server chooses its path.
#[derive(Debug)]
pub(super) struct McpTool;

/// Whether a body is a call of a tool.
pub(super) fn is_call(body: &Map<String, Value>) -> bool {
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    text("jsonrpc") == Some("2.0")
        && text("method") == Some(CALL)
        && body.contains_key("id")
        && body.get("params").is_some_and(|params| params["name"].is_string())
}

impl Dialect for McpTool {
    fn name(&self) -> &'static str {
        "mcp.tool"
    }

    fn paths(&self) -> &'static [&'static str] {
        &[]
    }

    /// A tool may be called with a key, which changes nothing that it says.
    fn credentials(&self) -> &'static [&'static str] {
        &["params.arguments.{key}", "params.arguments.*.{key}", "params.arguments.*.*.{key}"]
    }

    fn is_streamed(&self, _path: &str, _body: &Map<String, Value>) -> bool {
        false
    }

    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        if !is_call(&body) {
            return None;
        }
        let params = body.get_mut("params")?.as_object_mut()?;
        let (tool, arguments) = (params.remove("name")?, params.remove("arguments"));
        let mut prompt = Map::from_iter([("tool".to_owned(), tool), (RPC.to_owned(), Value::Null)]);
        // One without arguments is another text than one with none.
        prompt.extend(arguments.map(|arguments| ("arguments".to_owned(), arguments)));
        prompt.insert(RPC.to_owned(), Value::Object(body));
        Some((Api::Tool, prompt))
    }

    fn body(&self, mut prompt: Map<String, Value>, _: &str, _: bool) -> Map<String, Value> {
        let Some(Value::Object(mut body)) = prompt.remove(RPC) else { return prompt };
        if let Some(params) = body.get_mut("params").and_then(Value::as_object_mut) {
            params.extend(prompt.remove("tool").map(|tool| ("name".to_owned(), tool)));
            let arguments = prompt.remove("arguments");
            params.extend(arguments.map(|arguments| ("arguments".to_owned(), arguments)));
        }
        body.extend(prompt);
        body
    }

    /// The answer to the call; what a server says besides, such as its progress, comes before it.
    fn assemble(&self, events: &[Value]) -> Value {
        let is_answer = |event: &&Value| event.get("result").or(event.get("error")).is_some();
        events.iter().rfind(is_answer).cloned().unwrap_or(Value::Null)
    }

    /// A tool that failed has said so: its answer is what the program gets again.
    fn ending(&self, _reply: &Value, _has_end: bool) -> Ending {
        Ending::Answered
    }

    /// The text is that of the result's content; JSON if it has anything else.
    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let given = reply.get("result").or(reply.get("error")).ok_or(NotRead::Undescribed)?;
        let parts = given["content"].as_array();
        let texts: Option<Vec<&str>> =
            parts.and_then(|parts| parts.iter().map(|part| part["text"].as_str()).collect());
        let text = texts.map_or_else(|| given.to_string(), |texts| texts.join("\n"));
        answer_of(json!({"content": text}))
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        let error =
            json!({"code": -32001, "message": problem.message, "data": {"code": problem.code}});
        json!({"jsonrpc": "2.0", "id": null, "error": error})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(value: Value) -> Map<String, Value> {
        let Value::Object(body) = value else { panic!() };
        body
    }

    #[test]
    fn a_call_is_stored_with_its_tool_and_restored_as_it_was() {
        for params in [
            json!({"name": "draw", "arguments": {"what": "a"}, "_meta": {"progressToken": 1}}),
            json!({"name": "draw"}),
        ] {
            let sent =
                body(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}));
            let (api, prompt) = McpTool.prompt(sent.clone()).unwrap();
            assert_eq!((api, prompt["tool"].as_str()), (Api::Tool, Some("draw")));
            assert_eq!(prompt.get("arguments"), sent["params"].get("arguments"));
            assert_eq!(McpTool.body(prompt, "/mcp", false), sent);
        }
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
        assert!(McpTool.prompt(body(list)).is_none());
    }

    #[test]
    fn the_text_of_a_result_is_read_and_an_error_is_kept() {
        let text = |reply: Value| McpTool.answer(reply).unwrap().content.text().to_owned();
        let content = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        assert_eq!(text(json!({"result": {"content": content, "isError": false}})), "a\nb");
        assert_eq!(text(json!({"error": {"code": -32602}})), r#"{"code":-32602}"#);
        let image = json!({"content": [{"type": "image", "data": ""}]});
        assert_eq!(text(json!({"result": image})), image.to_string());
        let events = [json!({"method": "notifications/progress"}), json!({"id": 3, "result": {}})];
        assert_eq!(McpTool.assemble(&events), events[1]);
        assert!(McpTool.answer(json!({})).is_err());
    }
}
