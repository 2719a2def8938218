//! The server on loopback that a program talks to.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::Response;
use hyper::body::Incoming as IncomingBody;
use hyper::http::{HeaderMap, Request, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::asked::Incoming;
use crate::dialect::{OTHER, Problem};
use crate::limits::{CONNECTIONS, HEAD, LONGEST_REQUEST};
use crate::outlet::Outgoing;
use crate::session::{Session, refused};

/// A server that is listening, and not serving yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// If there is none.
    pub async fn bind() -> std::io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL under which an upstream is found.
    pub fn url(&self, upstream: &str) -> String {
        format!("http://{}/{upstream}", self.address)
    }

    /// Serves until it is dropped.
    pub async fn serve(self, session: Arc<Session>, upstreams: Vec<String>) {
        let connections = Arc::new(Semaphore::new(CONNECTIONS));
        let upstreams: Arc<[String]> = upstreams.into();
        loop {
            // The semaphore is never closed.
            let Ok(permit) = connections.clone().acquire_owned().await else { return };
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    // Out of file descriptors, for example: others will be closed.
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Chunks are small, and each is waited for.
            let _ = stream.set_nodelay(true);
            let (session, upstreams) = (session.clone(), upstreams.clone());
            tokio::spawn(async move {
                let _permit = permit;
                let service = service_fn(move |request| {
                    let (session, upstreams) = (session.clone(), upstreams.clone());
                    async move { Ok::<_, Infallible>(handle(session, &upstreams, request).await) }
                });
                let served = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .half_close(false)
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
                if let Err(error) = served {
                    tracing::debug!(%error, "a connection ended");
                }
            });
        }
    }
}

async fn handle(
    session: Arc<Session>,
    upstreams: &[String],
    request: Request<IncomingBody>,
) -> Response<Outgoing> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path();
    let (upstream, below) = divided(path);
    let known = upstreams.iter().any(|name| name == upstream);
    let mut incoming = Incoming {
        upstream: upstream.to_owned(),
        method: parts.method,
        path: below.to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body: Bytes::new(),
    };
    let problem = |status, code, message| Problem { status, code, message };
    if !known {
        let all = upstreams.iter().map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ");
        let said = format!(
            "retold serves requests under {all}: name another upstream with --upstream NAME=URL"
        );
        return session.refuse(incoming, problem(404, "retold_unknown_upstream", &said)).await;
    }
    if is_an_upgrade(&incoming.headers) {
        let said = "retold does not record WebSockets or other upgraded connections";
        return session.refuse(incoming, problem(426, "retold_upgrade", said)).await;
    }
    match Limited::new(body, LONGEST_REQUEST).collect().await {
        Ok(body) => {
            incoming.body = body.to_bytes();
            session.handle(incoming).await
        }
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            let said =
                format!("a request of more than {} MiB is not recorded", LONGEST_REQUEST >> 20);
            let answer = session.refuse(incoming, problem(413, "retold_too_long", &said)).await;
            closing(answer)
        }
        // The client left, or what it sent is not HTTP.
        Err(error) => closing(refused(&OTHER, 400, "retold_request", &error.to_string())),
    }
}

/// `/openai/chat/completions` is `/chat/completions` of the upstream `openai`.
fn divided(path: &str) -> (&str, &str) {
    let rest = path.strip_prefix('/').unwrap_or(path);
    match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    }
}

fn is_an_upgrade(headers: &HeaderMap) -> bool {
    let connection = headers.get(header::CONNECTION).and_then(|value| value.to_str().ok());
    let upgrades = connection.is_some_and(|value| value.to_ascii_lowercase().contains("upgrade"));
    // A client that offers HTTP/2 on the same connection is served without it.
    upgrades && headers.get(header::UPGRADE).is_some_and(|value| value != "h2c")
}

/// The rest of a request is not read, so the connection cannot be used again.
fn closing(mut response: Response<Outgoing>) -> Response<Outgoing> {
    let close = header::HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}
