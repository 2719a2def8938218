//! The WebSocket between a program and retold: a frame that asks is answered as a request is.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::{SinkExt, StreamExt};
use http_body_util::BodyExt;
use hyper::http::{HeaderValue, Method, header};
use hyper::upgrade::Upgraded;
use hyper::{Response, StatusCode};
use hyper_util::rt::TokioIo;
use retold::escaping::printable;
use retold::model::providers::{self, Dialect, try_read};
use serde_json::{Map, Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};

use super::handshake::{Upgrade, answer_to};
use super::limits;
use super::upstream_socket::UpstreamSocket;
use crate::answered_by::AnsweredBy;
use crate::dispatch::{answer, problem, refuse};
use crate::incoming::Incoming;
use crate::limits::LONGEST_REQUEST;
use crate::outlet::Outgoing;
use crate::session::Session;

/// How many frames of a client may wait while one is answered.
const MOST_WAITING: usize = 64;

/// Accepts the WebSocket of a program, and serves it.
pub(crate) fn accept(
    session: Arc<Session>,
    incoming: Incoming,
    upgrade: Upgrade,
) -> Response<Outgoing> {
    let key =
        incoming.headers.get(header::SEC_WEBSOCKET_KEY).map_or(&b""[..], HeaderValue::as_bytes);
    let mut response = Response::new(Outgoing::Whole(None));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, answer_to(key));
    let Upgrade { connection, seat } = upgrade;
    tokio::spawn(async move {
        // It is still a connection.
        let _seat = seat;
        let Ok(connection) = connection.await else { return };
        let limits = Some(limits(LONGEST_REQUEST));
        let connection = TokioIo::new(connection);
        let frames = WebSocketStream::from_raw_socket(connection, Role::Server, limits).await;
        let dialect = providers::at(&incoming.path);
        let (waiting, upstream) = (VecDeque::new(), Arc::default());
        let mut client = ClientSocket { session, incoming, dialect, frames, waiting, upstream };
        let closes = client.serve().await;
        if let Some((code, reason)) = closes {
            // A program that has left needs no farewell.
            let _ = client.frames.close(Some(CloseFrame { code, reason: reason.into() })).await;
        }
    });
    response
}

