//! Services that speak another API than OpenAI's chat completions.

use std::error::Error;
use std::fmt;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::client::{Headers, HttpClient};
use super::settings::{OpenAiError, OpenAiSettings};
use crate::model::{Ask, Failure, FailureKind, Model, ModelInfo, Response};
use crate::prompt::{Api, Request};

/// How an API is spoken: pure functions, without a network.
pub trait Speech: Send + Sync + fmt::Debug {
    /// The name of the API in a log's [`ModelInfo`]: `anthropic`.
    fn kind(&self) -> &'static str;

    /// The header with the key, in lower case; `None` for `Authorization: Bearer KEY`.
    fn key_header(&self) -> Option<&'static str> {
        None
    }

    /// Other headers that each request needs, with names in lower case.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What is posted for a chat request, which has the fields of a chat completion.
    ///
    /// # Errors
    /// [`Inexpressible`].
    fn posted(&self, chat: &Map<String, Value>) -> Result<Posted, Inexpressible>;

    /// The answer in a reply.
    ///
    /// # Errors
    /// If it is not one of this API.
    fn answer(&self, reply: Value) -> Result<Response, Box<dyn Error + Send + Sync>>;
}

/// What is posted.
#[derive(Debug, Clone, PartialEq)]
pub struct Posted {
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

/// A model served by an API other than chat completions.
#[derive(Debug)]
pub struct Spoken {
    client: HttpClient,
    speech: Box<dyn Speech>,
}

impl Spoken {
    /// A model at this base URL. Sends nothing yet.
    ///
    /// # Errors
    /// [`OpenAiError`] if the settings cannot be used.
    pub fn new(speech: Box<dyn Speech>, settings: OpenAiSettings) -> Result<Self, OpenAiError> {
        let headers = Headers { key: speech.key_header(), others: speech.headers() };
        Ok(Spoken { client: HttpClient::new(&settings, headers)?, speech })
    }

    /// What is posted for a request; otherwise why it cannot be expressed.
    fn posted(&self, request: &Request) -> Result<Posted, String> {
        let fields = request.body().as_object().filter(|_| request.api() == Api::Chat);
        let posted = match fields {
            Some(fields) => self.speech.posted(fields),
            None => Err(Inexpressible::Embedding),
        };
        posted.map_err(|what| format!("the API of kind {}: {what}", self.speech.kind()))
    }

    async fn chat(&self, request: &Request) -> Result<Response, Failure> {
        let rejected = |message| Failure::new(FailureKind::Rejected, message);
        let Posted { path, body } = self.posted(request).map_err(rejected)?;
        let reply = self.client.post(&path, &body).await?;
        let body = reply.into_body(&self.client.endpoint.secrets)?;
        self.speech.answer(body.value).map_err(|what| {
            let message = format!("the answer is not one of this API: {what}");
            Failure::new(FailureKind::Malformed, message)
        })
    }
}

impl Model for Spoken {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            kind: self.speech.kind().to_owned(),
            source: Some(self.client.endpoint.source.clone()),
            simulated: false,
        }
    }

    fn refuses(&self, request: &Request) -> Option<String> {
        self.posted(request).err()
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        Box::pin(async move {
            let mut response = self.chat(ask.request).await?;
            self.client.endpoint.secrets.strike_response(&mut response);
            Ok(response)
        })
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("source", &self.endpoint.source).finish()
    }
}
