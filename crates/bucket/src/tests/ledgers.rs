//! How the ledger is read, and what is seen of it.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use retold::event::NewEvent;
use retold::id::{RunId, Seq, Time};
use retold::log::ledger::Ledger;
use retold::log::{Append, Backend, Head};

use super::faulty::FaultyStore;
use super::{end, memory, open, some, started};
use crate::BucketBackend;

fn reading(store: &Arc<dyn ObjectStore>) -> BucketBackend {
    BucketBackend::open(store.clone(), Path::from("lab"), "memory://lab").unwrap()
}

fn runs(backend: &BucketBackend) -> usize {
    backend.reader().unwrap().runs().unwrap().len()
}

#[test]
fn a_ledger_of_many_objects_is_read_in_few_requests() {
    let bare = memory();
    let backend = open(&bare);
    let counting = Arc::new(FaultyStore::counting(bare.clone()));
    let store: Arc<dyn ObjectStore> = counting.clone();
    for n in 0..1200_u64 {
        let mut id = [0; 8];
        id.copy_from_slice(&n.to_be_bytes());
        let first = some("RunFinished", 0..1);
        let append = Append::new(RunId(id), Head::START, first).into_import();
        backend.committer().unwrap().commit(&[append]).unwrap();
        // The marker, the list, and the objects.
        let due = match n + 1 {
            1 | 2 | 15 | 16 | 32 | 256 => 3,
            17 | 100 | 200 | 255 | 257 => 4,
            300 | 998 => 5,
            // The first list is incomplete and there is no page of 4,096 objects, so the whole list is read.
            1200 => 6,
            _ => continue,
        };
        counting.reads();
        assert_eq!(runs(&reading(&store).as_of_now()) as u64, n + 1);
        assert_eq!(counting.reads(), due, "{}", n + 1);
    }
}

#[test]
fn who_reads_a_log_as_of_a_moment_sees_the_runs_of_that_moment() {
    let store = memory();
    let writing = open(&store);
    let head = started(&writing, RunId([1; 8]));
    let opened = reading(&store);
    let before = opened.as_of_now();
    assert_eq!(runs(&before), 1);
    started(&writing, RunId([2; 8]));
    assert_eq!([runs(&before), runs(&opened), runs(&opened.as_of_now())], [1, 2, 2]);
    let known = |backend: &BucketBackend| {
        Ledger::read(backend.reader().unwrap().as_mut()).unwrap().head().number
    };
    assert_eq!([known(&before), known(&opened)], [1, 2]);
    // What is added to a run that has not ended is seen.
    let more = Append::new(RunId([1; 8]), head, some("Occurred", 3..6));
    writing.committer().unwrap().commit(std::slice::from_ref(&more)).unwrap();
    let read = |after| before.reader().unwrap().events(RunId([1; 8]), Seq(after), 9).unwrap().len();
    assert_eq!(read(3), 3);
    let last = NewEvent::new("RunFinished", Time(1_700_000_000_009));
    let last = Append::new(RunId([1; 8]), end(&more), [last]);
    writing.committer().unwrap().commit(std::slice::from_ref(&last)).unwrap();
    assert_eq!([read(6), read(7)], [1, 0]);
    assert_eq!(opened.as_of_now().reader().unwrap().runs().unwrap()[0].head, end(&last));
}
