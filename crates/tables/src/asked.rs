//! A request as the tables show it.

use std::borrow::Cow;

use retold::model::providers;
use retold::prompt::{Api, Request};
use serde_json::{Map, Value};

use crate::messages::{Listing, content_hash};

/// A longer text among the parameters is listed as a content: the system prompt of some APIs, the description of tools.
const LONG: usize = 128;

/// A request as the tables show it.
#[derive(Debug, Clone)]
pub(crate) struct AskedOf {
    pub(crate) provider: Option<String>,
    pub(crate) operation: String,
    pub(crate) model: Option<String>,
    pub(crate) parameters: String,
    pub(crate) listing: Listing,
    /// The texts that `parameters` names as contents.
    pub(crate) long: Vec<String>,
}

impl AskedOf {
    pub(crate) fn new(request: &Request, listing: Listing) -> Self {
        let body = request.body();
        let address = &body["http"];
        let named = address["dialect"].as_str().and_then(|it| it.split('@').next());
        let plain = match request.api() {
            Api::Embedding => "openai.embeddings",
            Api::Tool => "tool",
            _ => "openai.chat",
        };
        let operation = named.unwrap_or(plain).to_owned();
        let mut long = Vec::new();
        let parameters = body.as_object().map(|fields| parameters(fields, &mut long));
        AskedOf {
            provider: address["upstream"].as_str().map(str::to_owned),
            operation,
            model: request.model().map(str::to_owned),
            parameters: Value::Object(parameters.unwrap_or_default()).to_string(),
            listing,
            long,
        }
    }

    /// The upstream of a program's request whose address is that of its API.
    pub(crate) fn plain_upstream(&self) -> Option<&'static str> {
        providers::by_name(&self.operation)?.plain().map(|plain| plain.upstream)
    }
}

/// A body without its messages, its model and its address; long texts are moved out.
fn parameters(body: &Map<String, Value>, long: &mut Vec<String>) -> Map<String, Value> {
    let is_listed = |name: &str| ["messages", "model", "http"].contains(&name);
    let kept = body.iter().filter(|(name, _)| !is_listed(name));
    kept.map(|(name, value)| {
        let text: Cow<'_, str> = match value {
            Value::String(text) => text.into(),
            value => value.to_string().into(),
        };
        let value = match text.len() > LONG {
            true => {
                let moved = serde_json::json!({"content": content_hash(&text)});
                long.push(text.into_owned());
                moved
            }
            false => value.clone(),
        };
        (name.clone(), value)
    })
    .collect()
}
