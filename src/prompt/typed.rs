//! Typed requests. Each is destructured exhaustively on its way into the canonical request, so that
//! a new field does not compile until someone decides about it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::request::{Request, RequestError};

/// The speaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions.
    System,
    /// The person or program that asks.
    User,
    /// The model.
    Assistant,
}

/// One message of a chat.
///
/// A single part is sent as a string, several as a list of text parts. The log stores each part
/// once, so a long text that many prompts share belongs in a part of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The speaker.
    pub role: Role,
    /// The texts of the message.
    pub parts: Vec<String>,
}

impl Message {
    /// A message with a single text.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Message { role, parts: vec![text.into()] }
    }

    fn into_json(self) -> Value {
        let Message { role, mut parts } = self;
        let content = if parts.len() == 1 {
            Value::String(parts.remove(0))
        } else {
            parts.into_iter().map(|text| json!({"type": "text", "text": text})).collect()
        };
        json!({"role": role, "content": content})
    }
}

/// A chat completion request (OpenAI API reference, "Create chat completion").
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// The model's name.
    pub model: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// 0 to 2; left to the provider when `None`.
    pub temperature: Option<f64>,
    /// 0 to 1; left to the provider when `None`.
    pub top_p: Option<f64>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u32>,
    /// Texts that end the answer.
    pub stop: Vec<String>,
    /// The provider's own sampling seed.
    pub seed: Option<u64>,
    /// Tools offered to the model, as the provider spells them.
    pub tools: Vec<Value>,
    /// The shape the answer must have, as the provider spells it.
    pub response_format: Option<Value>,
    /// Any other parameter, known to the provider or not.
    pub extra: Map<String, Value>,
}

impl ChatRequest {
    /// One user message to a model, with the provider's default parameters.
    pub fn new(model: &str, prompt: impl Into<String>) -> Self {
        let messages = vec![Message::new(Role::User, prompt)];
        ChatRequest { model: model.to_owned(), messages, ..ChatRequest::default() }
    }

    /// The canonical request.
    ///
    /// # Errors
    /// [`RequestError`], as [`Request::from_body`].
    pub fn into_request(self) -> Result<Request, RequestError> {
        let ChatRequest {
            model,
            messages,
            temperature,
            top_p,
            max_tokens,
            stop,
            seed,
            tools,
            response_format,
            extra,
        } = self;
        let mut body = extra;
        body.insert("model".into(), model.into());
        let messages = messages.into_iter().map(Message::into_json).collect();
        body.insert("messages".into(), Value::Array(messages));
        put_number(&mut body, "temperature", temperature)?;
        put_number(&mut body, "top_p", top_p)?;
        put(&mut body, "max_tokens", max_tokens);
        put(&mut body, "stop", (!stop.is_empty()).then_some(stop));
        put(&mut body, "seed", seed);
        put(&mut body, "tools", (!tools.is_empty()).then_some(tools));
        put(&mut body, "response_format", response_format);
        Request::from_body(Value::Object(body))
    }
}

/// An embedding request for one text. Each text has its own address; batches are made on the way to
/// the provider.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EmbeddingRequest {
    /// The model's name.
    pub model: String,
    /// The text.
    pub input: String,
    /// How many components the vector should have.
    pub dimensions: Option<u32>,
}

impl EmbeddingRequest {
    /// The canonical request.
    ///
    /// # Errors
    /// [`RequestError`], as [`Request::from_body`].
    pub fn into_request(self) -> Result<Request, RequestError> {
        let EmbeddingRequest { model, input, dimensions } = self;
        let mut body = Map::new();
        body.insert("model".into(), model.into());
        body.insert("input".into(), input.into());
        put(&mut body, "dimensions", dimensions);
        Request::from_body(Value::Object(body))
    }
}

fn put(body: &mut Map<String, Value>, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(field.to_owned(), value.into());
    }
}

/// JSON has no NaN and no infinity; the default conversion would silently send `null`.
fn put_number(
    body: &mut Map<String, Value>,
    field: &'static str,
    value: Option<f64>,
) -> Result<(), RequestError> {
    match value {
        Some(value) if !value.is_finite() => {
            Err(RequestError::NotFinite { field, value: value.to_string() })
        }
        _ => {
            put(body, field, value);
            Ok(())
        }
    }
}
