//! Which answer called a tool, and which prompt has its result: declared with each question, so that it is part of the chain.

use std::collections::{BTreeMap, VecDeque};

use retold::event::Because;
use retold::id::Seq;
use retold::prompt::Request;
use serde_json::{Map, Value};

use crate::digest::Digest;
use crate::limits::NAMED_ANSWERS;

/// The fields by which the result of a tool names the call, in the messages of the APIs.
const NAMES_CALL: [&str; 3] = ["tool_call_id", "tool_use_id", "call_id"];

/// How deep these are in a message.
const DEEPEST: usize = 4;

/// The calls of tools in a run, by the ids that the model gave them.
#[derive(Debug, Default)]
pub(crate) struct ToolLinks {
    /// The answers that called tools.
    called: BTreeMap<Digest, Seq>,
    /// The results; of a tool that failed, its call.
    gave: BTreeMap<Digest, Seq>,
    /// The ids, the oldest first.
    all: VecDeque<Digest>,
}

impl ToolLinks {
    /// Notes which tools an answer calls.
    pub(crate) fn note_calls(&mut self, answer: Seq, ids: &[Digest]) {
        for id in ids {
            self.keep(*id);
            self.called.insert(*id, answer);
        }
    }

    /// Notes what a call of a tool gave.
    pub(crate) fn note_result(&mut self, request: &Request, result: Seq) {
        if let Some(id) = call_id(request) {
            self.keep(Digest::new(id));
            self.gave.insert(Digest::new(id), result);
        }
    }

    /// What a question was made from, as far as tools are concerned: a call of a tool from the answer that asked for it, a prompt from
    /// the results after the last answer that it has. What is further back is what these were made from.
    pub(crate) fn because(&self, request: &Request) -> Because {
        if self.all.is_empty() {
            return Because::default();
        }
        if request.tool().is_some() {
            return Because::new(
                call_id(request).and_then(|id| self.called.get(&Digest::new(id)).copied()),
            );
        }
        let mut results = Vec::new();
        let messages = request.body()["messages"].as_array().into_iter().flatten().rev();
        for message in messages.take_while(|message| !is_answer(message)) {
            each_id(message, DEEPEST, &mut |id| results.extend(self.gave.get(&Digest::new(id))));
        }
        Because::new(results)
    }

    fn keep(&mut self, id: Digest) {
        if self.called.contains_key(&id) || self.gave.contains_key(&id) {
            return;
        }
        self.all.push_back(id);
        if self.all.len() > NAMED_ANSWERS
            && let Some(oldest) = self.all.pop_front()
        {
            self.called.remove(&oldest);
            self.gave.remove(&oldest);
        }
    }
}

/// The ids of the calls of tools in an answer, of which this is what it has besides its text.
pub(crate) fn ids_called(beside: &Map<String, Value>) -> Vec<Digest> {
    let lists = ["tool_calls", "content_parts"].into_iter();
    let parts = lists.filter_map(|name| beside.get(name)?.as_array()).flatten();
    let ids = parts.flat_map(|part| ["id", "call_id"].map(|name| part[name].as_str()));
    ids.flatten().map(Digest::new).collect()
}

/// The id by which a model called a tool.
pub(crate) fn call_id(request: &Request) -> Option<&str> {
    request.body()["id"].as_str().filter(|_| request.tool().is_some())
}

/// Whether a message is an answer of the model, or a call in one.
fn is_answer(message: &Value) -> bool {
    matches!(message["role"].as_str(), Some("assistant" | "model"))
        || message["type"].as_str() == Some("function_call")
}

fn each_id<'a>(value: &'a Value, deepest: usize, each: &mut dyn FnMut(&'a str)) {
    let Some(within) = deepest.checked_sub(1) else { return };
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_str() {
                    Some(id) if NAMES_CALL.contains(&name.as_str()) => each(id),
                    _ => each_id(field, within, each),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each_id(item, within, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use retold::prompt::Api;
    use serde_json::json;

    use super::*;

    fn request(api: Api, body: Value) -> Request {
        let Value::Object(body) = body else { panic!() };
        Request::of_program(api, body).unwrap()
    }

    fn links() -> ToolLinks {
        let mut links = ToolLinks::default();
        let beside = json!({"tool_calls": [{"id": "a"}, {"id": "b"}]});
        links.note_calls(Seq(3), &ids_called(beside.as_object().unwrap()));
        for (id, result) in [("a", 5), ("b", 7)] {
            links.note_result(&call(id), Seq(result));
        }
        links
    }

    fn call(id: &str) -> Request {
        request(Api::Tool, json!({"tool": "t", "arguments": {}, "id": id}))
    }

    #[test]
    fn a_call_is_made_from_the_answer_that_asked_for_it() {
        assert_eq!(links().because(&call("b")), Because::new([Seq(3)]));
        assert_eq!(links().because(&call("c")), Because::default());
    }

    #[test]
    fn a_prompt_is_made_from_the_results_after_its_last_answer() {
        let openai = json!([{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": []},
            {"role": "tool", "tool_call_id": "a", "content": "1"}, {"role": "tool", "tool_call_id": "b", "content": "2"}]);
        let anthropic = json!([{"role": "assistant", "content": []},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "2"}]}]);
        let responses = json!([{"type": "function_call_output", "call_id": "b", "output": "2"},
            {"type": "function_call", "call_id": "a"}, {"type": "function_call_output", "call_id": "a", "output": "1"}]);
        for (messages, due) in [(openai, vec![5, 7]), (anthropic, vec![7]), (responses, vec![5])] {
            let asked = request(Api::Chat, json!({"messages": messages}));
            assert_eq!(links().because(&asked), Because::new(due.into_iter().map(Seq)));
        }
    }
}
