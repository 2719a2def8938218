//! What retold knows about each API: how a prompt is read out of a request, where a stream ends, how
//! an answer is read out of a reply, and what an error looks like. One file per API.

mod anthropic;
mod ending;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_embeddings;
mod openai_responses;
mod other;
mod ours;

use std::fmt;

use retold::model::openai::Speech;
use retold::model::{ExchangeResponse, ExchangeResponseError, Response, keep_exact};
use retold::prompt::Api;
use serde_json::{Map, Value, json};

pub use ending::Ending;
pub use other::OTHER;

/// An API. `other` stands for all that have no file of their own.
pub trait Dialect: Send + Sync + fmt::Debug {
    /// Its name, as calls begin with it: `openai.chat`.
    fn name(&self) -> &'static str;

    /// The version of its [`transport`](Self::transport) fields; a change to them is a new version.
    fn version(&self) -> u32 {
        1
    }

    /// Whether a POST to this path, below an upstream, is a request of this API.
    fn is_at(&self, path: &str) -> bool;

    /// The upstream and path of requests that need no address in their prompt, because a study of
    /// our own would ask the same.
    fn is_plain(&self, _upstream: &str, _path: &str) -> bool {
        false
    }

    /// The fields of a body that cannot change what is answered, each with the reason.
    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Whether the answer is asked for as a stream.
    fn is_streamed(&self, _path: &str, body: &Map<String, Value>) -> bool {
        body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    /// What the body asks, as a request is stored: a chat has its conversation in `messages`, an
    /// embedding its text in `input`. `None` if the body is not one of this API.
    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)>;

    /// The body that [`prompt`](Self::prompt) was given, without transport fields but for what asks
    /// for a stream.
    fn body(
        &self,
        mut prompt: Map<String, Value>,
        _path: &str,
        is_streamed: bool,
    ) -> Map<String, Value> {
        if is_streamed {
            prompt.insert("stream".to_owned(), true.into());
        }
        prompt
    }

    /// Whether this is the data of the event that ends a stream: its mark, or an error.
    fn is_last(&self, data: &str) -> bool;

    /// The reply that a stream's events amount to, as if it had not been streamed.
    fn assembled(&self, events: &[Value]) -> Value;

    /// How a reply ended. `has_end` says whether it is whole by itself, not being a stream, or has the event
    /// that ends a stream ([`is_last`](Self::is_last)).
    fn ending(&self, reply: &Value, has_end: bool) -> Ending;

    /// The answer in a reply.
    ///
    /// # Errors
    /// [`NotRead`] if it has none.
    fn answer(&self, reply: Value) -> Result<Response, NotRead>;

    /// The body of an error.
    fn error(&self, problem: &Problem<'_>) -> Value;
}

/// Why a reply is not read. Its bytes are kept all the same.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    /// It has no answer where the API has it.
    #[error(transparent)]
    NoAnswer(#[from] ExchangeResponseError),
    /// It has no single answer: the whole body is the text.
    #[error("the whole reply is its text")]
    Whole,
    /// It lacks what its API has.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// It is not what the API sends.
    #[error("{0}")]
    Shape(#[from] serde_json::Error),
}

/// What a client is told in the words of its API.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The HTTP status.
    pub status: u16,
    /// A word for it, such as `retold_not_recorded`.
    pub code: &'static str,
    /// What happened, and what to do.
    pub message: &'a str,
}

/// All APIs that have a file of their own.
const DIALECTS: &[&dyn Dialect] = &[
    &openai_chat::OpenAiChat,
    &openai_embeddings::OpenAiEmbeddings,
    &openai_responses::OpenAiResponses,
    &anthropic::Anthropic,
    &gemini::Gemini,
    &ollama::Ollama,
];

/// The API of a POST to a path below an upstream.
pub fn at(path: &str) -> &'static dyn Dialect {
    DIALECTS.iter().find(|dialect| dialect.is_at(path)).copied().unwrap_or(&OTHER)
}

/// The APIs that studies of our own can ask, each by the same file that reads what programs ask of
/// it: by the name of the upstream that it belongs to, `responses` for OpenAI's newer API.
pub fn speech(name: &str) -> Option<Box<dyn Speech>> {
    match name {
        "anthropic" => Some(Box::new(anthropic::Anthropic)),
        "gemini" => Some(Box::new(gemini::Gemini)),
        "responses" => Some(Box::new(openai_responses::OpenAiResponses)),
        _ => None,
    }
}

/// An answer from the fields that a line of an exchanges file has, or from a whole reply that such a
/// line may have.
fn read(reply: Value) -> Result<Response, NotRead> {
    let line: ExchangeResponse = serde_json::from_value(reply)?;
    let mut response = Response::try_from(line)?;
    keep_exact(&mut response.extra);
    Ok(response)
}

/// An error as OpenAI and the many APIs like it write it.
fn openai_error(problem: &Problem<'_>) -> Value {
    let Problem { status: _, code, message } = problem;
    json!({"error": {"message": message, "type": code, "param": null, "code": code}})
}

/// Adds a text of a stream to what it continues.
fn append(fields: &mut Map<String, Value>, name: &str, more: &str) {
    match fields.get_mut(name) {
        Some(Value::String(text)) => text.push_str(more),
        _ => {
            fields.insert(name.to_owned(), more.into());
        }
    }
}

/// A provider's counts of tokens, in the order of our own usage.
#[derive(Default)]
struct TokenCounts {
    prompt: Option<u64>,
    completion: Option<u64>,
    cached: Option<u64>,
    reasoning: Option<u64>,
}

impl TokenCounts {
    fn json(&self) -> Value {
        let TokenCounts { prompt, completion, cached, reasoning } = self;
        json!({"prompt_tokens": prompt, "completion_tokens": completion, "cached_tokens": cached,
            "reasoning_tokens": reasoning})
    }
}

/// A tool call as chat completions have it, whose arguments are the text of a JSON object.
fn tool_call(id: &Value, name: &Value, arguments: &Value) -> Value {
    let arguments = match arguments {
        Value::String(text) => text.clone(),
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    };
    let mut call = json!({"type": "function", "function": {"name": name, "arguments": arguments}});
    if id.is_string() {
        call["id"] = id.clone();
    }
    call
}

/// The `type` of an event.
fn kind_of(data: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    serde_json::from_str::<Kind>(data).ok().map(|event| event.kind)
}
