//! Where requests have ids that clients invent: of tool calls above all. Such an id may be another one each time the same program
//! runs; what counts is which of them are equal.

use serde_json::Value;

/// Passes on each text at a path of names and indexes, where `*` stands for every item of a list.
pub(super) fn at(value: &mut Value, path: &[&str], each: &mut dyn FnMut(&mut String)) {
    match (path.split_first(), value) {
        (None, Value::String(id)) => each(id),
        (Some((&"*", rest)), Value::Array(items)) => {
            items.iter_mut().for_each(|item| at(item, rest, each));
        }
        (Some((name, rest)), Value::Object(fields)) => {
            if let Some(field) = fields.get_mut(*name) {
                at(field, rest, each);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{DIALECTS, by_name};

    /// What the dialect of a name passes on.
    fn ids(dialect: &str, body: serde_json::Value) -> Vec<String> {
        let (mut body, mut found) = (body, Vec::new());
        by_name(dialect).unwrap().invented_ids(&mut body, &mut |id| found.push(id.clone()));
        found
    }

    #[test]
    fn ids_of_tool_calls_are_found_in_every_api_that_has_them() {
        let call = json!([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "b"}]);
        assert_eq!(ids("openai.chat", json!({"messages": call, "user": "u"})), ["a", "a"]);
        assert_eq!(ids("openai.chat", json!({"messages": [], "prompt_cache_key": "k"})), ["k"]);
        assert_eq!(
            ids(
                "anthropic.messages",
                json!({"messages": [{"content": [{"type": "tool_use", "id": "a", "name": "f"}]},
                    {"content": [{"type": "tool_result", "tool_use_id": "a"}, {"type": "text", "text": "t"}]},
                    {"content": "text"}]})
            ),
            ["a", "a"]
        );
        assert_eq!(
            ids(
                "gemini.content",
                json!({"messages": [{"parts": [{"functionCall": {"id": "a", "name": "f"}}, {"text": "t"}]},
                    {"parts": [{"functionResponse": {"id": "a", "name": "f"}}]}]})
            ),
            ["a", "a"]
        );
        let call = json!([{"role": "assistant", "tool_calls": [{"id": "a"}]}, {"role": "tool", "tool_call_id": "a"}]);
        assert_eq!(ids("cohere.chat", json!({"messages": call})), ["a", "a"]);
        assert_eq!(
            ids(
                "bedrock.converse",
                json!({"messages": [{"content": [{"toolUse": {"toolUseId": "a"}}]},
                    {"content": [{"toolResult": {"toolUseId": "a"}}]}]})
            ),
            ["a", "a"]
        );
        assert_eq!(
            ids(
                "openai.responses",
                json!({"prompt_cache_key": "k", "previous_response_id": "r", "messages": [
                    {"type": "function_call", "id": "fc", "call_id": "a"},
                    {"type": "function_call_output", "call_id": "a", "output": "x"},
                    {"type": "item_reference", "id": "stored"}, {"type": "reasoning", "id": "rs"}]})
            ),
            ["a", "a", "fc", "k"]
        );
        let labels = json!({"session_id": "s", "x-codex-installation-id": "i", "x-codex-turn-metadata": "{}", "plan": "p"});
        let codex = json!({"messages": [], "client_metadata": labels, "prompt_cache_key": "s"});
        assert_eq!(ids("openai.responses", codex), ["s", "s", "i", "{}"]);
    }

    /// Some of them are texts of people.
    #[test]
    fn a_body_of_another_shape_has_no_ids() {
        for dialect in DIALECTS {
            for body in [json!(null), json!({"messages": "id"}), json!({"messages": [{"id": 1}]})] {
                let mut asked = body.clone();
                dialect.invented_ids(&mut asked, &mut |id| id.clear());
                assert_eq!(asked, body, "{}", dialect.name());
            }
        }
    }
}
