//! Segments that this machine keeps.

use std::path::Path;
use std::sync::Arc;

use object_store::ObjectStore;
use retold::id::{RunId, Seq};
use retold::log::{Append, Backend};

use super::faulty::FaultyStore;
use super::{end, memory, objects, open, removed, replaced, some, started};
use crate::{BucketBackend, CompactionResult};

const RUN: RunId = RunId([5; 8]);

/// A log with a run of twelve segments.
fn log() -> Arc<dyn ObjectStore> {
    let store = memory();
    let backend = open(&store);
    let mut head = started(&backend, RUN);
    let mut committer = backend.committer().unwrap();
    for n in 1..12 {
        let events = some("Occurred", n * 3..n * 3 + 3);
        let append = match n {
            11 => Append::new(RUN, head, events.chain(some("RunFinished", 0..1))),
            _ => Append::new(RUN, head, events),
        };
        head = end(&append);
        committer.commit(&[append]).unwrap();
    }
    store
}

/// Reads all of the run in a new process, so to speak; returns how many requests that took.
fn requests(store: &Arc<dyn ObjectStore>, cache: Option<&Path>) -> u64 {
    let counting = Arc::new(FaultyStore::counting(store.clone()));
    let backend = open(&(counting.clone() as Arc<dyn ObjectStore>));
    let backend = with(backend, cache);
    counting.reads();
    let events = backend.reader().unwrap().events(RUN, Seq(0), 1000).unwrap();
    assert_eq!((events.len(), &*events[36].kind), (37, "RunFinished"));
    counting.reads()
}

fn with(backend: BucketBackend, cache: Option<&Path>) -> BucketBackend {
    match cache {
        Some(folder) => backend.keeping_segments_in(folder.to_owned()),
        None => backend,
    }
}

#[test]
fn what_was_read_once_is_not_asked_for_again() {
    let (store, cache) = (log(), tempfile::tempdir().unwrap());
    let cold = requests(&store, Some(cache.path()));
    assert_eq!(cold, requests(&store, None), "a cache costs no request");
    assert_eq!(requests(&store, Some(cache.path())), cold - 12);
}

#[test]
fn an_object_that_was_changed_is_not_read_from_the_cache() {
    let (store, cache) = (log(), tempfile::tempdir().unwrap());
    requests(&store, Some(cache.path()));
    let third = objects(&store).into_iter().filter(|it| it.as_ref().contains("/runs/")).nth(2);
    let third = third.unwrap();
    let mut bytes = removed(&store, &third);
    bytes[10] ^= 1;
    replaced(&store, &third, bytes);
    let backend = with(open(&store), Some(cache.path()));
    let read = backend.reader().unwrap().events(RUN, Seq(6), 1000);
    assert!(read.unwrap_err().to_string().contains("was changed"));
}

#[test]
fn what_is_damaged_in_the_cache_is_read_from_the_store() {
    let (store, cache) = (log(), tempfile::tempdir().unwrap());
    requests(&store, Some(cache.path()));
    for folder in std::fs::read_dir(cache.path()).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            std::fs::write(file.unwrap().path(), "rubbish").unwrap();
        }
    }
    assert_eq!(requests(&store, Some(cache.path())), requests(&store, None));
}

#[test]
fn compacted_segments_are_kept_too() {
    let (store, cache) = (log(), tempfile::tempdir().unwrap());
    let compacted = open(&store).compact(RUN).unwrap();
    assert!(matches!(compacted, CompactionResult::Made { .. }), "{compacted:?}");
    let cold = requests(&store, Some(cache.path()));
    assert!(requests(&store, Some(cache.path())) < cold);
}
