//! Connections to hosts that are not opened: passed on as they are, through the user's proxy.

use std::io;

use hyper::Uri;
use hyper::upgrade::Upgraded;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::limits::CONNECT;

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
        let Some(proxy) = self.0.intercept(&target) else {
            return TcpStream::connect((host.trim_matches(['[', ']']), port)).await;
        };
        if proxy.uri().scheme_str() != Some("http") {
            return Err(io::Error::other(
                "tunnels go through a proxy with an http:// address only",
            ));
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), HttpConnector::new());
        if let Some(authorization) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let reached = tunnel.call(target).await.map_err(io::Error::other)?;
        Ok(reached.into_inner())
    }
}

/// Passes on what both sides send, until both have ended.
pub(crate) async fn pass_on(client: Upgraded, mut host: TcpStream) {
    let mut client = TokioIo::new(client);
    // However it ends: both sides know best.
    drop(tokio::io::copy_bidirectional(&mut client, &mut host).await);
}
