//! Segments that stand for much more than they have.

use retold::event::NewEvent;
use retold::id::{RunId, Seq, Time};
use retold::log::{Append, Backend, Head, SegmentFault};
use retold::prompt::Request;
use serde_json::json;

use super::{memory, objects, open, removed, replaced, some, started, unbounded};
use crate::names::Names;
use crate::packing::pack;
use crate::segment::{NewSegment, decode, encode};
use crate::writer::Writer;

const RUN: RunId = RunId([7; 8]);

/// Questions that each repeat a long text and add to it.
fn long_questions(count: usize) -> impl Iterator<Item = NewEvent> {
    let long = "x".repeat(1 << 20);
    (0..count).map(move |n| {
        let messages = json!([{"role": "system", "content": long},
            {"role": "user", "content": n.to_string()}]);
        let request = Request::from_body(json!({"model": "m", "messages": messages})).unwrap();
        let body = format!("{{\"causes\":[],\"fact\":{n}}}").into();
        NewEvent { prompt: Some(request), body, ..NewEvent::new("Occurred", Time(0)) }
    })
}

#[test]
fn what_requests_become_in_memory_is_bounded() {
    let append = Append::new(RUN, Head::START, long_questions(140));
    let (events, writer) = (append.events.as_slice(), Writer::new("").unwrap());
    let segment = |events| {
        let new =
            NewSegment { run: RUN, events, writer: &writer, more: false, entries: Vec::new() };
        encode(new).unwrap().0
    };
    let bytes = segment(events);
    assert!(bytes.len() < 200_000, "{}", bytes.len());
    let found = decode("1", (RUN, Seq(1)), &bytes, unbounded());
    let Err(SegmentFault::Changed { why, .. }) = found else { panic!("{found:?}") };
    assert!(why.contains("what it asks and answers takes more than"), "{why}");
    // Just not too much.
    let fewer = decode("1", (RUN, Seq(1)), &segment(&events[..120]), unbounded()).unwrap();
    assert_eq!(fewer.events.len(), 120);
    // Whoever writes them divides them, also into the segments of a compaction.
    let store = memory();
    let backend = open(&store);
    let ended = Append::new(RUN, append.events.last().unwrap().head(), some("RunFinished", 0..1));
    let mut committer = backend.committer().unwrap();
    committer.commit(std::slice::from_ref(&append)).unwrap();
    committer.commit(&[ended]).unwrap();
    let read = || open(&store).reader().unwrap().events(RUN, Seq(0), usize::MAX).unwrap().len();
    let all = || {
        let mut reader = open(&store).reader().unwrap();
        let asks = append.events.iter().filter_map(|event| event.event().prompt.clone());
        asks.filter(|request| reader.request(request.hash()).unwrap().is_some()).count()
    };
    assert!(read() > 0 && all() == 140);
    assert!(objects(&store).iter().filter(|name| name.as_ref().contains("/runs/")).count() > 5);
    backend.compact(RUN).unwrap();
    for name in objects(&store).iter().filter(|name| name.as_ref().contains("/runs/")) {
        removed(&store, name);
    }
    assert!(read() > 0 && all() == 140, "of the compaction alone");
}

/// What a reader refuses of a stranger is written by nobody here.
#[test]
fn answers_that_are_much_alike_can_be_read() {
    let (run, store) = (RunId([8; 8]), memory());
    let backend = open(&store);
    let mut head = Head::START;
    for n in 0..12 {
        let body = format!("{{\"causes\":[],\"fact\":\"{}{n}\"}}", "a".repeat(15 << 20));
        let event = NewEvent { body: body.into(), ..NewEvent::new("Occurred", Time(n)) };
        let append = Append::new(run, head, [event]);
        head = append.events.last().unwrap().head();
        backend.committer().unwrap().commit(&[append]).unwrap();
    }
    let (backend, mut due) = (open(&store), Seq(0));
    for n in 1..=12 {
        let read = backend.reader().unwrap().events(run, due, 1).unwrap();
        assert_eq!(read[0].seq, Seq(n));
        due = read[0].seq;
    }
}

#[test]
fn a_ledger_that_unpacks_to_more_than_its_size_allows_is_damaged() {
    let store = memory();
    started(&open(&store), RUN);
    let name = Names::new("lab".into()).ledger_object(1);
    let lines = format!("{{\"content\":\"{}\"}}\n", "x".repeat(1 << 20)).repeat(128);
    replaced(&store, &name, zstd::bulk::compress(lines.as_bytes(), 3).unwrap());
    // The runs can still be listed by their folders, but nobody writes after what cannot be read.
    let error = || {
        let append = Append::new(RunId([9; 8]), Head::START, some("Occurred", 0..1));
        open(&store).committer().unwrap().commit(&[append]).unwrap_err().to_string()
    };
    assert!(error().contains("more than 100 times its size"), "{}", error());
    // Its lines are wrong as well, which is found if it may be unpacked.
    replaced(&store, &name, pack(&lines).unwrap());
    assert!(!error().contains("100 times"), "{}", error());
}
