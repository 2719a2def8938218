//! The store against its contract, against stores that fail, and against each other.

mod caching;
mod compacting;
mod compaction_tampering;
mod conformance;
mod exchanges;
mod faulty;
mod ledgers;
mod model;
mod races;
mod repeating;
mod settling;
mod tampering;
mod uncounted;
mod unpacking;

use std::sync::{Arc, LazyLock};

use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use retold::event::NewEvent;
use retold::id::{RunId, Seq, Time};
use retold::log::{Append, Backend, Head};

use crate::BucketBackend;
use crate::packing::UnpackBudget;
use crate::segment::{MOST_BYTES, Unpacking};

fn open(store: &Arc<dyn ObjectStore>) -> BucketBackend {
    BucketBackend::open_or_create(store.clone(), Path::from("lab"), "memory://lab").unwrap()
}

fn memory() -> Arc<dyn ObjectStore> {
    Arc::new(InMemory::new())
}

/// A budget of its own, as for the first segment that is read.
fn unbounded() -> Unpacking<'static> {
    static BUDGET: LazyLock<UnpackBudget> = LazyLock::new(UnpackBudget::default);
    Unpacking { budget: &BUDGET, most: MOST_BYTES }
}

/// Some events that say a number.
fn some(kind: &'static str, numbers: std::ops::Range<i64>) -> impl Iterator<Item = NewEvent> {
    numbers.map(move |n| NewEvent {
        body: format!("{{\"causes\":[],\"fact\":{n}}}").into(),
        ..NewEvent::new(kind, Time(1_700_000_000_000 + n))
    })
}

fn end(append: &Append) -> Head {
    append.events.last().unwrap().head()
}

/// Starts a run with a commit of three events; returns its end.
fn started(backend: &BucketBackend, run: RunId) -> Head {
    let append = Append::new(run, Head::START, some("Occurred", 0..3));
    backend.committer().unwrap().commit(std::slice::from_ref(&append)).unwrap();
    end(&append)
}

/// How many events of a run can be read.
fn length(backend: &BucketBackend, run: RunId) -> usize {
    backend.reader().unwrap().events(run, Seq(0), usize::MAX).unwrap().len()
}

/// What a store has, by name.
fn objects(store: &Arc<dyn ObjectStore>) -> Vec<Path> {
    use futures::TryStreamExt as _;
    let list = store.list(None);
    let all = list.map_ok(|about| about.location).try_collect::<Vec<_>>();
    let mut all = futures::executor::block_on(all).unwrap();
    all.sort();
    all
}

/// Removes an object, as nobody who uses the program can.
fn removed(store: &Arc<dyn ObjectStore>, object: &Path) -> Vec<u8> {
    futures::executor::block_on(async {
        let bytes = store.get(object).await.unwrap().bytes().await.unwrap();
        store.delete(object).await.unwrap();
        bytes.to_vec()
    })
}

/// Replaces an object, as nobody who uses the program can.
fn replaced(store: &Arc<dyn ObjectStore>, object: &Path, bytes: Vec<u8>) {
    futures::executor::block_on(store.put(object, bytes.into())).unwrap();
}
