//! Any service that speaks the OpenAI API: chat completions and embeddings.
//!
//! - [`OpenAiSettings`]: where it is, with which key, how long one attempt may take.
//! - One [`answer`](crate::model::Model::answer) is one attempt; nothing here tries again.
//! - Embeddings asked for at the same time travel together, up to 100 texts a request.
//! - What an answer means is decided by pure functions of status, headers and body.
//! - What its answers look like is known without the feature `openai`, too: exchanges files hold them.
//! - The key and any password of the base URL are struck out of every text that comes back.

#[cfg(feature = "openai")]
mod batch;
#[cfg(feature = "openai")]
mod body;
pub(super) mod chat;
#[cfg(feature = "openai")]
mod client;
pub(super) mod embeddings;
pub(super) mod mend;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod reply;
#[cfg(feature = "openai")]
mod retry_after;
#[cfg(feature = "openai")]
mod settings;

pub use chat::NotACompletion;
#[cfg(feature = "openai")]
pub use model::OpenAi;
#[cfg(feature = "openai")]
pub use settings::{OpenAiError, OpenAiSettings};
