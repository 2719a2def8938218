//! What the log has of programs besides exchanges: labels of calls, clients that left, and marks of a program's state.

use retold::event::{
    Because, ClientLeft, Event, MarkRecorded, NewEvent, PROGRAM, RequestSent, RunStarted,
};
use retold::id::{CallPath, Seq, StateDigest, Time};
use retold::log::{Append, Head, Log};
use retold::prompt::Request;
use serde_json::json;

use crate::support::cli::{Place, assert_said};
use crate::support::logs::{assert_sound, events, open, problems};
use crate::support::mixed::chat;
use crate::support::rows::{RUN, Writer, rows, started};

fn asked(labels: &[(&str, &str)], request: &Request) -> RequestSent {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let labels = labels.iter().map(pair).collect();
    let (call, prompt) = (CallPath::new("vote/1").unwrap(), request.hash());
    RequestSent { call, sample: 0, prompt, because: Because::default(), labels }
}

/// A client that left before its answer came, and a mark after it.
fn written() -> Writer {
    let mut writer = Writer(Vec::new());
    let Event::RunStarted(study) = started() else { unreachable!() };
    let started = RunStarted { experiment: PROGRAM.to_owned(), settings: json!({}), ..study };
    writer.add(Event::RunStarted(started), None);
    let question = chat("How do you vote?");
    let labels = [("participant", "p_0001"), ("condition", "acp\u{202e}")];
    let request = writer.add(Event::RequestSent(asked(&labels, &question)), Some(question));
    writer.add(Event::ClientLeft(ClientLeft { request, after_ms: 1200, bytes: Some(345) }), None);
    writer.answer(request, "I vote for B.");
    let mark = MarkRecorded { digest: StateDigest([7; 32]), name: "round 1".to_owned() };
    writer.add(Event::MarkRecorded(mark), None);
    writer
}

fn stored(log: &Log, events: Vec<NewEvent>) {
    let append = Append::new(RUN, Head::START, events);
    log.backend().committer().unwrap().commit(&[append]).unwrap();
}

fn place() -> Place {
    let place = Place::new();
    stored(&Log::in_file(&place.path("retold.db")).unwrap(), written().0);
    place
}

#[test]
fn they_are_stored_in_canonical_bodies_and_sound() {
    let place = place();
    let log = open(&place.path("retold.db"));
    assert_sound(&log);
    let stored = events(log.reader().unwrap().as_mut(), RUN);
    let mut bodies = stored.iter().map(|event| (&*event.kind, &*event.body, event.cause));
    let digest = format!(r#"{{"digest":"{}","name":"round 1"}}"#, "07".repeat(32));
    let labels = "{\"labels\":{\"condition\":\"acp\u{202e}\",\"participant\":\"p_0001\"}}";
    let due = [
        ("RequestSent", labels, None),
        ("ClientLeft", r#"{"after_ms":1200,"bytes":345}"#, Some(Seq(2))),
    ];
    assert!(bodies.clone().skip(1).take(2).eq(due));
    assert_eq!(bodies.next_back(), Some(("MarkRecorded", &*digest, None)));
    let db = rusqlite::Connection::open(place.path("retold.db")).unwrap();
    let of = "SELECT json_extract(labels, '$.participant') FROM exchanges";
    assert_eq!(rows(&db, of), [["p_0001"]]);
}

#[test]
fn a_recording_has_them_and_replays_into_the_same_head() {
    let place = place();
    place.ok("export latest run.jsonl");
    place.ok("import run.jsonl --log other.db");
    let head = |log: &str| place.json(&format!("verify --log {log}")).0["runs"][0]["head"].clone();
    assert_eq!(head("retold.db"), head("other.db"));
}

#[test]
fn they_are_shown() {
    let place = place();
    let commands = ["log latest", "audit latest vote/1", "audit latest vote/1 --json"];
    assert_said!("program_events_shown", place.session(&commands));
}

/// What is wrong with a run that has one more event.
fn wrong_with(event: NewEvent) -> String {
    let log = Log::in_memory();
    let mut written = written().0;
    written.push(event);
    stored(&log, written);
    let found = problems(log.reader().unwrap().as_mut());
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].to_string()
}

#[test]
fn one_that_cannot_be_is_damage() {
    let body = |kind, body: &'static str, cause| NewEvent {
        body: body.into(),
        cause,
        ..NewEvent::new(kind, Time(1_750_000_000_100))
    };
    let question = chat("And now?");
    let call = CallPath::new("vote/2").unwrap();
    let labelled = NewEvent {
        call: Some(call),
        sample: Some(0),
        prompt: Some(question),
        ..body("RequestSent", r#"{"labels":{"participant":7}}"#, None)
    };
    let found = [
        wrong_with(body("ClientLeft", r#"{"after_ms":1,"bytes":0}"#, Some(Seq(4)))),
        wrong_with(body("ClientLeft", r#"{"after_ms":1,"bytes":0}"#, None)),
        wrong_with(body("ClientLeft", r#"{"bytes":1}"#, Some(Seq(2)))),
        wrong_with(body("MarkRecorded", r#"{"name":"round 1"}"#, None)),
        wrong_with(labelled),
    ];
    insta::assert_snapshot!("program_events_wrong", found.join("\n"));
}
