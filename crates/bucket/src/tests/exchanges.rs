//! Runs of exchanges, in many small segments.

use retold::event::NewEvent;
use retold::exchange::read_exchanges;
use retold::id::{RunId, Seq, Time};
use retold::jsonl::JsonlReader;
use retold::log::{Append, Backend, Head, SharedBackend};
use serde_json::json;

use super::end;
use crate::BucketBackend;

/// A finished run of exchanges in a log of its own.
pub(super) fn exchanges(count: usize) -> (SharedBackend, RunId) {
    let mut text = String::new();
    for n in 0..count {
        let asked = format!("What does participant {n} think of {} and of {}?", n % 7, n * 31);
        let messages = [json!({"role": "user", "content": asked})];
        let answer =
            format!("Participant {n} has thought about it for {} hours: yes.", n * 17 % 23);
        let line = json!({
            "call": format!("vote/p_{n:05}"),
            "request": {"model": format!("m{}", n % 3), "messages": messages},
            "response": {"content": answer},
        });
        text.push_str(&format!("{line}\n"));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("exchanges.jsonl");
    std::fs::write(&file, text).unwrap();
    read_exchanges(JsonlReader::open(&file).unwrap(), Time(1_700_000_000_000)).unwrap().into_log()
}

/// Appends the events of a run from one log to another, in commits of so many events.
pub(super) fn append(from: &SharedBackend, run: RunId, to: &BucketBackend, size: usize) -> Head {
    let mut reader = from.reader().unwrap();
    let mut committer = to.committer().unwrap();
    let mut head = Head::START;
    loop {
        let events = reader.events(run, head.seq, size).unwrap();
        if events.is_empty() {
            return head;
        }
        let new = events.into_iter().map(|event| NewEvent {
            kind: event.kind,
            version: event.version,
            time: event.time,
            call: event.call,
            sample: event.sample,
            prompt: event.prompt.map(|prompt| reader.request(prompt).unwrap().unwrap()),
            cause: event.cause,
            content: event.content,
            body: event.body,
        });
        let append = Append::new(run, head, new.collect::<Vec<_>>());
        head = end(&append);
        committer.commit(&[append]).unwrap();
    }
}

/// A run of exchanges that was recorded in a bucket, in commits of so many events.
pub(super) fn recorded(to: &BucketBackend, count: usize, size: usize) -> (SharedBackend, RunId) {
    let (log, run) = exchanges(count);
    let head = append(&log, run, to, size);
    assert_eq!(log.reader().unwrap().runs().unwrap()[0].head, head);
    assert!(head.seq > Seq(count as u64));
    (log, run)
}
