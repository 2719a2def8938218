//! Connections of a program that takes retold for its proxy: opened, passed on, or refused.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use hyper::body::Incoming as IncomingBody;
use hyper::http::uri::Authority as HostAndPort;
use hyper::http::{HeaderMap, HeaderValue, Request, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, upgrade};
use hyper_util::rt::{TokioIo, TokioTimer};
use retold::model::providers::{self, Dialect, OTHER};
use tokio_rustls::TlsAcceptor;

use super::interception::Interception;
use super::tunnel;
use crate::addresses::{HTTP, HTTPS};
use crate::body::answer_unread;
use crate::body_leads::LeadingRequest;
use crate::dispatch::ask;
use crate::front::Front;
use crate::here::Here;
use crate::incoming::Incoming;
use crate::limits::HEAD;
use crate::listening::ConnectionSeat;
use crate::outlet::Outgoing;
use crate::refusal::{rejection, turned_away};
use crate::websocket::Upgrade;

/// The response to a client that takes us for its proxy and does not know our secret.
fn turned_away_by_proxy(front: &Front, headers: &HeaderMap) -> Option<Response<Outgoing>> {
    if front.token.as_ref().is_none_or(|token| token.is_of_proxy(headers)) {
        return None;
    }
    let said = "this retold is a proxy for its own program, which finds a secret in HTTPS_PROXY";
    let mut response = rejection(&OTHER, 407, "retold_token", said);
    let basic = HeaderValue::from_static("Basic realm=\"retold\"");
    response.headers_mut().insert(header::PROXY_AUTHENTICATE, basic);
    Some(response)
}

/// The name of a host. A dot at its end says that it is whole, and is left out.
fn name_of(authority: &HostAndPort) -> String {
    authority.host().trim_end_matches('.').to_ascii_lowercase()
}

/// Passes on a request without TLS, and counts it.
pub(crate) async fn pass_on(
    front: &Front,
    interception: &Interception,
    authority: &HostAndPort,
    request: Request<IncomingBody>,
) -> Response<Outgoing> {
    if let Some(refusal) = turned_away_by_proxy(front, request.headers()) {
        return answer_unread(request.into_body(), refusal).await;
    }
    let host = name_of(authority);
    let port = authority.port_u16().unwrap_or(HTTP);
    let shown = match port {
        HTTP => format!("http://{host}"),
        port => format!("http://{host}:{port}"),
    };
    let is_for_a_model =
        providers::at(request.uri().path()).name() != OTHER.name() || interception.is_model(&host);
    let Some(tunnels) =
        interception.tunnels.as_ref().filter(|_| interception.live || !is_for_a_model)
    else {
        return answer_unread(request.into_body(), interception.refuse(&shown)).await;
    };
    match tunnels.send(&host, port, request).await {
        Ok(response) => {
            interception.count(&shown, |reported| &mut reported.passed);
            response.map(Outgoing::Passed)
        }
        Err(error) => {
            interception.count(&shown, |reported| &mut reported.unreached);
            rejection(&OTHER, 502, "retold_connect", &format!("cannot reach {shown}: {error}"))
        }
    }
}

