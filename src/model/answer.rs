//! The trait, the question and the answer.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::failure::Failure;
pub use crate::content::Content;
use crate::id::{CallPath, Sample};
use crate::prompt::Request;

/// Someone who answers requests.
///
/// ```
/// use futures::FutureExt;
/// use futures::future::BoxFuture;
/// use retold::model::{Ask, Failure, Model, ModelInfo, Response};
///
/// /// Repeats the last message.
/// struct Echo;
///
/// impl Model for Echo {
///     fn info(&self) -> ModelInfo {
///         ModelInfo { kind: "echo".to_owned(), source: None, simulated: true }
///     }
///
///     fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
///         let said = ask.request.messages().pop().map_or(String::new(), |(_, text)| text);
///         async move { Ok(Response::text(said)) }.boxed()
///     }
/// }
/// ```
pub trait Model: Send + Sync {
    /// What it is, for the log and for people.
    fn info(&self) -> ModelInfo;

    /// One attempt to get an answer. Never retries by itself.
    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>>;

    /// The names of the parts of it to which no request has gone so far, if it has such parts: perhaps a name is
    /// misspelt.
    fn never_asked(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A shared model.
pub type Answerer = Arc<dyn Model>;

/// Which model answers a run; recorded when the run starts. Never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// `openai`, `scripted` or `simulated`; with `+human` if a person answers some questions.
    pub kind: String,
    /// Where the answers come from: a base URL without credentials, a file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether the answers are made up by a program. Every result shown says so.
    pub simulated: bool,
}

/// One attempt at a question.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// What is asked.
    pub request: &'a Request,
    /// Where in the experiment.
    pub call: &'a CallPath,
    /// The n-th answer to it.
    pub sample: Sample,
    /// The n-th attempt at this answer, from 0.
    pub attempt: u32,
}

/// What an answer took, as the provider counts it. What else a provider says of it is in `extra.usage` of the
/// [`Response`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
pub struct Usage {
    /// Tokens of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer, those of its reasoning included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// Of the request's tokens, those that the provider had in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Of the answer's tokens, those of its reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// What the provider charges, in its own unit (OpenRouter: US dollars).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Usage {
    /// Whether tokens were counted at all.
    pub fn is_counted(&self) -> bool {
        self.prompt_tokens.is_some() || self.completion_tokens.is_some()
    }
}

/// An answer, whole: what is known of its form has a field, and everything else is in `extra`.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// What was answered.
    pub content: Content,
    /// Why the answer ended (`stop`, `length`), as the provider spells it.
    pub finish_reason: Option<String>,
    /// Tokens and cost, if counted.
    pub usage: Option<Usage>,
    /// The model as the provider reports it, which may be more exact than what was asked for.
    pub model: Option<String>,
    /// What the provider calls this answer.
    pub id: Option<String>,
    /// What the provider calls the configuration that it ran with.
    pub system_fingerprint: Option<String>,
    /// The tier of service that answered, which its price depends on.
    pub service_tier: Option<String>,
    /// The other parts: those of the message by their names (`refusal`, `tool_calls`, `reasoning_content`,
    /// `annotations`, `audio`), `logprobs`, and what the [parts of our own](super::RESERVED_PARTS) hold.
    pub extra: Map<String, Value>,
}

impl Response {
    /// A text and nothing else.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Response {
            content: Content::Text(text.into()),
            finish_reason: None,
            usage: None,
            model: None,
            id: None,
            system_fingerprint: None,
            service_tier: None,
            extra: Map::new(),
        }
    }
}
