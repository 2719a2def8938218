//! Programs that take retold for their proxy. If they have a host written into them, connections to the
//! named hosts (`CONNECT`) are opened with a certificate of our own, which only they trust. All others
//! are passed on and counted.

mod authority;
pub(crate) mod hosts;
mod tunnel;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hyper::body::Incoming as IncomingBody;
use hyper::http::uri::Authority as HostAndPort;
use hyper::http::{HeaderMap, HeaderValue, Request, header};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Response, upgrade};
use hyper_util::rt::{TokioIo, TokioTimer};
use retold::escaping::printable;
use tokio_rustls::TlsAcceptor;

use crate::asked::Incoming;
use crate::dialect::{self, Dialect, OTHER};
use crate::front::Front;
use crate::limits::HEAD;
use crate::listening::Seat;
use crate::locations::Here;
use crate::outlet::Outgoing;
use crate::server::{ask, turned_away};
use crate::session::{lock, refused};
use authority::Authority;
use tunnel::Tunnels;

pub use authority::AuthorityError;
pub use hosts::{is_known, not_hiding};

/// The usual port of HTTP.
pub(crate) const HTTP: u16 = 80;

/// The usual port of HTTPS.
pub(crate) const HTTPS: u16 = 443;

/// How many hosts are remembered for the report at the end.
const MOST_REPORTED: usize = 100;

/// What all other hosts are called.
const OTHERS: &str = "other hosts";

/// What becomes of the connections of a program that takes us for its proxy.
pub struct Interception {
    /// Opens those to known providers and to named hosts; `None` if they are only counted.
    authority: Option<Authority>,
    named: NamedHosts,
    /// How other hosts are reached; `None` if they are refused.
    tunnels: Option<Tunnels>,
    /// Whether something is recorded; otherwise, models are not reached.
    live: bool,
    reported: Mutex<Reported>,
    /// What stands before `/UPSTREAM/PATH` in a URL for this program.
    here: String,
}

/// The hosts that the user named; whether all their ports are meant, or only the usual one.
pub type NamedHosts = BTreeMap<String, bool>;

/// What became of connections that were not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reported {
    /// The hosts whose connections a program broke off, because it does not trust our certificate.
    pub distrusted: BTreeSet<String>,
    /// How often each host was refused in a replay. A host that is asked without TLS begins with
    /// `http://`; a port that is not the usual one follows.
    pub refused: BTreeMap<String, u64>,
    /// How often connections or requests to each host were passed on.
    pub passed: BTreeMap<String, u64>,
    /// How often a host could not be reached to which a connection or request was to be passed on.
    pub unreached: BTreeMap<String, u64>,
}

impl Interception {
    /// Opens the known providers and the named hosts. `live` says whether others are passed on.
    /// `here` is our address for this program.
    ///
    /// # Errors
    /// [`AuthorityError`].
    pub fn new(named: NamedHosts, live: bool, here: String) -> Result<Self, AuthorityError> {
        let tunnels = live.then(Tunnels::of_environment);
        let authority = Some(Authority::new()?);
        Ok(Interception { authority, named, tunnels, live, reported: Mutex::default(), here })
    }

    /// Passes all connections on, and counts them; unless it is `live`, those to known providers and
    /// the named hosts are refused.
    pub fn watching(named: NamedHosts, live: bool, here: String) -> Self {
        let (authority, tunnels) = (None, Some(Tunnels::of_environment()));
        Interception { authority, named, tunnels, live, reported: Mutex::default(), here }
    }

    /// The certificate that a program has to trust, if connections are opened.
    pub fn pem(&self) -> Option<&str> {
        self.authority.as_ref().map(Authority::pem)
    }

    /// What became of connections that were not recorded.
    pub fn reported(&self) -> Reported {
        lock(&self.reported).clone()
    }

    /// Whether connections to a host are opened.
    pub(crate) fn opens(&self, host: &str, port: u16) -> bool {
        let any_port = self.named.get(host).copied().unwrap_or_default();
        self.authority.is_some() && self.is_model(host) && (any_port || port == HTTPS)
    }

    /// Whether a model may answer at a host, at whatever port.
    fn is_model(&self, host: &str) -> bool {
        self.named.contains_key(host) || is_known(host)
    }

    /// Counts a connection or request to a host.
    fn count(&self, host: &str, list: impl FnOnce(&mut Reported) -> &mut BTreeMap<String, u64>) {
        let mut reported = lock(&self.reported);
        let list = list(&mut reported);
        let host = printable(host, 100);
        let is_named = list.len() < MOST_REPORTED || list.contains_key(&host);
        *list.entry(if is_named { host } else { OTHERS.to_owned() }).or_default() += 1;
    }

