//! Gemini's embedContent and batchEmbedContents (ai.google.dev/api/embeddings), and Vertex's embedContent and predict for
//! embeddings of texts (cloud.google.com/vertex-ai, "Text embeddings API"; the types of the SDK, python-genai).

use serde_json::{Map, Value, json};

use super::dialect::{Dialect, NotRead, Problem};
use super::ending::{Ending, error_in};
use super::vectors;
use crate::model::Response;
use crate::prompt::Api;

/// Embeddings of Gemini and Vertex.
#[derive(Debug)]
pub(super) struct GeminiEmbed;

/// Where a request has its texts, by the end of its path.
const INPUTS: [(&str, &str); 3] =
    [(":embedContent", "content"), (":batchEmbedContents", "requests"), (":predict", "instances")];

impl Dialect for GeminiEmbed {
    fn name(&self) -> &'static str {
        "gemini.embed"
    }

    fn paths(&self) -> &'static [&'static str] {
        &[":embedContent", ":batchEmbedContents", "/publishers/google/models/*:predict"]
    }

    /// What other models predict from has no `content`, and stays as it is.
    fn prompt(&self, mut body: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        let (_, name) = INPUTS.into_iter().find(|(_, name)| body.contains_key(*name))?;
        let input = body.remove(name)?;
        let has_content = |item: &Value| item["content"].is_string() || item["content"].is_object();
        let is_one = match name {
            "content" => input.is_object(),
            _ => input.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(has_content)),
        };
        let is_new = body.insert("input".to_owned(), input).is_none();
        (is_one && is_new).then_some((Api::Embedding, body))
    }

    fn body(&self, mut prompt: Map<String, Value>, path: &str, _: bool) -> Map<String, Value> {
        let name = INPUTS.into_iter().find(|(end, _)| path.ends_with(end));
        if let (Some((_, name)), Some(input)) = (name, prompt.remove("input")) {
            prompt.insert(name.to_owned(), input);
        }
        prompt
    }

    fn ending(&self, reply: &Value, _has_end: bool) -> Ending {
        Ending::or(error_in(&reply["error"]), || Ending::Answered)
    }

    fn reply_name(&self, fields: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        let has_values = |name: &str, place: &str| {
            fields.get(name).and_then(|it| it.pointer(place)).is_some_and(Value::is_array)
        };
        let is_one = has_values("embedding", "/values")
            || has_values("embeddings", "/0/values")
            || has_values("predictions", "/0/embeddings/values");
        is_one.then_some("an embeddings API of Google's")
    }

    fn answer(&self, reply: Value) -> Result<Response, NotRead> {
        let list = |name: &str| reply[name].as_array().map_or(&[][..], Vec::as_slice);
        let predictions = list("predictions");
        let of_one = reply["embedding"].is_object().then_some(&reply["embedding"]);
        let of_predictions = predictions.iter().map(|it| &it["embeddings"]);
        let all: Vec<&Value> = of_one
            .into_iter()
            .chain(list("embeddings"))
            .chain(of_predictions.filter(|it| it["values"].is_array()))
            .collect();
        if all.is_empty() {
            // Images, and what else such models make.
            return Err(match predictions.is_empty() {
                true => NotRead::Missing("embeddings"),
                false => NotRead::Undescribed,
            });
        }
        let counted = |it: &&Value| it["statistics"]["token_count"].as_f64();
        let tokens = match reply["usageMetadata"]["promptTokenCount"].as_u64() {
            Some(tokens) => json!(tokens),
            None => whole(all.iter().filter_map(counted).sum()),
        };
        let data: Vec<Value> = all.iter().map(|it| json!({"embedding": it["values"]})).collect();
        vectors::of_reply(&json!({"data": data, "usage": {"prompt_tokens": tokens}}))
    }

    fn error(&self, problem: &Problem<'_>) -> Value {
        let Problem { status, code, message } = problem;
        json!({"error": {"code": status, "message": message, "status": code}})
    }
}

/// A count that Vertex writes as a fraction, `4.0`; null if nothing was counted.
fn whole(tokens: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let count = tokens as u64;
    if count == 0 { Value::Null } else { count.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Content;

    #[test]
    fn vectors_are_read_of_each_form() {
        for (reply, tokens) in [
            (
                json!({"embedding": {"values": [1.0, 2.0]}, "usageMetadata": {"promptTokenCount": 3}}),
                Some(3),
            ),
            (json!({"embeddings": [{"values": [1.0]}, {"values": [2.0]}]}), None),
            (
                json!({"predictions": [
                    {"embeddings": {"values": [1.0], "statistics": {"token_count": 1.0, "truncated": false}}},
                    {"embeddings": {"values": [2.0], "statistics": {"token_count": 2.0, "truncated": false}}}],
                    "metadata": {"billableCharacterCount": 9}}),
                Some(3),
            ),
        ] {
            let answer = GeminiEmbed.answer(reply).unwrap();
            assert_eq!(answer.content, Content::Vector([1.0, 2.0].into()));
            assert_eq!(answer.usage.and_then(|usage| usage.prompt_tokens), tokens);
        }
        let image =
            json!({"predictions": [{"bytesBase64Encoded": "AA==", "mimeType": "image/png"}]});
        assert!(matches!(GeminiEmbed.answer(image), Err(NotRead::Undescribed)));
    }

    #[test]
    fn texts_are_the_input_and_given_back() {
        let text = json!({"parts": [{"text": "a"}]});
        for (path, body) in [
            ("/models/m:embedContent", json!({"content": text, "taskType": "CLUSTERING"})),
            (
                "/models/m:batchEmbedContents",
                json!({"requests": [{"model": "models/m", "content": text}]}),
            ),
            (
                "/publishers/google/models/m:predict",
                json!({"instances": [{"content": "a", "task_type": "CLUSTERING"}], "parameters": {}}),
            ),
        ] {
            let (api, prompt) = GeminiEmbed.prompt(body.as_object().unwrap().clone()).unwrap();
            assert!(api == Api::Embedding && prompt.contains_key("input"));
            assert_eq!(Value::Object(GeminiEmbed.body(prompt, path, false)), body);
        }
        let image = json!({"instances": [{"prompt": "a cat"}]});
        assert!(GeminiEmbed.prompt(image.as_object().unwrap().clone()).is_none());
    }
}
