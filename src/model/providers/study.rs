//! How a study asks an API.

use serde_json::{Map, Value};

use super::provider::{Provider, is_one_of};

/// How a study asks an API.
#[derive(Debug)]
pub struct StudyAccess {
    /// The name of the API in configs and flags, and in a log's [`ModelInfo`](crate::model::ModelInfo).
    pub kind: &'static str,
    /// The API, for the help of the command line.
    pub help: &'static str,
    /// Who serves it, unless a config names another server.
    pub provider: &'static Provider,
    /// The header with the key, in lower case; `None` for `Authorization: Bearer KEY`.
    pub key_header: Option<&'static str>,
    /// Other headers that each request needs, with names in lower case.
    pub headers: &'static [(&'static str, &'static str)],
    /// The field of a request that has its tier of service; `None` if it has no tier that is cheaper and slower.
    pub tier_field: Option<&'static str>,
    /// How a chat is translated; `None` if requests are posted as a study writes them, which is as chat
    /// completions and embeddings.
    pub translation: Option<Translation>,
    /// How its server takes batches.
    pub batches: BatchApi,
    /// The names of the provider's own models; `*` stands for any text that is not empty.
    pub names: &'static [&'static str],
    /// Where it lists its models.
    pub list: ModelList,
}

impl StudyAccess {
    /// Whether a name is that of a model of the provider's own, as far as names say.
    pub fn has_model(&self, name: &str) -> bool {
        is_one_of(self.names, name)
    }

    /// Whether it can be asked for embeddings.
    pub fn has_embeddings(&self) -> bool {
        self.translation.is_none()
    }
}

/// An API for batches: many requests that a server answers later, at half the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchApi {
    /// A file of requests is uploaded, and its results are two other files: [OpenAI's Batch
    /// API](https://developers.openai.com/api/docs/guides/batch), and Azure's.
    OpenAi,
    /// All requests are in one: [Anthropic's Message Batches](https://platform.claude.com/docs/en/build-with-claude/batch-processing).
    Anthropic,
    /// A file of requests is uploaded, and its results are one other file: [Gemini's Batch
    /// API](https://ai.google.dev/gemini-api/docs/batch-api).
    Gemini,
}

/// Where a provider lists its models.
#[derive(Debug, Clone, Copy)]
pub struct ModelList {
    /// The parts of the path below the base URL.
    pub path: &'static [&'static str],
    /// The parameter that asks for all of them at once.
    pub page: Option<(&'static str, &'static str)>,
}

impl ModelList {
    /// The names in a list; `None` if it is no list, or not the whole of it.
    pub fn names(list: &Value) -> Option<Vec<String>> {
        let is_more = list["has_more"] == true || list["nextPageToken"].is_string();
        let items = ["data", "models"].iter().find_map(|key| list[*key].as_array());
        let name = |item: &Value| {
            let name = item["id"].as_str().or(item["name"].as_str())?;
            Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
        };
        items.filter(|_| !is_more)?.iter().map(name).collect()
    }

    /// Whether a list has a model, also under a name that stands for a dated one: providers do not list all of these. A
    /// server with a single model may answer for any name.
    pub fn has(names: &[String], model: &str) -> bool {
        let stem = model.strip_suffix("-latest").unwrap_or(model);
        let is_variant = |rest: &str| rest.is_empty() || rest.starts_with([':', '@']);
        let is_date = |rest: &str| {
            rest.strip_prefix('-')
                .is_some_and(|date| date.starts_with(|c: char| c.is_ascii_digit()))
        };
        let is_it = |listed: &String| {
            listed.strip_prefix(stem).is_some_and(|rest| is_variant(rest) || is_date(rest))
                || model.strip_prefix(listed.as_str()).is_some_and(is_variant)
        };
        names.len() < 2 || names.iter().any(is_it)
    }
}

/// Makes the request that is posted for a chat request, which has the fields of a chat completion.
pub type Translation = fn(chat: &Map<String, Value>) -> Result<PostedRequest, Inexpressible>;

/// The request that is posted.
#[derive(Debug, Clone, PartialEq)]
pub struct PostedRequest {
    /// The parts of the path below the base URL, not escaped.
    pub path: Vec<String>,
    /// The body.
    pub body: Value,
}

/// The part of a request that an API cannot express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Inexpressible {
    /// A field without a counterpart.
    #[error("it has no counterpart of {field:?}: leave it out of the request")]
    Field {
        /// The field.
        field: &'static str,
    },
    /// A field with a value that has no counterpart.
    #[error("{field:?}: {what}")]
    Value {
        /// The field.
        field: &'static str,
        /// The reason.
        what: &'static str,
    },
    /// A message that has no counterpart.
    #[error("message {number} {what}")]
    Message {
        /// From 1.
        number: usize,
        /// The reason.
        what: &'static str,
    },
    /// Something else than a chat.
    #[error("it has no embeddings: give that model an endpoint of its own")]
    Embedding,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_read_as_the_providers_write_them() {
        let of = |list: Value| ModelList::names(&list);
        let two = Some(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(of(json!({"object": "list", "data": [{"id": "a"}, {"id": "b"}]})), two);
        assert_eq!(of(json!({"models": [{"name": "models/a"}, {"name": "models/b"}]})), two);
        for other in [
            json!({"data": [{"id": "a"}], "has_more": true}),
            json!({"models": [{"name": "models/a"}], "nextPageToken": "t"}),
            json!({"error": {"message": "no"}}),
            json!("no"),
            json!({"data": [{"object": "model"}]}),
        ] {
            assert_eq!(of(other.clone()), None, "{other}");
        }
    }

    #[test]
    fn a_list_has_the_names_that_stand_for_its_models() {
        let names = ["claude-sonnet-4-5-20250929", "gpt-4o", "llama3:latest"].map(str::to_owned);
        for name in
            ["claude-sonnet-4-5", "claude-sonnet-4-5-latest", "gpt-4o", "llama3", "gpt-4o:free"]
        {
            assert!(ModelList::has(&names, name), "{name}");
        }
        for name in ["claude", "gpt-4", "gpt-4o-nano", "gpt-4o-mini", "llama"] {
            assert!(!ModelList::has(&names, name), "{name}");
        }
        assert!(ModelList::has(&names[..1], "anything"));
    }
}
