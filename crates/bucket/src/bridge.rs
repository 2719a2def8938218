//! From the store's futures to the blocking calls of a log.

use std::future::Future;
use std::io;
use std::sync::mpsc::sync_channel;

use tokio::runtime::{Builder, Runtime};

/// A runtime of its own: a log is also read where another runtime is running, whose threads may not wait.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// Taken only when it is dropped.
    runtime: Option<Runtime>,
}

impl Bridge {
    pub(crate) fn new() -> io::Result<Self> {
        // Segments are unpacked and checked on its threads. With one alone, nothing could be sent meanwhile.
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name("retold-bucket")
            .enable_all()
            .build()?;
        Ok(Bridge { runtime: Some(runtime) })
    }

    /// Waits for a future, on any thread but those of the runtime itself.
    pub(crate) fn result_of<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, BridgeEnded> {
        let runtime = self.runtime.as_ref().ok_or(BridgeEnded)?;
        let (sender, receiver) = sync_channel(1);
        runtime.spawn(async move {
            // Nobody waits for it any more only if the caller's thread is gone.
            let _ = sender.send(future.await);
        });
        receiver.recv().map_err(|_| BridgeEnded)
    }
}

/// Nothing is done any more.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the task that reads or writes it has ended")]
pub(crate) struct BridgeEnded;

impl Drop for Bridge {
    fn drop(&mut self) {
        // It may be dropped where another runtime is running.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
