//! Connections to hosts that are not opened: passed on as they are, through the user's proxy.

use std::io;

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::http::uri::PathAndQuery;
use hyper::http::{HeaderMap, header};
use hyper::upgrade::Upgraded;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::addresses::HTTP;
use crate::limits::{CONNECT, FILES_EXHAUSTED};
use crate::open_files;

/// The user's proxy, as the environment names it.
pub(crate) struct Tunnels(Matcher);

impl Tunnels {
    /// The proxy of this process's environment.
    pub(crate) fn of_environment() -> Self {
        Tunnels(Matcher::from_env())
    }

    /// Connects to a host.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub(crate) async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        tokio::time::timeout(CONNECT, self.reach(host, port)).await.map_err(late)?
    }

    async fn reach(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        let target: Uri = format!("https://{host}:{port}").parse().map_err(io::Error::other)?;
        let Some(proxy) = self.proxy(&target)? else {
            return directly(host, port).await;
        };
        let mut tunnel = Tunnel::new(proxy.uri().clone(), HttpConnector::new());
        if let Some(authorization) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let reached = tunnel.call(target).await.map_err(io::Error::other)?;
        Ok(reached.into_inner())
    }

    /// Sends a request without TLS as it is, and waits for the head of the answer.
    ///
    /// # Errors
    /// If the host cannot be reached, or does not answer in HTTP.
    pub(crate) async fn send(
        &self,
        host: &str,
        port: u16,
        mut request: Request<Incoming>,
    ) -> io::Result<Response<Incoming>> {
        without_hops(request.headers_mut());
        let proxy = self.proxy(request.uri())?;
        let connecting = async {
            match &proxy {
                None => directly(host, port).await,
                Some(proxy) => {
                    let at = proxy.uri();
                    let port = at.port_u16().unwrap_or(HTTP);
                    directly(at.host().unwrap_or_default(), port).await
                }
            }
        };
        let late = |_| io::Error::from(io::ErrorKind::TimedOut);
        let stream = tokio::time::timeout(CONNECT, connecting).await.map_err(late)??;
        match &proxy {
            Some(proxy) => {
                if let Some(authorization) = proxy.basic_auth() {
                    let name = header::PROXY_AUTHORIZATION;
                    request.headers_mut().insert(name, authorization.clone());
                }
            }
            // A server wants the path alone.
            None => {
                let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str);
                *request.uri_mut() = path.parse().map_err(io::Error::other)?;
            }
        }
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        // It ends with the answer, and whoever reads that hears of errors.
        tokio::spawn(async move { drop(connection.await) });
        let mut response = sender.send_request(request).await.map_err(io::Error::other)?;
        without_hops(response.headers_mut());
        Ok(response)
    }

    /// The proxy for a URL.
    fn proxy(&self, target: &Uri) -> io::Result<Option<Intercept>> {
        let proxy = self.0.intercept(target);
        match &proxy {
            Some(proxy) if proxy.uri().scheme_str() != Some("http") => {
                Err(io::Error::other("tunnels go through a proxy with an http:// address only"))
            }
            _ => Ok(proxy),
        }
    }
}

/// Connects, once there are not too many files open.
async fn directly(host: &str, port: u16) -> io::Result<TcpStream> {
    loop {
        match TcpStream::connect((host.trim_matches(['[', ']']), port)).await {
            Err(error) if open_files::are_exhausted(&error) => {
                tokio::time::sleep(FILES_EXHAUSTED).await;
            }
            connected => return connected,
        }
    }
}

/// Takes out the headers that concern one connection only.
fn without_hops(headers: &mut HeaderMap) {
    for name in [
        header::CONNECTION,
        header::PROXY_AUTHORIZATION,
        header::PROXY_AUTHENTICATE,
        header::TE,
        header::UPGRADE,
    ] {
        headers.remove(name);
    }
    headers.remove("keep-alive");
    headers.remove("proxy-connection");
}

/// Passes on what both sides send, until both have ended.
pub(crate) async fn pass_on(client: Upgraded, mut host: TcpStream) {
    let mut client = TokioIo::new(client);
    // However it ends: both sides know best.
    drop(tokio::io::copy_bidirectional(&mut client, &mut host).await);
}
