//! The contract of a store, checked for each.

use retold::log::{
    Backend as _, MemoryBackend, SqliteBackend, SqliteOptions, conformance::conforms,
};

use crate::support::logs::Folder;

#[test]
fn memory_conforms() {
    conforms(&MemoryBackend::new());
}

#[test]
fn sqlite_conforms() {
    let folder = Folder::new();
    let path = folder.path();
    conforms(&SqliteBackend::open_or_create(&path, SqliteOptions::default()).unwrap());
    // The same again, on what another process has left.
    let again = SqliteBackend::open(&path, SqliteOptions::default()).unwrap();
    assert_eq!(again.reader().unwrap().runs().unwrap().len(), 10);
}
