//! Requests to models, and their identity.
//!
//! A [`Request`] is canonical JSON (RFC 8785) of everything that can change the answer; the
//! [prompt hash](crate::id::PromptHash) is its BLAKE3-256. Anyone can check one with public tools:
//! `retold show HASH --canonical | b3sum`.
//!
//! - [`Request`]: the canonical request; made from JSON or from a typed request.
//! - [`ChatRequest`], [`EmbeddingRequest`]: typed requests for programs.
//! - [`first_difference`]: where two requests start to differ, for divergence reports.
//! - [`TRANSPORT_LISTS`]: the fields that are left out of the hash, with a reason each, in every
//!   version of the canonical request.

mod canonical;
mod difference;
mod messages;
mod ordered;
mod request;
mod straight;
mod transport;
mod typed;

pub(crate) use canonical::check_exact;
pub use canonical::{CanonicalError, canonical, hash_of};
pub use difference::{Difference, first_difference};
pub(crate) use difference::{inert_diff, shared_messages};
pub(crate) use messages::Messages;
pub use request::{Api, LONGEST_REQUEST, Request, RequestError};
pub use transport::{TRANSPORT, TRANSPORT_LISTS, TransportList};
pub use typed::{ChatRequest, EmbeddingRequest, Message, Role};
