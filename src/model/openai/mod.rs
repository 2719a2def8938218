//! Any service that speaks the OpenAI API: chat completions and embeddings.
//!
//! - [`OpenAiSettings`]: the address, the key, and how long one attempt may take.
//! - One [`answer`](crate::model::Model::answer) is one attempt; nothing here retries.
//! - Embeddings requested at the same time are sent together, up to 100 texts per request.
//! - [`at_server`]: the same for a service that speaks another API, asked by the same client: the same limits, the
//!   same care of the key, the same kinds of failure.
//! - Pure functions of status, headers and body interpret the replies.
//! - Facts about the APIs themselves are in [`providers`](super::providers), also without the feature `openai`.
//! - The key and any password of the base URL are struck out of every text that comes back.

#[cfg(feature = "openai")]
mod batch;
#[cfg(feature = "openai")]
pub mod batches;
#[cfg(feature = "openai")]
mod body;
#[cfg(feature = "openai")]
mod client;
#[cfg(feature = "openai")]
mod dialect_model;
#[cfg(feature = "openai")]
mod model;
#[cfg(feature = "openai")]
mod reply;
#[cfg(feature = "openai")]
mod retry_after;
#[cfg(feature = "openai")]
mod settings;

#[cfg(feature = "openai")]
pub use dialect_model::at_server;
#[cfg(feature = "openai")]
pub use model::OpenAi;
#[cfg(feature = "openai")]
pub use settings::{OpenAiError, OpenAiSettings};
