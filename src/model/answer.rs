//! The trait for models, the question, and the answer.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "openai")]
use super::batching::Batching;
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
    /// What this model is, for the log and for people.
    fn info(&self) -> ModelInfo;

    /// One attempt to get an answer. Never retries by itself.
    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>>;

    /// Why no request like this one can be made to this model, if that is known without asking: its
    /// API has no counterpart of a parameter, say.
    fn refuses(&self, request: &Request) -> Option<String> {
        let _ = request;
        None
    }

    /// The models that the server has which would answer for this name, if it lists them and this one is not among them.
    fn models_without<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Option<Vec<String>>> {
        let _ = model;
        Box::pin(async { None })
    }

    /// Whether a server answers that may refuse all requests of a kind: the first one is asked alone.
    fn may_refuse(&self) -> bool {
        false
    }

    /// How a request is asked by batch; `None` if nobody takes it so.
    #[cfg(feature = "openai")]
    fn batching(&self, request: &Request) -> Option<&dyn Batching> {
        let _ = request;
        None
    }

    /// The names of the parts of this model, if it has parts, that have received no request so far.
    /// Such a name may be misspelt.
    fn never_asked(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A shared model.
pub type Answerer = Arc<dyn Model>;

/// Which model answers a run; recorded when the run starts. Never holds a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// `openai`, `scripted` or `simulated`, followed by `+human` if a person answers some
    /// questions.
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
    /// The request.
    pub request: &'a Request,
    /// Where in the experiment it is asked.
    pub call: &'a CallPath,
    /// Which answer to the question this is (the n-th, from 0).
    pub sample: Sample,
    /// Which attempt at this answer this is, from 0.
    pub attempt: u32,
}

/// The tokens and cost of an answer, as the provider counts them. Whatever else the provider
/// reports about them is in `extra.usage` of the [`Response`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
pub struct Usage {
    /// Tokens of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the answer, including those of its reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// How many of the request's tokens the provider had in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// How many of the answer's tokens are reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The provider's charge, in its own unit (OpenRouter: US dollars).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Usage {
    /// Whether tokens were counted at all.
    pub fn is_counted(&self) -> bool {
        self.prompt_tokens.is_some() || self.completion_tokens.is_some()
    }
}

/// A whole answer: fields for the parts with a known form, and `extra` for everything else.
///
/// Everything that a provider says about an answer is kept once, unless it says nothing: null, an
/// empty list, a zero in the usage that has no field (`"audio_tokens": 0`), a total that is the sum
/// of its parts, and what every reply of an API has (`"object": "chat.completion"`, `"role":
/// "assistant"`, `"index": 0`) are left out. A part that is absent from `extra` was therefore absent,
/// null, empty or zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The answer itself.
    pub content: Content,
    /// Why the answer ended (`stop`, `length`), as the provider spells it.
    pub finish_reason: Option<String>,
    /// Tokens and cost, if counted.
    pub usage: Option<Usage>,
    /// The model that the provider reports, which may be more exact than the requested name.
    pub model: Option<String>,
    /// The provider's id of this answer.
    pub id: Option<String>,
    /// The provider's name for the configuration that it ran with.
    pub system_fingerprint: Option<String>,
    /// The service tier that answered, on which the price depends.
    pub service_tier: Option<String>,
    /// The other parts that say something: those of the message under their own names (`refusal`, `tool_calls`,
    /// `reasoning_content`, `annotations`, `audio`), `logprobs`, and [retold's own
    /// parts](super::RESERVED_PARTS).
    pub extra: Map<String, Value>,
}

impl Response {
    /// An answer that is only a text.
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
