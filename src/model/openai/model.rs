//! The model itself.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::header::HeaderMap;

use super::batch::Batcher;
use super::batches::{BatchReply, BatchServer};
use super::client::{HttpClient, Surroundings};
use super::reply::HttpReply;
use super::settings::{OpenAiError, OpenAiSettings};
use crate::model::providers::{BatchApi, ModelList, PostedRequest};
use crate::model::{Ask, Batching, Failure, FailureKind, Model, ModelInfo, Response};
use crate::prompt::{Api, Request};

/// Where such servers list their models.
const LIST: ModelList = ModelList { path: &["models"], page: None };

/// Where chats are posted.
const CHATS: &[&str] = &["chat", "completions"];

/// A model served by an OpenAI-compatible API.
pub struct OpenAi {
    client: Arc<HttpClient>,
    batcher: Batcher,
    batches: BatchServer,
}

impl OpenAi {
    /// A model at this base URL. Sends nothing yet.
    ///
    /// # Errors
    /// [`OpenAiError`] if the settings cannot be used.
    pub fn new(settings: OpenAiSettings) -> Result<Self, OpenAiError> {
        let around = Surroundings { tier: Some("service_tier"), ..Surroundings::default() };
        let client = Arc::new(HttpClient::new(&settings, around)?);
        let batches = BatchServer::over(client.clone(), BatchApi::OpenAi);
        Ok(OpenAi { batcher: Batcher::new(client.clone()), batches, client })
    }

    async fn chat(&self, request: &Request) -> Result<Response, Failure> {
        let reply = self.client.post(CHATS, &self.client.in_tier(request.body())).await?;
        self.read(reply)
    }

    fn read(&self, reply: HttpReply) -> Result<Response, Failure> {
        let secrets = &self.client.endpoint.secrets;
        reply.into_body(secrets)?.into_response(secrets)
    }
}

impl Batching for OpenAi {
    fn server(&self) -> &BatchServer {
        &self.batches
    }

    fn posted(&self, request: &Request) -> Result<PostedRequest, Failure> {
        let path = CHATS.iter().map(|part| (*part).to_owned()).collect();
        Ok(PostedRequest { path, body: request.body().clone() })
    }

    fn answer_in(&self, _request: &Request, reply: &BatchReply) -> Result<Response, Failure> {
        let BatchReply { status, body } = reply.clone();
        let mut response = self.read(HttpReply::new(status, HeaderMap::new(), body))?;
        self.client.endpoint.secrets.strike_response(&mut response);
        Ok(response)
    }
}

impl Model for OpenAi {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            kind: "openai".to_owned(),
            source: Some(self.client.endpoint.source.clone()),
            simulated: false,
        }
    }

    fn models_without<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Option<Vec<String>>> {
        Box::pin(self.client.models_without(LIST, model))
    }

    fn may_refuse(&self) -> bool {
        true
    }

    fn batching(&self, request: &Request) -> Option<&dyn Batching> {
        (request.api() == Api::Chat).then_some(self)
    }

    /// Must be called within a tokio runtime.
    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        Box::pin(async move {
            let mut response = match ask.request.api() {
                Api::Chat => self.chat(ask.request).await,
                Api::Tool => Err(Failure::new(FailureKind::Rejected, "a tool is not a model")),
                Api::Embedding => self.batcher.ask(ask.request).await,
            }?;
            self.client.endpoint.secrets.strike_response(&mut response);
            Ok(response)
        })
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("source", &self.client.endpoint.source).finish()
    }
}