    /// Refuses a host that a replay does not reach.
    fn refuse(&self, host: &str) -> Response<Outgoing> {
        self.count(host, |reported| &mut reported.refused);
        let said = format!("{} was not recorded, and a replay asks nobody", printable(host, 100));
        refused(&OTHER, 403, "retold_not_recorded", &said)
    }
}

/// What a client gets that takes us for its proxy and does not know our secret.
fn turned_away_by_proxy(front: &Front, headers: &HeaderMap) -> Option<Response<Outgoing>> {
    if front.token.as_ref().is_none_or(|token| token.is_of_proxy(headers)) {
        return None;
    }
    let said = "this retold is a proxy for its own program, which finds a secret in HTTPS_PROXY";
    let mut response = refused(&OTHER, 407, "retold_token", said);
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
        return refusal;
    }
    let host = name_of(authority);
    let port = authority.port_u16().unwrap_or(HTTP);
    let shown = match port {
        HTTP => format!("http://{host}"),
        port => format!("http://{host}:{port}"),
    };
    let is_for_a_model =
        dialect::at(request.uri().path()).name() != OTHER.name() || interception.is_model(&host);
    let Some(tunnels) =
        interception.tunnels.as_ref().filter(|_| interception.live || !is_for_a_model)
    else {
        return interception.refuse(&shown);
    };
    match tunnels.send((&host, port), request).await {
        Ok(response) => {
            interception.count(&shown, |reported| &mut reported.passed);
            response.map(Outgoing::Passed)
        }
        Err(error) => {
            interception.count(&shown, |reported| &mut reported.unreached);
            refused(&OTHER, 502, "retold_connect", &format!("cannot reach {shown}: {error}"))
        }
    }
}

/// Answers a `CONNECT`.
pub(crate) async fn connect(
    front: Arc<Front>,
    request: Request<IncomingBody>,
    seat: Seat,
) -> Response<Outgoing> {
    let Some(interception) = front.interception.clone() else {
        let said =
            "retold is not a proxy for this program: `--intercept` and `--watch` make it one";
        return refused(&OTHER, 405, "retold_connect", said);
    };
    if let Some(refusal) = turned_away_by_proxy(&front, request.headers()) {
        return refusal;
    }
    let Some(authority) = request.uri().authority().cloned() else {
        return refused(&OTHER, 400, "retold_connect", "CONNECT has no host");
    };
    let host = name_of(&authority);
    let port = authority.port_u16().unwrap_or(HTTPS);
    let is_model = interception.is_model(&host);
    let opens = interception.opens(&host, port);
    if let Some(opening) = interception.authority.as_ref().filter(|_| opens) {
        let config = match opening.host(&host) {
            Ok(config) => config,
            Err(error) => return refused(&OTHER, 502, "retold_connect", &error.to_string()),
        };
        let acceptor = TlsAcceptor::from(config);
        tokio::spawn(async move {
            // What was upgraded is still a connection.
            let _seat = seat;
            let Ok(upgraded) = upgrade::on(request).await else { return };
            let handshake = tokio::time::timeout(HEAD, acceptor.accept(TokioIo::new(upgraded)));
            match handshake.await {
                Ok(Ok(stream)) => opened(front, (host, port), stream).await,
                Ok(Err(error)) => {
                    tracing::warn!(%host, %error, "the program does not trust our certificate");
                    let mut reported = lock(&interception.reported);
                    if reported.distrusted.len() < MOST_REPORTED {
                        reported.distrusted.insert(printable(&host, 100));
                    }
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
            refused(&OTHER, 502, "retold_connect", &said)
        }
    }
}

/// Serves a connection that was opened.
async fn opened<S>(front: Arc<Front>, (host, port): (String, u16), stream: S)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |request: Request<IncomingBody>| {
        let (front, host) = (front.clone(), host.clone());
        async move { Ok::<_, Infallible>(handle(&front, (host, port), request).await) }
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

async fn handle(
    front: &Front,
    (host, port): (String, u16),
    request: Request<IncomingBody>,
) -> Response<Outgoing> {
    let (parts, body) = request.into_parts();
    let session = match front.opened(&parts.headers).await {
        Ok(session) => session,
        Err(not_let_in) => return turned_away(dialect::at(parts.uri.path()), &not_let_in),
    };
    let opened = match port {
        HTTPS => host.clone(),
        port => format!("{host}:{port}"),
    };
    let interception = front.interception.clone();
    let base = interception.as_ref().map_or_else(String::new, |it| it.here.clone());
    let here = Here { base, opened: Some(opened), cookies: None, interception };
    let incoming = Incoming {
        upstream: host,
        is_led: false,
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body: Bytes::new(),
    };
    let mut answer = ask(session.clone(), incoming, (body, &front.bodies)).await;
    here.outward(&mut answer, &session);
    answer
}
