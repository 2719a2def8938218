//! Models that talk to a misbehaving server, answer from a file, or are simulated.

mod embeddings;
mod every_provider;
mod key;
mod misbehaving;
mod retry;
mod scripted;
mod simulated;

use std::time::Duration;

use retold::id::CallPath;
use retold::model::openai::OpenAiSettings;
use retold::model::{Ask, Failure, Model, NamedUrl, OpenAi, Response};
use retold::prompt::{ChatRequest, Message, Request, Role};

use crate::support::server::Server;

/// A key that cannot be mistaken for anything else.
const KEY: &str = "sk-test-5ecre7Key0123456789";

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn openai(server: &Server) -> OpenAi {
    openai_within(server, PATIENCE)
}

fn openai_within(server: &Server, timeout: Duration) -> OpenAi {
    let key = Some(KEY.into());
    OpenAi::new(OpenAiSettings {
        base_url: NamedUrl::from_user(server.base_url()),
        key,
        timeout,
        tier: None,
    })
    .unwrap()
}

fn chat(text: &str) -> Request {
    ChatRequest {
        model: "test-model".into(),
        messages: vec![Message::new(Role::User, text)],
        temperature: Some(1.0),
        ..ChatRequest::default()
    }
    .into_request()
    .unwrap()
}

async fn ask(model: &dyn Model, request: &Request, attempt: u32) -> Result<Response, Failure> {
    ask_at(model, request, "solve/900", 0, attempt).await
}

async fn ask_at(
    model: &dyn Model,
    request: &Request,
    call: &str,
    sample: u32,
    attempt: u32,
) -> Result<Response, Failure> {
    let call = CallPath::new(call).unwrap();
    model.answer(Ask { request, call: &call, sample, attempt }).await
}
