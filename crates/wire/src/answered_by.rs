//! What answers a request that is not in the record: its upstream, or the program, whose tool it is.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::http::HeaderMap;
use tokio::sync::oneshot;

use crate::websocket::UpstreamSocket;

/// What answers a request that is not in the record.
pub(crate) enum AnsweredBy {
    /// Its upstream.
    Upstream,
    /// Its upstream, over a WebSocket that it may have already.
    Socket(Arc<UpstreamSocket>),
    /// The program itself, whose tool it is.
    Program {
        /// Whether the tool runs, whatever is recorded.
        is_live: bool,
    },
}

/// Where a live answer comes from.
pub(crate) enum Source {
    /// The upstream.
    Upstream,
    /// The upstream, over a WebSocket.
    Socket(Arc<UpstreamSocket>),
    /// The program.
    Program(oneshot::Receiver<ToolAnswer>),
}

/// The result of a tool, or the error that it raised, as an answer of an upstream.
#[derive(Debug)]
pub(crate) struct ToolAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}
