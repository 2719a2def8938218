//! Any service that speaks the OpenAI API: chat completions and embeddings.
//!
//! - [`OpenAiSettings`]: the address, the key, and how long one attempt may take.
//! - One [`answer`](crate::model::Model::answer) is one attempt; nothing here retries.
//! - Embeddings requested at the same time are sent together, up to 100 texts per request.
//! - [`Spoken`]: a service that speaks another API, asked by the same client: the same limits, the
//!   same care of the key, the same kinds of failure.
//! - Pure functions of status, headers and body interpret the replies.
//! - The format of answers is also known without the feature `openai`, because exchanges files
//!   contain them.
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
#[cfg(feature = "openai")]
mod spoken;

pub use chat::NotACompletion;
#[cfg(feature = "openai")]
pub use model::OpenAi;
#[cfg(feature = "openai")]
pub use settings::{OpenAiError, OpenAiSettings};
#[cfg(feature = "openai")]
pub use spoken::{Inexpressible, Posted, Speech, Spoken};
