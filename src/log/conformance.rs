//! The contract of a [`Backend`], checked for any store that has no events yet: for the tests of those who write
//! one (feature `conformance`).

#![expect(clippy::unwrap_used, clippy::panic, reason = "it runs in tests")]

use std::sync::Arc;

use serde_json::json;

use super::backend::{Append, Backend, Reader};
use super::error::LogError;
use super::ledger::{Ledger, LedgerHead};
use super::verify::verify_all;
use crate::content::Content;
use crate::event::chain::Head;
use crate::event::{NewEvent, StoredEvent};
use crate::id::{CallPath, LedgerHash, RunId, Seq, Time};
use crate::prompt::Request;

/// Checks that a store keeps its contract: see [`Backend`]. It has to be empty.
///
/// # Panics
/// If it does not. The message says what differs.
pub fn conforms(backend: &dyn Backend) {
    seqs_follow_one_another(backend);
    a_commit_is_all_or_nothing(backend);
    events_come_back_as_they_went_in(backend);
    requests_are_found(backend);
    a_lease_is_held_once(backend);
    readers_see_whole_commits(backend);
    let (runs, problems) = verify_all(backend.reader().unwrap().as_mut()).unwrap();
    assert!(problems.is_empty(), "{problems:?}");
    assert!(runs.iter().all(|run| run.finding.is_none()), "{runs:?}");
    // It appends runs that make no sense, so it comes last.
    the_ledger_says_what_happened(backend);
}

fn append(run: RunId, after: Head, numbers: std::ops::Range<i64>) -> Append {
    Append::new(run, after, numbers.map(row))
}

/// The end of a run after an append.
fn end(append: &Append) -> Head {
    append.events.last().unwrap().head()
}

fn seqs_follow_one_another(backend: &dyn Backend) {
    let (mut committer, mut reader) = (backend.committer().unwrap(), backend.reader().unwrap());
    let (a, b) = (RunId([0xaa; 8]), RunId([0x11; 8]));
    assert!(events(reader.as_mut(), a).is_empty());
    let first = append(a, Head::START, 0..3);
    let second = append(a, end(&first), 3..5);
    let third = append(a, end(&second), 5..9);
    committer.commit(&[first, append(b, Head::START, 5..6), second]).unwrap();
    committer.commit(&[third]).unwrap();
    let all = events(reader.as_mut(), a);
    assert_eq!(all.iter().map(|e| e.seq.0).collect::<Vec<_>>(), (1..=9).collect::<Vec<_>>());
    let part = reader.events(a, Seq(4), 3).unwrap();
    assert_eq!(part, all[4..7]);
    let runs = reader.runs().unwrap();
    let shown: Vec<_> = runs.iter().map(|r| (r.run, r.head.seq.0, r.started.0)).collect();
    assert_eq!(shown, [(a, 9, row(0).time.0), (b, 1, row(5).time.0)], "in the order they began");
    assert_eq!(runs[0].head.hash, all[8].hash);
}

fn a_commit_is_all_or_nothing(backend: &dyn Backend) {
    let (mut committer, mut reader) = (backend.committer().unwrap(), backend.reader().unwrap());
    let (a, b) = (RunId([0x21; 8]), RunId([0x22; 8]));
    let first = append(a, Head::START, 0..2);
    let head = end(&first);
    committer.commit(&[first]).unwrap();
    let at = |seq| Head { seq: Seq(seq), ..head };
    // Too early, too late, and at the end of the run but after another event.
    for after in [Head::START, at(1), at(3), Head { seq: head.seq, ..Head::START }] {
        let batch = [append(b, Head::START, 0..3), append(a, after, 7..9)];
        let refused = committer.commit(&batch).unwrap_err();
        let due = after.seq.next();
        assert!(
            matches!(refused, LogError::Conflict { run, seq } if (run, seq) == (a, due)),
            "{refused}"
        );
        assert_eq!(events(reader.as_mut(), a).len(), 2);
        assert!(events(reader.as_mut(), b).is_empty());
    }
    assert!(reader.runs().unwrap().iter().all(|run| run.run != b), "no trace of the refused run");
    committer.commit(&[append(a, head, 2..3), append(b, Head::START, 0..1)]).unwrap();
}

