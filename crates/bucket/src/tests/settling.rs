//! What a process that died leaves behind.

use retold::id::{RunId, Seq};
use retold::log::ledger::Ledger;
use retold::log::{Append, Backend, Head, LogError, verify_all};
use retold::process::ProcessStart;

use crate::BucketBackend;
use crate::names::Names;
use crate::segment::{NewSegment, encode};
use crate::writer::Writer;

use super::{end, length, memory, objects, open, removed, some, started};

/// A run whose last segment was put by this writer.
fn written_by(writer: &Writer) -> (BucketBackend, RunId) {
    let (run, store) = (RunId([7; 8]), memory());
    let backend = open(&store);
    // Long before any process of this machine started, by its clock.
    let append =
        Append::new(run, Head::START, some("Occurred", -1_600_000_000_000..-1_599_999_999_998));
    let (events, entries) = (append.events.as_slice(), Vec::new());
    let new = NewSegment { run, events, writer, more: false, entries };
    let name = Names::new(object_store::path::Path::from("lab")).segment(run, Seq(1));
    super::replaced(&store, &name, encode(new).unwrap().0);
    (backend, run)
}

/// Neither the time of an event nor that of an inode says that its writer is dead.
#[cfg(target_os = "linux")]
#[test]
fn a_living_writer_keeps_its_run_whatever_the_clock_says() {
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let (pid, here) = (child.id(), Writer::new("").unwrap());
    let started = ProcessStart::of(pid);
    let in_use = |writer: &Writer| {
        let (backend, run) = written_by(writer);
        match backend.lease(run) {
            Ok(_) => false,
            Err(LogError::InUse { holder, .. }) => holder.contains(&format!("process {pid} on")),
            Err(error) => panic!("{error}"),
        }
    };
    let alive = Writer { pid, started: started.clone(), ..here.clone() };
    // Its machine has another name by now.
    let renamed = Writer { host: "before".to_owned(), ..alive.clone() };
    // The first logs do not say when it started.
    let old = Writer { started: None, ..alive.clone() };
    let start =
        |start: &str| started.clone().map(|it| ProcessStart { start: start.to_owned(), ..it });
    // The number of a process that has ended was given to this one.
    let again = Writer { started: start("1"), ..alive.clone() };
    let elsewhere = Writer { host: "node7".to_owned(), ..old.clone() };
    let boot = started.clone().map(|it| ProcessStart { boot: "another".to_owned(), ..it });
    let before = Writer { started: boot, ..alive.clone() };
    let found = [&alive, &renamed, &old, &again, &elsewhere, &before, &here].map(in_use);
    assert_eq!(found, [true, true, true, false, false, false, false]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!([&alive, &renamed, &old].map(in_use), [false; 3]);
}

/// The name of the last object of the ledger.
fn last_of_ledger(
    store: &std::sync::Arc<dyn object_store::ObjectStore>,
) -> object_store::path::Path {
    objects(store).into_iter().rfind(|path| path.as_ref().starts_with("lab/ledger/")).unwrap()
}

#[test]
fn a_commit_counts_when_the_ledger_has_its_entries() {
    let store = memory();
    let (run, backend) = (RunId([1; 8]), open(&store));
    let head = started(&backend, run);
    let last = Append::new(run, head, some("Occurred", 3..5).chain(some("RunFinished", 5..6)));
    backend.committer().unwrap().commit(std::slice::from_ref(&last)).unwrap();
    assert_eq!(length(&backend, run), 6);
    // The process died between the segment and its entry.
    let entry = last_of_ledger(&store);
    let before = removed(&store, &entry);
    let backend = open(&store);
    assert_eq!(length(&backend, run), 3);
    assert_eq!(backend.reader().unwrap().runs().unwrap()[0].head, head);
    let (_, problems) = verify_all(backend.reader().unwrap().as_mut()).unwrap();
    assert_eq!(problems, [], "it is not damage");
    // Whoever takes the lease next decides it, and the ledger is as it was to be.
    drop(backend.lease(run).unwrap());
    assert_eq!(length(&backend, run), 6);
    assert_eq!(removed(&store, &entry), before);
}

#[test]
fn a_run_whose_first_commit_was_not_decided_has_not_begun() {
    let store = memory();
    let (run, backend) = (RunId([2; 8]), open(&store));
    let head = started(&backend, run);
    removed(&store, &last_of_ledger(&store));
    let backend = open(&store);
    assert!(backend.reader().unwrap().runs().unwrap().is_empty());
    assert_eq!(length(&backend, run), 0);
    drop(backend.lease(run).unwrap());
    assert_eq!(backend.reader().unwrap().runs().unwrap()[0].head, head);
}

#[test]
fn an_import_that_was_interrupted_is_continued_by_the_next() {
    let (run, whole) = (RunId([3; 8]), memory());
    // More than fits into one segment.
    let append = Append::new(run, Head::START, some("Occurred", 0..10_000)).into_import();
    open(&whole).committer().unwrap().commit(std::slice::from_ref(&append)).unwrap();
    let names = objects(&whole);
    let segments: Vec<_> = names.iter().filter(|name| name.as_ref().contains("/runs/")).collect();
    assert_eq!(segments.len(), 3, "{names:?}");
    for left in 0..3 {
        // Only so many of its segments were put.
        let store = memory();
        open(&store);
        for segment in &segments[..left] {
            let bytes = removed(&whole, segment);
            super::replaced(&whole, segment, bytes.clone());
            super::replaced(&store, segment, bytes);
        }
        let backend = open(&store);
        assert_eq!(length(&backend, run), 0, "an import is seen as a whole or not at all");
        drop(backend.lease(run).unwrap());
        let mut committer = backend.committer().unwrap();
        committer.commit(std::slice::from_ref(&append)).unwrap();
        assert_eq!(backend.reader().unwrap().runs().unwrap()[0].head, end(&append));
        let ledger = Ledger::read(backend.reader().unwrap().as_mut()).unwrap();
        assert_eq!(ledger.entries_of(run).count(), 1);
        assert_eq!(
            backend.reader().unwrap().events(run, Seq(9_999), 1).unwrap()[0].seq,
            Seq(10_000)
        );
    }
}

#[test]
fn a_long_import_is_put_while_it_is_read_and_seen_when_it_is_whole() {
    let (run, store) = (RunId([4; 8]), memory());
    let backend = open(&store);
    let mut committer = backend.committer().unwrap();
    let mut head = Head::START;
    for n in 0..10 {
        let append = Append::new(run, head, some("Occurred", n * 1000..(n + 1) * 1000));
        head = end(&append);
        committer.append(&append.imported_with_more()).unwrap();
    }
    assert!(objects(&store).iter().any(|name| name.as_ref().contains("/runs/")));
    assert_eq!(length(&backend, run), 0);
    let last = Append::new(run, head, some("Occurred", 10_000..10_001));
    head = end(&last);
    committer.append(&last.into_import()).unwrap();
    committer.flush().unwrap();
    assert_eq!(open(&store).reader().unwrap().runs().unwrap()[0].head, head);
}

#[test]
fn the_last_writer_of_a_run_is_named_wherever_it_ran() {
    let (here, elsewhere, store) = (RunId([5; 8]), RunId([6; 8]), memory());
    let backend = open(&store);
    started(&backend, here);
    let writer = backend.last_writer(here).unwrap().unwrap();
    assert_eq!((writer.pid, writer.is_alive), (std::process::id(), Some(true)));
    assert_eq!(backend.last_writer(elsewhere).unwrap(), None);
    // A machine of which nothing is known here.
    let append = Append::new(elsewhere, Head::START, some("Occurred", 0..3));
    let writer = Writer { id: "1".repeat(16), host: "node7".to_owned(), pid: 12, started: None };
    let (run, events, entries) = (elsewhere, append.events.as_slice(), Vec::new());
    let new = NewSegment { run, events, writer: &writer, more: false, entries };
    let name = Names::new(object_store::path::Path::from("lab")).segment(run, Seq(1));
    super::replaced(&store, &name, encode(new).unwrap().0);
    let writer = backend.last_writer(elsewhere).unwrap().unwrap();
    assert_eq!((writer.host.as_str(), writer.pid, writer.is_alive), ("node7", 12, None));
}
