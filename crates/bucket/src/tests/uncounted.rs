//! What the last object of the ledger leaves when somebody removes it.

use std::sync::Arc;

use object_store::ObjectStore;
use retold::event::NewEvent;
use retold::event::chain::ChainLink;
use retold::exchange::LineOfEvent;
use retold::id::{RunId, Seq, Time};
use retold::log::ledger::LedgerChange;
use retold::log::{Append, Backend, Head, UncountedEvents, verify_all};

use super::compacting::expired;
use super::exchanges::recorded;
use super::tampering::said;
use super::{end, memory, objects, open, removed, replaced, some, started, unbounded};
use crate::segment::{Segment, SegmentLines, decode};

const RUN: RunId = RunId([7; 8]);

fn one(kind: &'static str) -> NewEvent {
    NewEvent {
        body: r#"{"outcome":"finished"}"#.into(),
        ..NewEvent::new(kind, Time(1_700_000_000_000))
    }
}

fn without_last_entry(store: &Arc<dyn ObjectStore>) {
    let last = objects(store).into_iter().rfind(|path| path.as_ref().contains("/ledger/"));
    removed(store, &last.unwrap());
}

/// Says of the last segment of a run that a process wrote it which is not alive, or is on another machine.
fn written_by(store: &Arc<dyn ObjectStore>, host: Option<&str>) {
    let path = objects(store).into_iter().rfind(|path| path.as_ref().contains("/runs/")).unwrap();
    let number = crate::names::number_of(&path).unwrap();
    let bytes = removed(store, &path);
    let segment = decode(path.as_ref(), (RUN, Seq(number)), &bytes, unbounded()).unwrap();
    let Segment { mut footer, events, .. } = segment;
    footer.writer.pid = u32::MAX;
    footer.writer.started = footer.writer.started.filter(|_| host.is_none());
    footer.writer.host = host.map_or(footer.writer.host, str::to_owned);
    let mut lines = SegmentLines::default();
    for event in &events {
        let line = LineOfEvent {
            canonical: ChainLink::of_stored(event).canonical(),
            hash: event.hash,
            content: event.content.as_ref(),
            prompt: event.prompt,
        };
        lines.add(line, None).unwrap();
    }
    replaced(store, &path, lines.pack(footer).unwrap().0);
}

/// What does not count, and what verification says.
fn found(store: &Arc<dyn ObjectStore>) -> Vec<UncountedEvents> {
    let backend = open(store);
    let (_, problems) = verify_all(backend.reader().unwrap().as_mut()).unwrap();
    assert_eq!(problems, []);
    backend.reader().unwrap().uncounted_events(None).unwrap()
}

#[test]
fn the_end_of_a_run_that_the_ledger_does_not_have_is_named_and_comes_back_with_the_next_lease() {
    let store = memory();
    let backend = open(&store);
    let head = started(&backend, RUN);
    let last = Append::new(RUN, head, [one("RunFinished")]);
    backend.committer().unwrap().commit(std::slice::from_ref(&last)).unwrap();
    assert_eq!(found(&store), []);
    without_last_entry(&store);
    // This process may be about to write it.
    assert_eq!(found(&store), []);
    written_by(&store, None);
    let [events] = &found(&store)[..] else { panic!() };
    assert_eq!((events.run, events.first, events.last), (RUN, Seq(4), Seq(4)));
    assert_eq!(events.changes, [LedgerChange::Finished]);
    let said = events.to_string();
    let expected = format!(
        "run {RUN}: event 4 is stored and does not count, because the ledger does not say that the run was finished: process \
         4294967295 on "
    );
    assert!(said.starts_with(&expected), "{said}");
    let end_of = " stored it and died before it wrote to the ledger, or the last object of the ledger was removed";
    assert!(said.ends_with(end_of), "{said}");
    written_by(&store, Some("node7"));
    let said = found(&store)[0].to_string();
    assert!(
        said.contains("died before it wrote to the ledger, or is about to write to it, or"),
        "{said}"
    );
    drop(open(&store).lease(RUN).unwrap());
    assert_eq!(found(&store), []);
    assert_eq!(open(&store).reader().unwrap().runs().unwrap()[0].head, end(&last));
}

#[test]
fn a_run_of_which_the_ledger_has_nothing_is_named() {
    let store = memory();
    let import = Append::new(RUN, Head::START, some("Occurred", 0..3)).into_import();
    open(&store).committer().unwrap().commit(&[import]).unwrap();
    without_last_entry(&store);
    written_by(&store, None);
    let [events] = &found(&store)[..] else { panic!() };
    assert!(events.are_all());
    assert_eq!((events.last, &events.changes[..]), (Seq(3), &[LedgerChange::Imported][..]));
}

#[test]
fn the_end_of_a_compacted_run_that_the_ledger_does_not_have_is_damage() {
    for is_expired in [false, true] {
        let store = memory();
        let backend = open(&store);
        let (_, run) = recorded(&backend, 100, 5);
        let end = backend.reader().unwrap().runs().unwrap()[0].head.seq;
        backend.compact(run).unwrap();
        if is_expired {
            expired(&store);
        }
        without_last_entry(&store);
        let said = said(&store);
        let expected = format!(
            "run {run} was compacted up to event {end}, but the ledger does not say that it ended there\n"
        );
        assert!(said.contains(&expected), "{said}");
    }
}
