//! Services that speak another API than OpenAI's chat completions.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::header::HeaderMap;

use super::batches::{BatchReply, BatchServer};
use super::client::{HttpClient, Surroundings};
use super::model::OpenAi;
use super::reply::HttpReply;
use super::settings::{OpenAiError, OpenAiSettings};
use crate::model::providers::{
    Dialect, Inexpressible, PostedRequest, StudyAccess, Translation, asked_by,
};
use crate::model::{Answerer, Ask, Batching, Failure, FailureKind, Model, ModelInfo, Response};
use crate::prompt::{Api, Request};

/// A model served by an API other than chat completions.
#[derive(Debug)]
struct DialectModel {
    client: Arc<HttpClient>,
    batches: BatchServer,
    access: &'static StudyAccess,
    translation: Translation,
    dialect: &'static dyn Dialect,
}

/// Why a request is not posted.
#[derive(Debug, thiserror::Error)]
#[error("the API of kind {kind}: {source}")]
struct NotPosted {
    kind: &'static str,
    source: Inexpressible,
}

/// The model at a server, which a study asks in this way. Sends nothing yet.
///
/// # Errors
/// [`OpenAiError`] if the settings cannot be used.
pub fn at_server(
    access: &'static StudyAccess,
    settings: OpenAiSettings,
) -> Result<Answerer, OpenAiError> {
    Ok(match access.translation {
        None => Arc::new(OpenAi::new(settings)?),
        Some(translation) => {
            let around = Surroundings {
                key: access.key_header,
                others: access.headers,
                tier: access.tier_field,
            };
            let client = Arc::new(HttpClient::new(&settings, around)?);
            let batches = BatchServer::over(client.clone(), access.batches);
            let dialect = asked_by(access);
            Arc::new(DialectModel { client, batches, access, translation, dialect })
        }
    })
}

impl DialectModel {
    /// The request to post; otherwise why it cannot be expressed.
    fn translate(&self, request: &Request) -> Result<PostedRequest, NotPosted> {
        let fields = request.body().as_object().filter(|_| request.api() == Api::Chat);
        let posted = match fields {
            Some(fields) => (self.translation)(fields),
            None => Err(Inexpressible::Embedding),
        };
        posted.map_err(|source| NotPosted { kind: self.access.kind, source })
    }

    fn try_post(&self, request: &Request) -> Result<PostedRequest, Failure> {
        self.translate(request).map_err(|e| Failure::new(FailureKind::Rejected, e.to_string()))
    }

    async fn chat(&self, request: &Request) -> Result<Response, Failure> {
        let PostedRequest { path, body } = self.try_post(request)?;
        self.read(self.client.post(&path, &self.client.in_tier(&body)).await?)
    }

    fn read(&self, reply: HttpReply) -> Result<Response, Failure> {
        let secrets = &self.client.endpoint.secrets;
        let mut response = reply.into_body(secrets)?.into_answer_of(self.dialect, secrets)?;
        secrets.strike_response(&mut response);
        Ok(response)
    }
}

impl Batching for DialectModel {
    fn server(&self) -> &BatchServer {
        &self.batches
    }

    fn posted(&self, request: &Request) -> Result<PostedRequest, Failure> {
        self.try_post(request)
    }

    fn answer_in(&self, _request: &Request, reply: &BatchReply) -> Result<Response, Failure> {
        let BatchReply { status, body } = reply.clone();
        self.read(HttpReply::new(status, HeaderMap::new(), body))
    }
}

impl Model for DialectModel {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            kind: self.access.kind.to_owned(),
            source: Some(self.client.endpoint.source.clone()),
            simulated: false,
        }
    }

    fn refuses(&self, request: &Request) -> Option<String> {
        self.translate(request).err().map(|error| error.to_string())
    }

    fn models_without<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Option<Vec<String>>> {
        Box::pin(self.client.models_without(self.access.list, model))
    }

    fn may_refuse(&self) -> bool {
        true
    }

    fn batching(&self, request: &Request) -> Option<&dyn Batching> {
        (request.api() == Api::Chat).then_some(self)
    }

    fn answer<'a>(&'a self, ask: Ask<'a>) -> BoxFuture<'a, Result<Response, Failure>> {
        Box::pin(self.chat(ask.request))
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("source", &self.endpoint.source).finish()
    }
}
