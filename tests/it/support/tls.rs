//! HTTPS in front of a plain HTTP server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// A certificate or key that was made for tests.
pub(crate) fn pem(name: &str) -> PathBuf {
    PathBuf::from(env!("RETOLD_ROOT")).join("fixtures/tls").join(name)
}

/// Completes the handshake with each client, and passes on what it sends; ends when dropped.
pub(crate) struct Front {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    _stop: oneshot::Sender<()>,
}

impl Front {
    pub(crate) fn new(server: &super::server::Server) -> Self {
        Front::at("127.0.0.1", server)
    }

    /// The same at another address of this machine.
    pub(crate) fn at(ip: &str, server: &super::server::Server) -> Self {
        let listener = std::net::TcpListener::bind((ip, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (address, upstream) = (listener.local_addr().unwrap(), server.address());
        let (stop, stopped) = oneshot::channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = connections.clone();
        std::thread::spawn(move || {
            super::block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, upstream, counted) => {}
                }
            });
        });
        Front { address, connections, _stop: stop }
    }

    /// `https://127.0.0.1:PORT/v1`.
    pub(crate) fn base_url(&self) -> String {
        format!("https://{}/v1", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many connections were made, whatever came of them.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, upstream: SocketAddr, connections: Arc<AtomicUsize>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let chain = CertificateDer::pem_file_iter(pem("server.pem")).unwrap().map(Result::unwrap);
    let key = PrivateKeyDer::from_pem_file(pem("server.key")).unwrap();
    let config = config.with_single_cert(chain.collect(), key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        connections.fetch_add(1, Ordering::SeqCst);
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client that does not trust the certificate disconnects, which is what is tested.
            let Ok(mut client) = acceptor.accept(stream).await else { return };
            let mut server = TcpStream::connect(upstream).await.unwrap();
            drop(tokio::io::copy_bidirectional(&mut client, &mut server).await);
        });
    }
}
