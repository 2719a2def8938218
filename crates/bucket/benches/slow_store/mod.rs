//! A store in memory, near and at a distance.

use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use retold_bucket::BucketBackend;

/// The log in a store; it is created if there is none.
pub(crate) fn open(store: Arc<dyn ObjectStore>) -> BucketBackend {
    BucketBackend::open_or_create(store, Path::from("lab"), "memory://lab").unwrap()
}

/// The same store, at a distance.
pub(crate) fn slow(store: &Arc<InMemory>, added: Duration) -> Arc<dyn ObjectStore> {
    let config = ThrottleConfig {
        wait_get_per_call: added,
        wait_list_per_call: added,
        ..ThrottleConfig::default()
    };
    Arc::new(ThrottledStore::new(store.clone(), config))
}
