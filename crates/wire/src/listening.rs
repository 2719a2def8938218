//! Accepting connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// An address at which connections are waiting to be accepted.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Listens at an address.
    ///
    /// # Errors
    /// If it is taken, or not one of this machine.
    pub async fn at(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Listening { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves each connection, and at most so many at the same time, until it is dropped.
    pub async fn each<F>(self, most: usize, serve: impl Fn(TcpStream) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let connections = Arc::new(Semaphore::new(most));
        loop {
            // The semaphore is never closed.
            let Ok(permit) = connections.clone().acquire_owned().await else { return };
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    // Out of file descriptors, for example: others will be closed.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            // Answers are small, and each is waited for.
            let _ = stream.set_nodelay(true);
            let served = serve(stream);
            tokio::spawn(async move {
                let _permit = permit;
                served.await;
            });
        }
    }
}