/// The end of a connection: the reason that its client gets, or `None` if it has left, or is broken off.
type Closing = Option<(CloseCode, &'static str)>;

/// The connection of a program.
struct ClientSocket {
    session: Arc<Session>,
    /// The request that opened it.
    incoming: Incoming,
    dialect: &'static dyn Dialect,
    frames: WebSocketStream<TokioIo<Upgraded>>,
    /// Frames that are not answered yet.
    waiting: VecDeque<String>,
    upstream: Arc<UpstreamSocket>,
}

impl ClientSocket {
    /// Answers frame by frame, until one side leaves.
    async fn serve(&mut self) -> Closing {
        loop {
            match self.serve_next().await {
                Ok(()) => {}
                Err(closing) => return closing,
            }
        }
    }

    async fn serve_next(&mut self) -> Result<(), Closing> {
        if let Some(frame) = self.waiting.pop_front() {
            return self.answer(frame).await;
        }
        let work = self.session.work.clone();
        tokio::select! {
            read = self.read() => read,
            () = work.closed() => Err(Some((CloseCode::Away, "the run has ended"))),
        }
    }

    /// Reads one message. Nothing is lost if it is not waited for.
    async fn read(&mut self) -> Result<(), Closing> {
        match self.frames.next().await {
            Some(Ok(Message::Text(_))) if self.waiting.len() == MOST_WAITING => {
                Err(Some((CloseCode::Policy, "too many frames wait for their answers")))
            }
            Some(Ok(Message::Text(text))) => {
                self.waiting.push_back(text.as_str().to_owned());
                Ok(())
            }
            Some(Ok(Message::Binary(_))) => {
                Err(Some((CloseCode::Unsupported, "retold records frames of text")))
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(()),
            Some(Ok(Message::Close(_)) | Err(_)) | None => Err(None),
        }
    }

    /// Answers a frame.
    async fn answer(&mut self, frame: String) -> Result<(), Closing> {
        let response = {
            let asking = ask(
                self.session.clone(),
                self.incoming.clone(),
                self.dialect,
                self.upstream.clone(),
                frame,
            );
            tokio::pin!(asking);
            loop {
                tokio::select! {
                    response = &mut asking => break response,
                    read = self.read() => read?,
                }
            }
        };
        let status = response.status();
        let mut body = response.into_body();
        if !status.is_success() {
            let (body, _) = body.read_to_end().await;
            return self.send(error_frame(status, &body)).await;
        }
        let (mut line, mut has_end) = (Vec::new(), false);
        loop {
            let piece = tokio::select! {
                piece = body.frame() => piece,
                read = self.read() => {
                    read?;
                    continue;
                }
            };
            let data = match piece {
                None => break,
                Some(Err(_)) => return Err(None),
                Some(Ok(piece)) => piece.into_data().unwrap_or_default(),
            };
            for part in data.split_inclusive(|byte| *byte == b'\n') {
                line.extend_from_slice(part);
                if line.last() == Some(&b'\n') {
                    line.pop();
                    let frame = String::from_utf8_lossy(&line).into_owned();
                    line.clear();
                    has_end = try_read(self.dialect.name(), || self.dialect.is_last(&frame))
                        .unwrap_or(false);
                    self.send(frame).await?;
                }
            }
        }
        if has_end { Ok(()) } else { Err(Some((CloseCode::Error, "the answer has no end"))) }
    }

    async fn send(&mut self, frame: String) -> Result<(), Closing> {
        self.frames.send(Message::text(frame)).await.map_err(|_| None)
    }
}

/// The answer to a frame, as if it were a request over HTTP.
async fn ask(
    session: Arc<Session>,
    opened_by: Incoming,
    dialect: &'static dyn Dialect,
    upstream: Arc<UpstreamSocket>,
    frame: String,
) -> Response<Outgoing> {
    let due = dialect.asking_frame().unwrap_or_default();
    let kind = serde_json::from_str::<Value>(&frame).ok();
    let kind = kind.as_ref().and_then(|it| it["type"].as_str()).unwrap_or_default();
    let is_due = kind == due;
    let shown = printable(kind, 60);
    let mut incoming = opened_by;
    incoming.method = Method::POST;
    incoming.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if !is_due {
        let said = format!("retold does not record frames of the type {shown:?}: only {due}");
        return refuse(&session, incoming, problem(400, "retold_frame", &said)).await;
    }
    incoming.body = session.handed_urls.take_back(frame.into());
    answer(session, incoming, AnsweredBy::Socket(upstream)).await
}

/// An error over HTTP as a frame.
fn error_frame(status: StatusCode, body: &[u8]) -> String {
    let fields = serde_json::from_slice::<Map<String, Value>>(body).unwrap_or_else(|_| {
        let message = printable(&String::from_utf8_lossy(body), 1000);
        Map::from_iter([("error".to_owned(), json!({"message": message}))])
    });
    let mut frame = Map::new();
    frame.insert("type".to_owned(), "error".into());
    frame.insert("status".to_owned(), status.as_u16().into());
    frame.extend(fields);
    Value::Object(frame).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_over_http_is_a_frame_of_the_type_error() {
        let frame = |body: &str| error_frame(StatusCode::UNAUTHORIZED, body.as_bytes());
        let own = r#"{"error":{"message":"no"}}"#;
        let due = json!({"type": "error", "status": 401, "error": {"message": "no"}});
        assert_eq!(serde_json::from_str::<Value>(&frame(own)).unwrap(), due);
        assert_eq!(serde_json::from_str::<Value>(&frame("no")).unwrap(), due);
    }
}
