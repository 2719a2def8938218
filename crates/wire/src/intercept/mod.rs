//! Programs whose host is written into them: their connections come through a proxy (`CONNECT`), and
//! those to the named hosts are opened with a certificate of our own, which only they trust.

mod authority;
pub(crate) mod hosts;
mod tunnel;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hyper::body::Incoming as IncomingBody;
use hyper::http::{HeaderValue, Request, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, upgrade};
use hyper_util::rt::{TokioIo, TokioTimer};
use retold::inert::inert;
use tokio_rustls::TlsAcceptor;

use crate::asked::Incoming;
use crate::dialect::{self, OTHER};
use crate::front::Front;
use crate::limits::HEAD;
use crate::outlet::Outgoing;
use crate::server::{ask, turned_away};
use crate::session::{lock, refused};
use authority::Authority;
use hosts::is_known;
use tunnel::Tunnels;

pub use authority::AuthorityError;

/// The usual port.
const HTTPS: u16 = 443;

/// How many hosts are remembered for the report at the end.
const MOST_REPORTED: usize = 20;

/// Opens connections to named hosts.
pub struct Interception {
    authority: Authority,
    named: NamedHosts,
    /// How other hosts are reached; `None` if they are refused.
    tunnels: Option<Tunnels>,
    reported: Mutex<Reported>,
}

/// The hosts that the user named; whether all their ports are meant, or only the usual one.
pub type NamedHosts = BTreeMap<String, bool>;

/// What became of connections that were not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reported {
    /// The hosts whose connections a program broke off, because it does not trust our certificate.
    pub distrusted: BTreeSet<String>,
    /// The hosts that were refused in a replay.
    pub refused: BTreeSet<String>,
    /// The hosts that were passed on.
    pub tunnelled: BTreeSet<String>,
}

impl Interception {
    /// Opens the known providers and the named hosts. `live` says whether others are passed on.
    ///
    /// # Errors
    /// [`AuthorityError`].
    pub fn new(named: NamedHosts, live: bool) -> Result<Self, AuthorityError> {
        Ok(Interception {
            authority: Authority::new()?,
            named,
            tunnels: live.then(Tunnels::of_environment),
            reported: Mutex::default(),
        })
    }

    /// The certificate that a program has to trust.
    pub fn pem(&self) -> &str {
        self.authority.pem()
    }

    /// What became of connections that were not recorded.
    pub fn reported(&self) -> Reported {
        lock(&self.reported).clone()
    }

    fn opens(&self, host: &str, port: u16) -> bool {
        match self.named.get(host) {
            Some(true) => true,
            Some(false) => port == HTTPS,
            None => port == HTTPS && is_known(host),
        }
    }

    fn report(&self, host: &str, list: impl FnOnce(&mut Reported) -> &mut BTreeSet<String>) {
        let mut reported = lock(&self.reported);
        let list = list(&mut reported);
        if list.len() < MOST_REPORTED {
            list.insert(inert(host, 100));
        }
    }
}

/// Answers a `CONNECT`.
pub(crate) async fn connect(
    front: Arc<Front>,
    request: Request<IncomingBody>,
) -> Response<Outgoing> {
    let Some(interception) = front.interception.clone() else {
        let said = "retold is not a proxy for this program: `retold record --intercept` is";
        return refused(&OTHER, 405, "retold_connect", said);
    };
    if front.token.as_ref().is_some_and(|token| !token.is_of_proxy(request.headers())) {
        let said =
            "this retold is a proxy for its own program, which finds a secret in HTTPS_PROXY";
        let mut response = refused(&OTHER, 407, "retold_token", said);
        let basic = HeaderValue::from_static("Basic realm=\"retold\"");
        response.headers_mut().insert(header::PROXY_AUTHENTICATE, basic);
        return response;
    }
    let Some(authority) = request.uri().authority().cloned() else {
        return refused(&OTHER, 400, "retold_connect", "CONNECT has no host");
    };
    let host = authority.host().to_ascii_lowercase();
    let port = authority.port_u16().unwrap_or(HTTPS);
    if interception.opens(&host, port) {
        let config = match interception.authority.host(&host) {
            Ok(config) => config,
            Err(error) => return refused(&OTHER, 502, "retold_connect", &error.to_string()),
        };
        let acceptor = TlsAcceptor::from(config);
        tokio::spawn(async move {
            let Ok(upgraded) = upgrade::on(request).await else { return };
            let handshake = tokio::time::timeout(HEAD, acceptor.accept(TokioIo::new(upgraded)));
            match handshake.await {
                Ok(Ok(stream)) => opened(front, host, stream).await,
                Ok(Err(error)) => {
                    tracing::warn!(%host, %error, "the program does not trust our certificate");
                    interception.report(&host, |reported| &mut reported.distrusted);
                }
                Err(_) => tracing::warn!(%host, "the program did not begin its connection"),
            }
        });
        return Response::new(Outgoing::Whole(None));
    }
    let Some(tunnels) = &interception.tunnels else {
        interception.report(&host, |reported| &mut reported.refused);
        let said = format!("{host} was not recorded, and a replay asks nobody");
        return refused(&OTHER, 403, "retold_not_recorded", &said);
    };
    match tunnels.connect(&host, port).await {
        Ok(stream) => {
            interception.report(&host, |reported| &mut reported.tunnelled);
            tokio::spawn(async move {
                if let Ok(upgraded) = upgrade::on(request).await {
                    tunnel::pass_on(upgraded, stream).await;
                }
            });
            Response::new(Outgoing::Whole(None))
        }
        Err(error) => {
            let said = format!("cannot reach {host}:{port}: {error}");
            refused(&OTHER, 502, "retold_connect", &said)
        }
    }
}

/// Serves a connection that was opened.
async fn opened<S>(front: Arc<Front>, host: String, stream: S)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<IncomingBody>| {
        let (front, host) = (front.clone(), host.clone());
        async move { Ok::<_, Infallible>(handle(&front, host, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .half_close(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, "an opened connection ended");
    }
}

async fn handle(front: &Front, host: String, request: Request<IncomingBody>) -> Response<Outgoing> {
    let (parts, body) = request.into_parts();
    let session = match front.opened(&parts.headers).await {
        Ok(session) => session,
        Err(not_let_in) => return turned_away(dialect::at(parts.uri.path()), &not_let_in),
    };
    let incoming = Incoming {
        upstream: host,
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body: Bytes::new(),
    };
    ask(session, incoming, body).await
}
