//! The WebSocket between retold and an upstream: opened for the first frame that is asked now, and kept for those that follow.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use hyper::http::{HeaderMap, HeaderValue, header};
use reqwest::Upgraded;
use retold::escaping::printable;
use retold::model::providers::{Dialect, try_read};
use retold::model::{Failure, FailureKind};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::handshake::UpgradedUpstream;
use super::limits;
use crate::incoming::Incoming;
use crate::limits::{LONGEST_READ, SILENCE, WAITING_CHUNKS};
use crate::lock::lock;
use crate::upstream::Upstreams;
use crate::upstream_answer::UpstreamAnswer;
use crate::upstream_failures::silent;

/// The content type of an answer in frames: a line for each.
const LINES: &str = "application/x-ndjson";

/// The WebSocket of one client at an upstream.
#[derive(Default)]
pub(crate) struct UpstreamSocket(Mutex<Option<Link>>);

/// An open connection, at which a task reads and writes, so that pings are answered while nothing is asked.
struct Link {
    to: mpsc::Sender<String>,
    /// Frames, or why there are no more; closed with the connection.
    from: mpsc::Receiver<Result<String, String>>,
    headers: HeaderMap,
}

/// The answer to one frame. The connection is kept if it comes to its end.
pub(crate) struct FrameAnswer {
    socket: Arc<UpstreamSocket>,
    dialect: &'static dyn Dialect,
    headers: HeaderMap,
    link: Option<Link>,
}

impl UpstreamSocket {
    /// Sends a frame, and returns the answer to it, which is that of the handshake if the upstream refuses that.
    ///
    /// # Errors
    /// [`Failure`].
    pub(crate) async fn send(
        self: &Arc<Self>,
        upstreams: &Upstreams,
        incoming: &Incoming,
        dialect: &'static dyn Dialect,
    ) -> Result<UpstreamAnswer, Failure> {
        // One that the upstream has closed meanwhile is opened again, as its client would.
        let kept = lock(&self.0).take().filter(|link| !link.to.is_closed());
        let link = match kept {
            Some(link) => link,
            None => match upstreams.open_socket(incoming).await? {
                UpgradedUpstream::Socket(connection, headers) => {
                    Link::new(*connection, headers).await
                }
                UpgradedUpstream::Refused(response) => return Ok(UpstreamAnswer::Http(*response)),
            },
        };
        let frame = String::from_utf8_lossy(&incoming.body).into_owned();
        if link.to.send(frame).await.is_err() {
            return Err(closed(&incoming.upstream));
        }
        let mut headers = link.headers.clone();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(LINES));
        let socket = self.clone();
        Ok(UpstreamAnswer::Frames(FrameAnswer { socket, dialect, headers, link: Some(link) }))
    }
}

impl Link {
    async fn new(connection: Upgraded, headers: HeaderMap) -> Self {
        let limits = Some(limits(LONGEST_READ));
        let frames = WebSocketStream::from_raw_socket(connection, Role::Client, limits).await;
        let (to, asked) = mpsc::channel(1);
        let (answered, from) = mpsc::channel(WAITING_CHUNKS);
        tokio::spawn(carry(frames, asked, answered));
        Link { to, from, headers }
    }
}

/// Carries frames in both directions until one side leaves.
async fn carry(
    mut frames: WebSocketStream<Upgraded>,
    mut asked: mpsc::Receiver<String>,
    answered: mpsc::Sender<Result<String, String>>,
) {
    let why = loop {
        let message = tokio::select! {
            frame = asked.recv() => match frame {
                Some(frame) => match frames.send(Message::text(frame)).await {
                    Ok(()) => continue,
                    Err(error) => break error.to_string(),
                },
                None => {
                    // An upstream that has left needs no farewell.
                    let _ = frames.close(None).await;
                    return;
                }
            },
            message = frames.next() => message,
        };
        match message {
            Some(Ok(Message::Text(text))) => {
                if answered.send(Ok(text.as_str().to_owned())).await.is_err() {
                    return;
                }
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            Some(Ok(Message::Binary(_))) => break "a frame that is not a text".to_owned(),
            Some(Ok(Message::Close(_))) | None => return,
            Some(Err(error)) => break error.to_string(),
        }
    };
    // The next frame that asks is told that the connection is closed.
    let _ = answered.send(Err(printable(&why, 300))).await;
}

/// The failure of a frame that was not answered at all.
fn closed(upstream: &str) -> Failure {
    let said = format!("upstream {upstream} has closed the WebSocket without an answer");
    Failure::new(FailureKind::Connection, said)
}

impl FrameAnswer {
    /// The headers of the handshake, and that the answer is in lines.
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The next frame, as a line; `None` after the last.
    ///
    /// # Errors
    /// [`Failure`] if the connection broke.
    pub(crate) async fn chunk(
        &mut self,
        upstream: &str,
        received: usize,
    ) -> Result<Option<Bytes>, Failure> {
        let Some(link) = &mut self.link else { return Ok(None) };
        let frame = match timeout(SILENCE, link.from.recv()).await {
            Ok(Some(Ok(frame))) => frame,
            Ok(None) if received > 0 => {
                self.link = None;
                return Ok(None);
            }
            Ok(None) => {
                self.link = None;
                return Err(closed(upstream));
            }
            Ok(Some(Err(why))) => {
                self.link = None;
                let said = format!(
                    "upstream {upstream} broke off its answer after {received} bytes: {why}"
                );
                return Err(Failure::new(FailureKind::Connection, said));
            }
            Err(_) => {
                self.link = None;
                return Err(silent(upstream, received));
            }
        };
        if try_read(self.dialect.name(), || self.dialect.is_last(&frame)).unwrap_or(false) {
            *lock(&self.socket.0) = self.link.take();
        }
        // Between the tokens of JSON, the only place of a line's end, a space is the same.
        Ok(Some((frame.replace('\n', " ") + "\n").into()))
    }
}
