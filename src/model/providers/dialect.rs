//! What retold knows about an API: how a prompt is read out of a request, where a stream ends, how an
//! answer is read out of a reply, what an error looks like, who serves it, and how a study asks it.

use std::fmt;

use serde_json::{Map, Value};

use super::conversation::Conversation;
use super::ending::Ending;
use super::fault::ReaderFault;
use super::provider::Provider;
use super::reply_parts::openai_error;
use super::study::StudyAccess;
use super::url_fields::UrlFields;
use crate::model::{ExchangeResponseError, Response};
use crate::prompt::Api;

/// An API, all that is known of it in one place. [`Other`](super::Other) stands for all that have no file of their
/// own.
pub trait Dialect: Send + Sync + fmt::Debug {
    /// Its name, as calls begin with it: `openai.chat`.
    fn name(&self) -> &'static str;

    /// The version of its [`transport`](Self::transport) fields; a change to them is a new version.
    fn version(&self) -> u32 {
        1
    }

    /// Its providers: their names, their addresses, and what their SDKs read from the environment. The
    /// names of all providers are different. None if another API has them.
    fn providers(&self) -> &'static [Provider] {
        &[]
    }

    /// The hosts at which it is served, besides those of its providers; `*` stands for any text that is not empty.
    fn hosts(&self) -> &'static [&'static str] {
        &[]
    }

    /// How a study asks it; `None` if studies cannot.
    fn study(&self) -> Option<&'static StudyAccess> {
        None
    }

    /// The ends of the paths, below an upstream, to which requests of this API are posted; `*` stands for any text that
    /// is not empty.
    fn paths(&self) -> &'static [&'static str];

    /// The requests that need no address in their prompt, because a study would ask the same.
    fn plain(&self) -> Option<PlainAddress> {
        None
    }

    /// The headers of a request that may change its answer, in lower case.
    fn headers(&self) -> &'static [&'static str] {
        &[]
    }

    /// The fields of a body that cannot change the answer, each with the reason.
    fn transport(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The fields of a request's body in which its API documents a credential, as in `tools.*.authorization`: `*` stands for any item
    /// or field, and `{key}` for each field whose name means a key. They are never recorded, whatever API a request is for:
    /// gateways take the fields of several.
    fn credentials(&self) -> &'static [&'static str] {
        &[]
    }

    /// The ends of the paths whose answers bring a credential, each with the fields that hold it, written like
    /// [`credentials`](Self::credentials).
    fn credential_paths(&self) -> &'static [(&'static str, &'static [&'static str])] {
        &[]
    }

    /// The `type` of the frame by which a client asks over a WebSocket, if the API answers prompts over one.
    fn asking_frame(&self) -> Option<&'static str> {
        None
    }

    /// The fields of its answers with URLs that a client may ask next.
    fn url_fields(&self) -> &'static [UrlFields] {
        &[]
    }

    /// Passes on each id in a stored body that the client may have invented, and that only shows which others are equal to
    /// it. None of them names data that a server has stored.
    fn invented_ids(&self, _body: &mut Value, _each: &mut dyn FnMut(&mut String)) {}

    /// Whether the answer is asked for as a stream.
    fn is_streamed(&self, _path: &str, body: &Map<String, Value>) -> bool {
        body.get("stream").and_then(Value::as_bool).unwrap_or(false)
    }

    /// The prompt of the body, as a request is stored: a chat has its conversation in `messages`,
    /// an embedding its text in `input`. `None` if the body is not one of this API.
    fn prompt(&self, body: Map<String, Value>) -> Option<(Api, Map<String, Value>)>;

    /// The body that [`prompt`](Self::prompt) was given, without transport fields except the one
    /// that asks for a stream.
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

    /// Adds the conversation of a request, as it is stored, to an empty one; nothing if the API has none.
    /// `messages` is the conversation in `body`.
    fn converse(&self, _body: &Map<String, Value>, _messages: &[Value], _chat: &mut Conversation) {}

    /// The reply in a body that is not JSON, if the API sends such.
    fn of_bytes(&self, _body: &[u8]) -> Option<Value> {
        None
    }

    /// Whether this is the data of the event that ends a stream: its mark, or an error. Never, if it has no streams.
    fn is_last(&self, _data: &str) -> bool {
        false
    }

    /// Whether a body that is a list has the pieces of a reply, as if they were the events of a stream.
    fn streams_lists(&self) -> bool {
        false
    }

    /// The reply that a stream's events amount to, as if it had not been streamed.
    fn assemble(&self, _events: &[Value]) -> Value {
        Value::Null
    }

    /// How a reply ended. `has_end` says whether it is whole by itself, not being a stream, or has the event
    /// that ends a stream ([`is_last`](Self::is_last)).
    fn ending(&self, reply: &Value, has_end: bool) -> Ending;

    /// The name of the API for people, if an object is a whole reply of it. `fields` are those besides
    /// `content`. `None` if its replies cannot be told from others.
    fn reply_name(
        &self,
        _fields: &Map<String, Value>,
        _content: Option<&Value>,
    ) -> Option<&'static str> {
        None
    }

    /// Whether a whole reply can be pasted as the `response` of an exchanges file.
    fn is_pasted(&self) -> bool {
        false
    }

    /// The answer in a reply.
    ///
    /// # Errors
    /// [`NotRead`] if it has none.
    fn answer(&self, reply: Value) -> Result<Response, NotRead>;

    /// The body of an error, in OpenAI's words unless the API has its own.
    fn error(&self, problem: &Problem<'_>) -> Value {
        openai_error(problem)
    }
}

/// Why a reply is not read. Its bytes are kept all the same.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    /// It has no answer where the API has it.
    #[error(transparent)]
    NoAnswer(#[from] ExchangeResponseError),
    /// It has several vectors of different lengths: the whole body is the text.
    #[error("it has {0} vectors, which are not of one length")]
    Several(usize),
    /// It is one of many forms at its path, which no file describes: the whole body is the text.
    #[error("its form is not described")]
    Undescribed,
    /// It is not in the form of this API, though it may be in that of another.
    #[error("it is not in the form of its API")]
    OtherForm(Value),
    /// It lacks a part that its API has.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// It does not have the form that the API sends.
    #[error("{0}")]
    Shape(#[from] serde_json::Error),
    /// The reader stopped at it.
    #[error(transparent)]
    Fault(#[from] ReaderFault),
}

/// An error for a client, in the words of its API.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The HTTP status.
    pub status: u16,
    /// A word for it, such as `retold_not_recorded`.
    pub code: &'static str,
    /// What happened, and what to do.
    pub message: &'a str,
}

/// Where a request goes that a study would send as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlainAddress {
    /// The kind of request.
    pub api: Api,
    /// The name of the upstream.
    pub upstream: &'static str,
    /// The path below it.
    pub path: &'static str,
}