/// Answers a `CONNECT`.
pub(crate) async fn connect(
    front: Arc<Front>,
    request: Request<IncomingBody>,
    seat: ConnectionSeat,
) -> Response<Outgoing> {
    let Some(interception) = front.interception.clone() else {
        let said =
            "retold is not a proxy for this program: `--intercept` and `--watch` make it one";
        return rejection(&OTHER, 405, "retold_connect", said);
    };
    if let Some(refusal) = turned_away_by_proxy(&front, request.headers()) {
        return refusal;
    }
    let Some(authority) = request.uri().authority().cloned() else {
        return rejection(&OTHER, 400, "retold_connect", "CONNECT has no host");
    };
    let host = name_of(&authority);
    let port = authority.port_u16().unwrap_or(HTTPS);
    let is_model = interception.is_model(&host);
    let opens = interception.opens(&host, port);
    if let Some(opening) = interception.authority.as_ref().filter(|_| opens) {
        let config = match opening.host(&host) {
            Ok(config) => config,
            Err(error) => return rejection(&OTHER, 502, "retold_connect", &error.to_string()),
        };
        let acceptor = TlsAcceptor::from(config);
        tokio::spawn(async move {
            let Ok(upgraded) = upgrade::on(request).await else { return };
            let handshake = tokio::time::timeout(HEAD, acceptor.accept(TokioIo::new(upgraded)));
            match handshake.await {
                Ok(Ok(stream)) => serve(front, host, port, stream, seat).await,
                Ok(Err(error)) => {
                    tracing::warn!(%host, %error, "the program does not trust our certificate");
                    interception.note_distrust(&host);
                }
                Err(_) => tracing::warn!(%host, "the program did not begin its connection"),
            }
        });
        return Response::new(Outgoing::Whole(None));
    }
    let shown = match port {
        HTTPS => host.clone(),
        port => format!("{host}:{port}"),
    };
    let passes = interception.live || !is_model;
    let Some(tunnels) = interception.tunnels.as_ref().filter(|_| passes) else {
        return interception.refuse(&shown);
    };
    match tunnels.connect(&host, port).await {
        Ok(stream) => {
            interception.count(&shown, |reported| &mut reported.passed);
            tokio::spawn(async move {
                let _seat = seat;
                if let Ok(upgraded) = upgrade::on(request).await {
                    tunnel::pass_on(upgraded, stream).await;
                }
            });
            Response::new(Outgoing::Whole(None))
        }
        Err(error) => {
            interception.count(&shown, |reported| &mut reported.unreached);
            let said = format!("cannot reach {host}:{port}: {error}");
            rejection(&OTHER, 502, "retold_connect", &said)
        }
    }
}

/// Serves a connection that was opened.
async fn serve<S>(
    front: Arc<Front>,
    host: String,
    port: u16,
    stream: S,
    // An upgraded connection is still a connection.
    seat: ConnectionSeat,
) where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<IncomingBody>| {
        let (front, host, seat) = (front.clone(), host.clone(), seat.clone());
        async move { Ok::<_, Infallible>(handle(&front, host, port, request, seat).await) }
    });
    let served = http1::Builder::new()
        // The date of a clock before 1970 is none, and nobody needs it.
        .auto_date_header(false)
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades()
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "an opened connection ended");
    }
}

async fn handle(
    front: &Front,
    host: String,
    port: u16,
    request: Request<IncomingBody>,
    seat: ConnectionSeat,
) -> Response<Outgoing> {
    let (mut parts, body) = request.into_parts();
    let upgrade = parts.extensions.remove::<upgrade::OnUpgrade>();
    let upgrade = upgrade.map(|connection| Upgrade { connection, seat });
    let session = match front.opened_session(&parts.headers).await {
        Ok(session) => session,
        Err(not_let_in) => {
            let answer = turned_away(providers::at(parts.uri.path()), &not_let_in);
            return answer_unread(body, answer).await;
        }
    };
    let opened = match port {
        HTTPS => host.clone(),
        port => format!("{host}:{port}"),
    };
    let interception = front.interception.clone();
    let base = interception.as_ref().map_or_else(String::new, |it| it.here.clone());
    let here = Here { base, opened: Some(opened), cookies: None, interception, asked: None };
    let incoming = Incoming {
        upstream: host,
        is_led: false,
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body: Bytes::new(),
    };
    let leading = LeadingRequest::of(&incoming);
    let mut answer = ask(session.clone(), incoming, body, &front.bodies, upgrade).await;
    here.outward(&mut answer, &session);
    match leading {
        Some(asked) => here.lead_in_body(answer, &asked, &session).await,
        None => answer,
    }
}