fn everything(request: &Request) -> NewEvent {
    NewEvent {
        kind: "Foretold".into(),
        version: 12,
        time: Time(-5),
        call: Some(CallPath::new("a/b c/\u{1F600}").unwrap()),
        sample: Some(u32::MAX),
        prompt: Some(request.clone()),
        cause: Some(Seq(1)),
        content: Some(Content::from("nul \0 and 'quotes' \" and \u{202e}")),
        body: "{\"a\":[1,null],\"b\":\"\\u0000\"}".into(),
    }
}

fn request(text: &str) -> Request {
    Request::from_body(json!({"model": "m", "messages": [{"role": "user", "content": text}]}))
        .unwrap()
}

fn events_come_back_as_they_went_in(backend: &dyn Backend) {
    let (mut committer, mut reader) = (backend.committer().unwrap(), backend.reader().unwrap());
    let run = RunId([0x31; 8]);
    let request = request("in full");
    let vector: Arc<[f32]> = [0.0, -0.0, f32::NAN, f32::MIN_POSITIVE, f32::INFINITY].into();
    let contents = [
        Content::from(""),
        Content::from("\0"),
        Content::Vector([].into()),
        Content::from("\0\0\0\0"),
        Content::Vector([0.0].into()),
        Content::Vector(vector),
    ];
    let mut given = vec![row(0), everything(&request)];
    given.extend(contents.map(|content| NewEvent { content: Some(content), ..row(1) }));
    let append = Append::new(run, Head::START, given.clone());
    let head = end(&append);
    committer.commit(&[append]).unwrap();
    let back = events(reader.as_mut(), run);
    assert_eq!(back.last().unwrap().hash, head.hash);
    for (new, stored) in given.iter().zip(&back) {
        assert_eq!((&new.kind, new.version, new.time), (&stored.kind, stored.version, stored.time));
        assert_eq!((&new.call, new.sample, new.cause), (&stored.call, stored.sample, stored.cause));
        assert_eq!(new.prompt.as_ref().map(Request::hash), stored.prompt);
        assert_eq!(new.body, stored.body);
        let bytes = |c: &Option<Content>| {
            c.as_ref().map(|c| (c.bytes().into_owned(), matches!(c, Content::Vector(_))))
        };
        assert_eq!(bytes(&new.content), bytes(&stored.content));
    }
}

fn requests_are_found(backend: &dyn Backend) {
    let (mut committer, mut reader) = (backend.committer().unwrap(), backend.reader().unwrap());
    let run = RunId([0x41; 8]);
    let long = "text:1 is not a reference, and this is long enough to be kept apart. ".repeat(3);
    let requests = [request("text:1"), request(&long), request("TEXT:1"), request("in full")];
    let asks = requests.iter().map(|r| NewEvent { prompt: Some(r.clone()), ..row(0) });
    committer.commit(&[Append::new(run, Head::START, asks)]).unwrap();
    for request in &requests {
        let found = reader.request(request.hash()).unwrap().unwrap();
        assert_eq!(found.canonical(), request.canonical());
        let prefix = request.hash().short(12);
        assert_eq!(reader.prompts(&prefix, 10).unwrap(), [request.hash()]);
    }
    assert!(reader.prompts("", 2).unwrap().len() == 2);
    assert!(reader.request(request("never asked").hash()).unwrap().is_none());
}

fn a_lease_is_held_once(backend: &dyn Backend) {
    let (a, b) = (RunId([0x51; 8]), RunId([0x52; 8]));
    let held = backend.lease(a).unwrap();
    let other = backend.lease(b).unwrap();
    assert!(matches!(backend.lease(a), Err(LogError::InUse { run, .. }) if run == a));
    drop(held);
    drop((backend.lease(a).unwrap(), other));
}

