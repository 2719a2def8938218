//! The server that a program talks to.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use hyper::body::Incoming as IncomingBody;
use hyper::http::uri::Authority;
use hyper::http::{HeaderMap, Method, Request, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use retold::escaping::printable;
use retold::model::providers::{self, OTHER};
use tokio::net::TcpStream;

use crate::addresses::{ELSEWHERE, HTTP, OWN, strip_led};
use crate::body::answer_unread;
use crate::body_leads::LeadingRequest;
use crate::dispatch::{ask, problem, refuse};
use crate::front::{Address, Front, NoRun};
use crate::here::{Here, ServerAsked};
use crate::incoming::Incoming;
use crate::intercept::{connect, pass_on};
use crate::limits::{CONNECTIONS, FILES, HEAD, SEAT_WANTED};
use crate::listening::{ConnectionSeat, Listening};
use crate::masks::without_keys;
use crate::outlet::Outgoing;
use crate::refusal::{closing, rejection, turned_away, with_json};
use crate::report::{longest, report};
use crate::session::Session;
use crate::tool_calls::{TOOLS, tools};
use crate::websocket::Upgrade;

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
        let serve = |stream, seat| connection(front.clone(), ours, stream, seat);
        self.0.each(CONNECTIONS, FILES, serve).await;
    }
}

