//! From the store's futures to the blocking calls of a log.

use std::future::Future;
use std::sync::mpsc::sync_channel;

use retold::log::LogError;
use tokio::runtime::{Builder, Runtime};

/// A runtime of its own: a log is also read where another runtime is running, whose threads may not wait.
#[derive(Debug)]
pub(crate) struct Bridge {
    /// Taken only when it is dropped.
    runtime: Option<Runtime>,
}

impl Bridge {
    pub(crate) fn new(name: &str) -> Result<Self, LogError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("retold-bucket")
            .enable_all()
            .build()
            .map_err(|error| LogError::failed(name, error))?;
        Ok(Bridge { runtime: Some(runtime) })
    }

    /// Waits for a future, on any thread but those of the runtime itself.
    pub(crate) fn wait<T: Send + 'static>(
        &self,
        name: &str,
        future: impl Future<Output = Result<T, LogError>> + Send + 'static,
    ) -> Result<T, LogError> {
        let ended = || LogError::failed(name, "the task that reads or writes it has ended");
        let runtime = self.runtime.as_ref().ok_or_else(ended)?;
        let (sender, receiver) = sync_channel(1);
        runtime.spawn(async move {
            // Nobody waits for it any more only if the caller's thread is gone.
            let _ = sender.send(future.await);
        });
        receiver.recv().map_err(|_| ended())?
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It may be dropped where another runtime is running.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
