//! How a study asks an API.

use serde_json::{Map, Value};

use super::provider::Provider;

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
    /// How a chat is translated; `None` if requests are posted as a study writes them, which is as chat
    /// completions and embeddings.
    pub translation: Option<Translation>,
}

/// What is posted for a chat request, which has the fields of a chat completion.
pub type Translation = fn(chat: &Map<String, Value>) -> Result<PostedRequest, Inexpressible>;

/// What is posted.
#[derive(Debug, Clone, PartialEq)]
pub struct PostedRequest {
    /// The parts of the path below the base URL, not escaped.
    pub path: Vec<String>,
    /// The body.
    pub body: Value,
}

/// What of a request an API cannot express.
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
        /// What is wrong.
        what: &'static str,
    },
    /// A message that has no counterpart.
    #[error("message {number} {what}")]
    Message {
        /// From 1.
        number: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Something else than a chat.
    #[error("it has no embeddings: give that model an endpoint of its own")]
    Embedding,
}