fn readers_see_whole_commits(backend: &dyn Backend) {
    let run = RunId([0x61; 8]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut committer = backend.committer().unwrap();
            let mut head = Head::START;
            for n in 0..50 {
                let append = append(run, head, n * 10..n * 10 + 10);
                head = end(&append);
                committer.commit(&[append]).unwrap();
            }
        });
        let mut reader = backend.reader().unwrap();
        let mut seen = 0;
        while seen < 500 {
            let now = events(reader.as_mut(), run).len();
            assert!(now.is_multiple_of(10) && now >= seen, "{now} after {seen}");
            seen = now;
        }
    });
}

/// Everything that happens to a run from now on is in the ledger, and nothing else.
fn the_ledger_says_what_happened(backend: &dyn Backend) {
    let (mut committer, mut reader) = (backend.committer().unwrap(), backend.reader().unwrap());
    let before = Ledger::read(reader.as_mut()).unwrap();
    assert_eq!(before.faults(), []);
    let (a, b, c) = (RunId([0x71; 8]), RunId([0x72; 8]), RunId([0x73; 8]));
    let of_kind = |kind: &'static str| NewEvent { kind: kind.into(), ..row(0) };
    let whole = [row(0), of_kind("RunResumed"), row(1), of_kind("RunFinished")];
    let started = Append::new(a, Head::START, whole.clone());
    let refused = Append::new(a, Head::START, [row(9)]);
    let imported = Append::new(b, Head::START, whole).into_import();
    let other = Append::new(c, Head::START, [row(5)]);
    let more = Append::new(b, end(&imported), [row(6)]).into_import();
    let heads = |append: &Append| append.events.iter().map(|e| e.head()).collect::<Vec<_>>();
    let (a_heads, b_head) = (heads(&started), end(&imported));
    let expected = [
        ("started", a, a_heads[0]),
        ("resumed", a, a_heads[1]),
        ("finished", a, a_heads[3]),
        ("imported", b, b_head),
        ("started", c, end(&other)),
        ("imported", b, end(&more)),
    ];
    committer.commit(&[started]).unwrap();
    assert!(committer.commit(&[other.clone(), refused]).is_err(), "leaves nothing in the ledger");
    committer.commit(&[imported, other]).unwrap();
    committer.commit(&[more]).unwrap();
    // Page by page, with hashes computed by hand.
    let LedgerHead { mut number, hash } = before.head();
    let mut previous = hash.0;
    for (what, run, head) in expected {
        let page = reader.ledger(number, 1).unwrap();
        number += 1;
        let canonical = format!(
            r#"{{"head":"{}","number":{number},"run":"{run}","seq":{},"what":"{what}"}}"#,
            head.hash, head.seq
        );
        let bytes = [&b"retold ledger v1\n"[..], &previous, canonical.as_bytes()].concat();
        previous = *blake3::hash(&bytes).as_bytes();
        let [entry] = page.as_slice() else { panic!("{page:?}") };
        assert_eq!((entry.number, entry.change.as_str()), (number, what));
        assert_eq!((entry.run, entry.head), (run, head));
        assert_eq!(entry.hash.0, previous);
    }
    assert_eq!(reader.ledger(number, 10).unwrap(), Vec::new());
    let after = Ledger::read(reader.as_mut()).unwrap();
    assert_eq!((after.head().number, after.head().hash.0), (number, previous));
    let found = after.checkpoint(before.head().hash).unwrap();
    assert_eq!((found.number, found.runs_since), (before.head().number, 3));
    assert_eq!(after.checkpoint(LedgerHash([7; 32])), None);
}

/// All events of a run, in one read.
fn events(reader: &mut dyn Reader, run: RunId) -> Vec<StoredEvent> {
    reader.events(run, Seq(0), usize::MAX).unwrap()
}

/// A fact with a number.
fn row(n: i64) -> NewEvent {
    let body = format!("{{\"causes\":[],\"fact\":{n}}}").into();
    NewEvent { body, ..NewEvent::new("Occurred", Time(1_700_000_000_000 + n)) }
}
