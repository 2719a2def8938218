//! Any service that speaks the OpenAI API: chat completions and embeddings.
//!
//! - [`OpenAiSettings`]: where it is, with which key, how long one attempt may take.
//! - One [`answer`](crate::model::Model::answer) is one attempt; nothing here tries again.
//! - Embeddings asked for at the same time travel together, up to 100 texts a request.
//! - What an answer means is decided by pure functions of status, headers and body.
//! - The key and any password of the base URL are struck out of every text that comes back.

mod batch;
mod body;
pub(super) mod chat;
mod client;
pub(super) mod embeddings;
pub(super) mod mend;
mod model;
mod reply;
mod retry_after;
mod settings;

pub use chat::NotACompletion;
pub use model::OpenAi;
pub use settings::{OpenAiError, OpenAiSettings};
