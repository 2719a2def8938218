//! WebSockets over which an API answers prompts: each frame of the client that asks for an answer is a request like one over HTTP,
//! and the frames that follow are its answer. So keys, samples, misses, budgets and resumes are what they are elsewhere, and a
//! replay sends the recorded frames when the program has sent what it had sent.
//!
//! A log has an answer as lines of JSON, a line per frame.

mod client_socket;
mod handshake;
mod upstream_socket;

pub(crate) use client_socket::accept;
pub(crate) use handshake::{
    Upgrade, UpgradedUpstream, accepts, handshake_headers, is_an_upgrade, is_recorded,
};
pub(crate) use upstream_socket::{FrameAnswer, UpstreamSocket};

use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// Frames of at most this size.
fn limits(longest: usize) -> WebSocketConfig {
    WebSocketConfig::default().max_message_size(Some(longest)).max_frame_size(Some(longest))
}
