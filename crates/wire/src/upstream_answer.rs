//! What an upstream answers: over HTTP, or in the frames of a WebSocket. To a call of a tool, the program itself is the upstream.

use bytes::Bytes;
use hyper::StatusCode;
use hyper::http::HeaderMap;
use retold::model::Failure;

use crate::answered_by::ToolAnswer;
use crate::upstream_failures::broken_off;
use crate::websocket::FrameAnswer;

/// An answer that is coming.
pub(crate) enum UpstreamAnswer {
    /// Over HTTP.
    Http(reqwest::Response),
    /// In frames, each of which is a line of the body.
    Frames(FrameAnswer),
    /// By the program itself, whose tool was called.
    Program(ToolAnswer),
}

impl UpstreamAnswer {
    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            UpstreamAnswer::Http(response) => response.status(),
            UpstreamAnswer::Frames(_) => StatusCode::OK,
            UpstreamAnswer::Program(given) => given.status,
        }
    }

    /// The headers.
    pub(crate) fn headers(&self) -> &HeaderMap {
        match self {
            UpstreamAnswer::Http(response) => response.headers(),
            UpstreamAnswer::Frames(answer) => answer.headers(),
            UpstreamAnswer::Program(given) => &given.headers,
        }
    }

    /// The length of the body, if it is announced.
    pub(crate) fn content_length(&self) -> Option<u64> {
        match self {
            UpstreamAnswer::Http(response) => response.content_length(),
            UpstreamAnswer::Frames(_) | UpstreamAnswer::Program(_) => None,
        }
    }

    /// The next part of the body; `None` at its end. `upstream` and the bytes that were received are for the words of an error.
    ///
    /// # Errors
    /// [`Failure`] if it is broken off.
    pub(crate) async fn chunk(
        &mut self,
        upstream: &str,
        received: usize,
    ) -> Result<Option<Bytes>, Failure> {
        match self {
            UpstreamAnswer::Http(response) => {
                response.chunk().await.map_err(|error| broken_off(upstream, received, error))
            }
            UpstreamAnswer::Frames(answer) => answer.chunk(upstream, received).await,
            UpstreamAnswer::Program(given) => Ok(given.body.take()),
        }
    }
}