/// Serves a connection. While others wait, it ends after its answer, and if it is idle, at once.
async fn connection(
    front: Arc<Front>,
    ours: SocketAddr,
    stream: TcpStream,
    mut seat: ConnectionSeat,
) {
    let (asked, answered) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let service = {
        let (seat, asked, answered) = (seat.clone(), asked.clone(), answered.clone());
        service_fn(move |request| {
            let (front, seat, answered) = (front.clone(), seat.clone(), answered.clone());
            asked.fetch_add(1, Ordering::Relaxed);
            async move {
                let response = handle(front, ours, request, &seat).await;
                answered.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(if seat.is_wanted() { closing(response) } else { response })
            }
        })
    };
    let served = http1::Builder::new()
        // The date of a clock before 1970 is none, and nobody needs it.
        .auto_date_header(false)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::pin!(served);
    let served = loop {
        tokio::select! {
            served = &mut served => break served,
            () = async { tokio::time::sleep(SEAT_WANTED).await; seat.wait_until_wanted().await } => {
                let answered = answered.load(Ordering::Relaxed);
                // One that was opened just now is about to ask.
                if answered > 0 && answered == asked.load(Ordering::Relaxed) {
                    served.as_mut().graceful_shutdown();
                    break served.await;
                }
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn handle(
    front: Arc<Front>,
    ours: SocketAddr,
    request: Request<IncomingBody>,
    seat: &ConnectionSeat,
) -> Response<Outgoing> {
    if request.method() == Method::CONNECT {
        return connect(front, request, seat.clone()).await;
    }
    // A client that takes us for its proxy, even for requests to ourselves.
    if let Some(authority) = request.uri().authority()
        && let Some(interception) = front.interception.clone()
        && !is_ours(ours, authority)
    {
        let authority = authority.clone();
        return pass_on(&front, &interception, &authority, request).await;
    }
    let (mut parts, body) = request.into_parts();
    let upgrade = parts.extensions.remove::<OnUpgrade>();
    let upgrade = upgrade.map(|connection| Upgrade { connection, seat: seat.clone() });
    let address = match front.address(&parts.uri, &parts.headers) {
        Ok(address) => address,
        Err(not_let_in) => {
            let answer = turned_away(providers::at(parts.uri.path()), &not_let_in);
            return answer_unread(body, answer).await;
        }
    };
    let Address { run, upstream, path, asked } = address;
    if upstream == OWN && path == FINISH && parts.method == Method::POST {
        let answer = match front.runs.finish(run.as_deref()).await {
            Ok(summary) => with_json(StatusCode::OK, &summary),
            Err(NoRun { status, message }) => rejection(&OTHER, status, "retold_run", &message),
        };
        return answer_unread(body, answer).await;
    }
    let session = match front.runs.session(run.as_deref()).await {
        Ok(session) => session,
        Err(NoRun { status, message }) => {
            let answer = rejection(providers::at(&path), status, "retold_run", &message);
            return answer_unread(body, answer).await;
        }
    };
    if upstream == OWN {
        let place = path.trim_start_matches('/');
        if place.split('/').next() == Some(TOOLS) {
            let body = front.bodies.whole(body, longest(place)).await;
            let is_whole = body.is_ok();
            let answer = tools(session, place, &parts.method, &parts.headers, body.ok()).await;
            return if is_whole { answer } else { closing(answer) };
        }
        return match front.bodies.whole(body, longest(place)).await {
            Ok(body) => report(&session, place, &parts.method, Some(body)).await,
            Err(_) => closing(report(&session, place, &parts.method, None).await),
        };
    }
    let inside = format!("/{upstream}{path}");
    let mut here = here(&front, parts.uri.path(), &inside, &upstream, &parts.headers);
    let is_named = asked.is_some();
    if let Some((place, origins)) = asked.zip(front.origins.clone()) {
        if let Some(upstreams) = &session.upstreams {
            upstreams.add(&place.upstream, &place.base);
        }
        here.cookies = None;
        here.asked = Some(ServerAsked { place, origins });
    }
    let (mut headers, (path, is_led)) = (parts.headers, strip_led(&path));
    if is_led {
        without_keys(&mut headers);
    }
    let known = is_named || front.upstreams.as_ref().is_none_or(|names| names.contains(&upstream));
    let incoming = Incoming {
        path: providers::path(&upstream, path).into_owned(),
        upstream,
        is_led,
        method: parts.method,
        query: parts.uri.query().map(str::to_owned),
        headers,
        body: Bytes::new(),
    };
    let leading = LeadingRequest::of(&incoming);
    let mut answer = if incoming.upstream == ELSEWHERE {
        answer_unread(body, elsewhere(session.clone(), incoming).await).await
    } else if known {
        ask(session.clone(), incoming, body, &front.bodies, upgrade).await
    } else {
        let names = front.upstreams.iter().flatten();
        let all = names.map(|name| format!("/{name}")).collect::<Vec<_>>().join(", ");
        let said = format!(
            "retold serves requests under {all}: name another upstream with --upstream NAME=URL"
        );
        let problem = problem(404, "retold_unknown_upstream", &said);
        answer_unread(body, refuse(&session, incoming, problem).await).await
    };
    here.outward(&mut answer, &session);
    match leading {
        Some(asked) => here.lead_in_body(answer, &asked, &session).await,
        None => answer,
    }
}

/// Whether a host and port are our own.
fn is_ours(ours: SocketAddr, authority: &Authority) -> bool {
    let host = authority.host();
    let is_here = host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|host: IpAddr| host == ours.ip());
    is_here && authority.port_u16().unwrap_or(HTTP) == ours.port()
}

/// The address by which the client reaches us, from the path that it asked and the part of it that is read.
fn here(front: &Front, path: &str, inside: &str, upstream: &str, headers: &HeaderMap) -> Here {
    let before = path.strip_suffix(inside).unwrap_or_default();
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.map_or_else(String::new, |host| format!("http://{host}"));
    let interception = front.interception.clone();
    let cookies = Some(format!("{before}/{upstream}"));
    Here { base: format!("{host}{before}"), opened: None, cookies, interception, asked: None }
}

/// Refuses a request to which a recorded answer led, for a host of which nothing is recorded.
async fn elsewhere(session: Arc<Session>, incoming: Incoming) -> Response<Outgoing> {
    let host = incoming.path.split('/').nth(1).unwrap_or_default();
    let host = printable(host, 100);
    let said = if session.upstreams.is_none() {
        format!(
            "a recorded answer leads to {host}, of which nothing is recorded, and a replay asks nobody"
        )
    } else {
        format!(
            "a recorded answer leads to {host}, which is none of the upstreams: if it may be asked, name it with --upstream NAME=URL"
        )
    };
    refuse(&session, incoming, problem(404, "retold_not_recorded", &said)).await
}
