//! What all connections of a process to one log share.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use object_store::ObjectStore;
use retold::id::RunId;
use retold::log::LogError;

use crate::bridge::Bridge;
use crate::names::Names;
use crate::objects::Objects;
use crate::segments::Segments;

/// What all connections of a process share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) segments: Arc<Segments>,
    bridge: Bridge,
    /// The runs that this process writes.
    leases: Mutex<BTreeSet<RunId>>,
}

impl Shared {
    pub(crate) fn new(
        store: Arc<dyn ObjectStore>,
        prefix: object_store::path::Path,
        name: &str,
    ) -> Result<Self, LogError> {
        let objects = Objects::new(store, name.into());
        let segments = Arc::new(Segments::new(objects, Names::new(prefix)));
        let bridge = Bridge::new().map_err(|error| LogError::failure(name, error))?;
        Ok(Shared { segments, bridge, leases: Mutex::default() })
    }

    /// Waits for work on the segments.
    pub(crate) fn wait<
        T: Send + 'static,
        F: Future<Output = Result<T, LogError>> + Send + 'static,
    >(
        &self,
        work: impl FnOnce(Arc<Segments>) -> F,
    ) -> Result<T, LogError> {
        let done = self.bridge.result_of(work(self.segments.clone()));
        done.unwrap_or_else(|ended| Err(LogError::failure(self.segments.objects.name(), ended)))
    }

    pub(crate) fn leases(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
