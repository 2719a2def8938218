//! Rerank: Cohere's API, versions 1 and 2 (docs.cohere.com/reference/rerank), and the servers that speak it, such as Jina,
//! Together, vLLM and Voyage, which calls the results `data` (docs.voyageai.com/reference/reranker-api).

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in};
use super::reply_parts::{TokenCounts, answer_of};
use crate::members::Members;
use crate::model::Response;
use crate::prompt::Api;

/// Rerank.
#[derive(Debug)]
pub(super) struct Rerank;

impl Dialect for Rerank {
    fn name(&self) -> &'static str {
        "rerank"
    }

    fn hosts(&self) -> &'static [&'static str] {
        &["api.voyageai.com", "api.jina.ai"]
    }

    fn paths(&self) -> &'static [&'static str] {
        &["/v2/rerank", "/v1/rerank"]
    }

    /// The query is the message, and the documents stay beside it.
    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        if !body.get("documents").is_some_and(Value::is_array) {
            return None;
        }
        let query = body.remove("query").filter(Value::is_string)?;
        let messages = json!([{"role": "user", "content": query}]);
        body.insert("messages".to_owned(), messages).is_none().then_some((Api::Chat, body))
    }

    fn body(&self, mut prompt: Map<String, Value>, _: &str, _: bool) -> Map<String, Value> {
        if let Some(mut messages) = prompt.remove("messages") {
            prompt.insert("query".to_owned(), messages.take_at("/0/content"));
        }
        prompt
    }

    fn ending(&self, reply: &Value, _has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::Answered)
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        let is_one = fields.get("results").is_some_and(|it| it[0]["relevance_score"].is_number());
        is_one.then_some("a rerank API")
    }

    /// The text is the list of results, as JSON: each has the index of a document and its score.
    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let results = if reply["results"].is_array() { &reply["results"] } else { &reply["data"] };
        if !results.is_array() {
            return Err(NotRead::Missing("results"));
        }
        let tokens = [&reply["usage"]["total_tokens"], &reply["meta"]["tokens"]["input_tokens"]];
        let prompt = tokens.into_iter().find_map(Value::as_u64);
        let counts = TokenCounts { prompt, ..TokenCounts::default() };
        answer_of(
            json!({"content": results.to_string(), "id": reply["id"], "model": reply["model"],
            "usage": counts.json(), "meta": reply["meta"]}),
        )
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        json!({"message": problem.message})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_are_the_text() {
        let results =
            json!([{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]);
        let cohere =
            json!({"id": "i", "results": results, "meta": {"billed_units": {"search_units": 1}}});
        let voyage =
            json!({"object": "list", "data": results, "model": "m", "usage": {"total_tokens": 43}});
        for (reply, tokens) in [(cohere, None), (voyage, Some(43))] {
            let answer = Rerank.answer(reply).unwrap();
            assert_eq!(answer.content.text(), results.to_string());
            assert_eq!(answer.usage.and_then(|usage| usage.prompt_tokens), tokens);
        }
        let error = Rerank.answer(json!({"id": "i"})).unwrap_err().to_string();
        assert_eq!(error, "it has no results");
    }
}
