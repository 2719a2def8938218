//! Accepting connections.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::open_files;

/// An address at which connections are waiting to be accepted.
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

/// The place of a connection among those that are served at the same time. It is free again when all its
/// clones are gone.
#[derive(Clone)]
pub struct ConnectionSeat {
    crowded: watch::Receiver<bool>,
    _permit: Arc<OwnedSemaphorePermit>,
}

impl ConnectionSeat {
    /// Whether others wait for a seat.
    pub(crate) fn is_wanted(&self) -> bool {
        *self.crowded.borrow()
    }

    /// Waits until others wait for a seat.
    pub(crate) async fn wait_until_wanted(&mut self) {
        // Without its sender, nothing is accepted any more.
        if self.crowded.wait_for(|it| *it).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
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

    /// Serves each connection, until it is dropped. At most so many are served at the same time, each
    /// of which needs so many open files, and no more than files can be opened; the others wait.
    pub async fn each<F>(
        self,
        most: usize,
        files: usize,
        serve: impl Fn(TcpStream, ConnectionSeat) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let connections = Arc::new(Semaphore::new(open_files::room_for(most, files)));
        let (sender, crowded) = watch::channel(false);
        loop {
            let stream = match self.listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    // Out of file descriptors, for example: others will be closed.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let permit = match connections.clone().try_acquire_owned() {
                Ok(permit) => permit,
                Err(_) => {
                    sender.send_replace(true);
                    // The semaphore is never closed.
                    let Ok(permit) = connections.clone().acquire_owned().await else { return };
                    sender.send_replace(false);
                    permit
                }
            };
            // Answers are small, and each is waited for.
            let _ = stream.set_nodelay(true);
            let seat = ConnectionSeat { crowded: crowded.clone(), _permit: Arc::new(permit) };
            tokio::spawn(serve(stream, seat));
        }
    }
}
