//! What the ledger repeats, so that a list of runs opens none.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;
use retold::content::Content;
use retold::event::NewEvent;
use retold::id::{RunId, Seq};
use retold::log::{Append, Backend, Head, verify_all};

use super::{end, length, memory, objects, open, removed, replaced, some, started};

/// The first event of a run, with settings.
fn beginning() -> impl Iterator<Item = NewEvent> {
    let settings = Some(Content::from(r#"{"rounds":3}"#));
    some("RunStarted", 0..1).map(move |event| NewEvent { content: settings.clone(), ..event })
}

/// A run of five events that has ended.
fn finished(run: RunId) -> Append {
    let events = beginning().chain(some("Occurred", 1..4)).chain(some("RunFinished", 4..5));
    Append::new(run, Head::START, events)
}

fn without_segments(store: &Arc<dyn ObjectStore>) {
    for object in objects(store) {
        if object.as_ref().contains("/runs/") {
            removed(store, &object);
        }
    }
}

#[test]
fn finished_runs_are_listed_without_their_segments() {
    // More than a page of 64 objects, and some behind it.
    let store = memory();
    let backend = open(&store);
    for n in 0..70 {
        let append = finished(RunId([n; 8]));
        let append = if n % 2 == 0 { append } else { append.into_import() };
        backend.committer().unwrap().commit(&[append]).unwrap();
    }
    without_segments(&store);
    let mut reader = open(&store).reader().unwrap();
    let heads = reader.runs().unwrap();
    assert_eq!(heads.len(), 70);
    for head in heads {
        let run = head.run;
        let first = reader.events(run, Seq(0), 1).unwrap().pop().unwrap();
        assert_eq!(
            (&*first.kind, first.content),
            ("RunStarted", beginning().next().unwrap().content)
        );
        let last = reader.events(run, Seq(4), 1).unwrap().pop().unwrap();
        assert_eq!((&*last.kind, last.seq, last.hash), ("RunFinished", Seq(5), head.head.hash));
        // Whoever reads the run reads its segments.
        assert!(reader.events(run, Seq(0), 10).is_err());
    }
}

#[test]
fn what_the_ledger_repeats_can_be_read_after_a_crash_too() {
    let store = memory();
    let (run, backend) = (RunId([1; 8]), open(&store));
    started(&backend, RunId([2; 8]));
    let append = finished(run).into_import();
    backend.committer().unwrap().commit(std::slice::from_ref(&append)).unwrap();
    let last =
        objects(&store).into_iter().rfind(|path| path.as_ref().contains("/ledger/")).unwrap();
    removed(&store, &last);
    let backend = open(&store);
    drop(backend.lease(run).unwrap());
    assert_eq!(length(&backend, run), 5);
    without_segments(&store);
    let mut reader = open(&store).reader().unwrap();
    reader.runs().unwrap();
    assert_eq!(reader.events(run, Seq(4), 1).unwrap()[0].hash, end(&append).hash);
    assert_eq!(&*reader.events(run, Seq(0), 1).unwrap()[0].kind, "RunStarted");
}

#[test]
fn an_event_that_the_ledger_repeats_wrongly_is_named_and_not_shown() {
    let (store, run) = (memory(), RunId([1; 8]));
    let append = finished(run);
    open(&store).committer().unwrap().commit(&[append]).unwrap();
    let object = Path::from("lab/ledger/0000000001.jsonl.zst");
    let lines = zstd::decode_all(removed(&store, &object).as_slice()).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert!(lines.contains(r#"{\"rounds\":3}"#), "{lines}");
    let changed = lines.replace(r#"{\"rounds\":3}"#, r#"{\"rounds\":4}"#);
    replaced(&store, &object, zstd::encode_all(changed.as_bytes(), 3).unwrap());
    let mut reader = open(&store).reader().unwrap();
    let (_, problems) = verify_all(reader.as_mut()).unwrap();
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let expected =
        format!("the object {object} was changed: it repeats event 1 of run {run} as that is not");
    assert_eq!(said, [expected]);
    let first = reader.events(run, Seq(0), 1).unwrap().pop().unwrap();
    assert_eq!(first.content, beginning().next().unwrap().content);
}
