//! The server that a program talks to.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming as IncomingBody;
use hyper::http::uri::Authority;
use hyper::http::{HeaderMap, Method, Request, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use retold::inert::inert;

use crate::asked::Incoming;
use crate::clients;
use crate::dialect::{self, Dialect, OTHER, Problem};
use crate::front::{Address, Front, NoRun, NotLetIn};
use crate::intercept::{HTTP, connect, pass_on};
use crate::limits::{CONNECTIONS, HEAD, LONGEST_REQUEST, LONGEST_UNKEPT};
use crate::listening::Listening;
use crate::locations::{ELSEWHERE, Here};
use crate::outlet::Outgoing;
use crate::report::{LONGEST_REPORT, report, with_json};
use crate::session::{Session, refused};

/// The path of what is for retold itself.
pub(crate) const OWN: &str = "_retold";

/// Below it: ends a run of a proxy.
const FINISH: &str = "/finish";

/// A server that is listening, and not serving yet.
pub struct Server(Listening);

impl Server {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// If there is none.
    pub async fn bind() -> std::io::Result<Self> {
        Server::bind_to(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Listens at an address.
    ///
    /// # Errors
    /// If it is taken, or not one of this machine.
    pub async fn bind_to(address: SocketAddr) -> std::io::Result<Self> {
        Ok(Server(Listening::at(address).await?))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Serves until it is dropped.
    pub async fn serve(self, front: Arc<Front>) {
        let ours = self.address();
        let serve = |stream| {
            let front = front.clone();
            async move {
                let service = service_fn(move |request| {
                    let front = front.clone();
                    async move { Ok::<_, Infallible>(handle(front, ours, request).await) }
                });
                let served = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HEAD)
                    .half_close(false)
                    .serve_connection(TokioIo::new(stream), service)
                    .with_upgrades()
                    .await;
                if let Err(error) = served {
                    tracing::debug!(%error, "a connection ended");
                }
            }
        };
        self.0.each(CONNECTIONS, serve).await;
    }
}

async fn handle(
    front: Arc<Front>,
    ours: SocketAddr,
    request: Request<IncomingBody>,
) -> Response<Outgoing> {
    if request.method() == Method::CONNECT {
        return connect(front, request).await;
    }
    // A client that takes us for its proxy, even for requests to ourselves.
    if let Some(authority) = request.uri().authority()
        && let Some(interception) = front.interception.clone()
        && !is_ours(ours, authority)
    {
        let authority = authority.clone();
        return pass_on(&front, &interception, &authority, request).await;
    }
    let (parts, body) = request.into_parts();
    let address = match front.address(&parts.uri, &parts.headers) {
        Ok(address) => address,
        Err(not_let_in) => return turned_away(dialect::at(parts.uri.path()), &not_let_in),
    };
    let Address { run, upstream, path } = address;
    if upstream == OWN && path == FINISH && parts.method == Method::POST {
        return match front.runs.finish(run.as_deref()).await {
            Ok(summary) => with_json(StatusCode::OK, &summary),
            Err(NoRun { status, message }) => refused(&OTHER, status, "retold_run", &message),
        };
    }
    let session = match front.runs.session(run.as_deref()).await {
        Ok(session) => session,
        Err(NoRun { status, message }) => {
            return closing(refused(dialect::at(&path), status, "retold_run", &message));
        }
    };
    if upstream == OWN {
        let place = path.trim_start_matches('/');
        return match whole(body, LONGEST_REPORT).await {
            Ok(body) => report(&session, place, &parts.method, Some(body)).await,
            Err(_) => closing(report(&session, place, &parts.method, None).await),
        };
    }
    let inside = format!("/{upstream}{path}");
    let here = here(&front, parts.uri.path(), &inside, &parts.headers);
    let known = front.upstreams.as_ref().is_none_or(|names| names.contains(&upstream));
    let incoming = Incoming {
        path: clients::path(&upstream, &path).into_owned(),
        upstream,
        method: parts.method,
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body: Bytes::new(),
    };
    let mut answer = if incoming.upstream == ELSEWHERE {
        elsewhere(session.clone(), incoming).await
    } else if known {
        ask(session.clone(), incoming, body).await
    } else {
        let names = front.upstreams.iter().flatten();
        let all = names.map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ");
        let said = format!(
            "retold serves requests under {all}: name another upstream with --upstream NAME=URL"
        );
        session.clone().refuse(incoming, problem(404, "retold_unknown_upstream", &said)).await
    };
    here.outward(&mut answer, &session);
    answer
}

/// Whether a host and port are our own.
fn is_ours(ours: SocketAddr, authority: &Authority) -> bool {
    let host = authority.host();
    let is_here = host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|host: IpAddr| host == ours.ip());
    is_here && authority.port_u16().unwrap_or(HTTP) == ours.port()
}

/// How the client addresses us, from the path that it asked and what is read of it.
fn here(front: &Front, path: &str, inside: &str, headers: &HeaderMap) -> Here {
    let before = path.strip_suffix(inside).unwrap_or_default();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.map_or_else(String::new, |host| format!("http://{host}"));
    let interception = front.interception.clone();
    Here { base: format!("{host}{before}"), opened: None, interception }
}

/// Refuses what a recorded answer leads to, at a host of which nothing is recorded.
async fn elsewhere(session: Arc<Session>, incoming: Incoming) -> Response<Outgoing> {
    let host = incoming.path.split('/').nth(1).unwrap_or_default();
    let said = format!(
        "a recorded answer leads to {}, of which nothing is recorded, and a replay asks nobody",
        inert(host, 100)
    );
    session.refuse(incoming, problem(404, "retold_not_recorded", &said)).await
}

/// The answer to a request that is not let in: it is in no run, and not counted.
pub(crate) fn turned_away(dialect: &dyn Dialect, not_let_in: &NotLetIn) -> Response<Outgoing> {
    let NotLetIn { status, code, message } = not_let_in;
    closing(refused(dialect, *status, code, message))
}

fn problem<'a>(status: u16, code: &'static str, message: &'a str) -> Problem<'a> {
    Problem { status, code, message }
}

/// Reads the body of a request, and answers it.
pub(crate) async fn ask(
    session: Arc<Session>,
    mut incoming: Incoming,
    body: IncomingBody,
) -> Response<Outgoing> {
    if is_an_upgrade(&incoming.headers) {
        let said = "retold does not record WebSockets or other upgraded connections";
        return session.refuse(incoming, problem(426, "retold_upgrade", said)).await;
    }
    let (status, code, said) = match whole(body, LONGEST_REQUEST).await {
        Ok(body) => {
            incoming.body = body;
            return session.handle(incoming).await;
        }
        Err(Unread::TooLong) => {
            let said =
                format!("a request of more than {} MiB is not recorded", LONGEST_REQUEST >> 20);
            (413, "retold_too_long", said)
        }
        Err(Unread::NotHttp(why)) => {
            (400, "retold_request", format!("the body of the request is not HTTP: {why}"))
        }
        Err(Unread::Left) => {
            let dialect = dialect::at(&incoming.path);
            return closing(refused(dialect, 400, "retold_request", "the request has no end"));
        }
    };
    closing(session.refuse(incoming, problem(status, code, &said)).await)
}

/// Why a body is not read.
enum Unread {
    TooLong,
    /// Its chunks are not what HTTP says.
    NotHttp(String),
    /// The client did not wait for its own end.
    Left,
}

/// A body, if it is not too long.
async fn whole(mut body: IncomingBody, longest: usize) -> Result<Bytes, Unread> {
    let error = match Limited::new(&mut body, longest).collect().await {
        Ok(whole) => return Ok(whole.to_bytes()),
        Err(error) => error,
    };
    if error.is::<http_body_util::LengthLimitError>() {
        read_on(&mut body).await;
        return Err(Unread::TooLong);
    }
    let mut cause: &(dyn std::error::Error + 'static) = error.as_ref();
    while let Some(below) = cause.source() {
        cause = below;
    }
    Err(match cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind) {
        Some(ErrorKind::InvalidData | ErrorKind::InvalidInput) => {
            Unread::NotHttp(inert(&cause.to_string(), 200))
        }
        _ => Unread::Left,
    })
}

/// Reads on what is not kept: many clients listen only when they have sent everything.
async fn read_on(body: &mut IncomingBody) {
    let mut left = LONGEST_UNKEPT;
    while let Some(Ok(frame)) = body.frame().await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match left.checked_sub(length) {
            Some(still) => left = still,
            None => return,
        }
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
