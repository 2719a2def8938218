//! The contract of a store.

use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::{Error, ObjectStore, ObjectStoreExt};
use retold::log::conformance::conforms;
use retold::log::{Backend, LogError};

use super::faulty::FaultyStore;
use super::{memory, objects, open};
use crate::BucketBackend;

#[test]
fn memory_conforms() {
    conforms(&open(&memory()));
}

#[test]
fn a_folder_conforms_and_so_does_what_another_process_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    conforms(&open(&store));
    assert_eq!(open(&store).reader().unwrap().runs().unwrap().len(), 10);
    let names = objects(&store).iter().map(ToString::to_string).collect::<Vec<_>>();
    assert!(names.iter().all(|name| name.starts_with("lab/")), "{names:?}");
}

#[test]
fn a_log_needs_nothing_that_the_policy_of_an_append_only_bucket_forbids() {
    let store: Arc<dyn ObjectStore> = Arc::new(FaultyStore::with_policy(memory()));
    conforms(&open(&store));
    let object = objects(&store).pop().unwrap();
    for forbidden in [
        futures::executor::block_on(store.put(&object, "other".into())).map(|_| ()),
        futures::executor::block_on(store.delete(&object)),
        futures::executor::block_on(store.copy(&object, &"lab/copy".into())),
    ] {
        assert!(matches!(forbidden, Err(Error::PermissionDenied { .. })), "{forbidden:?}");
    }
}

#[test]
fn a_store_that_refuses_and_loses_replies_conforms() {
    for seed in 0..8 {
        let store: Arc<dyn ObjectStore> = Arc::new(FaultyStore::failing(memory(), seed));
        conforms(&open(&store));
    }
}

/// Whether the store has carried out what it denies is found out by reading it back.
#[test]
fn a_store_that_says_by_mistake_that_an_object_exists_conforms() {
    for times in [1, 2, 1000] {
        let store: Arc<dyn ObjectStore> = Arc::new(FaultyStore::denying(memory(), times));
        conforms(&open(&store));
    }
}

#[test]
fn a_store_that_overwrites_is_refused() {
    let store: Arc<dyn ObjectStore> = Arc::new(FaultyStore::overwriting(memory()));
    let path = object_store::path::Path::from("lab");
    let refused = BucketBackend::open_or_create(store, path, "s3://lab").unwrap_err();
    assert!(matches!(refused, LogError::CannotOpen { .. }), "{refused}");
    assert!(refused.to_string().contains("conditional writes"), "{refused}");
}

#[test]
fn a_place_without_a_log_and_one_of_something_else_are_told_apart() {
    let (store, path) = (memory(), object_store::path::Path::from("lab"));
    let open = || BucketBackend::open(store.clone(), path.clone(), "s3://lab").unwrap_err();
    assert_eq!(open().to_string(), "there is no log at s3://lab");
    super::replaced(&store, &path.clone().join("retold.json"), b"{\"format\":1}".to_vec());
    assert!(matches!(open(), LogError::NotALog { .. }), "{}", open());
    let newer = br#"{"format":2,"retold":"log"}"#.to_vec();
    super::replaced(&store, &path.clone().join("retold.json"), newer);
    assert_eq!(open().to_string(), "s3://lab has log format 2; this program reads format 1");
}
