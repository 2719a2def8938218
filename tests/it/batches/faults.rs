//! Requests that go wrong on their way to a fake.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use super::send;
use crate::support::batches::{BatchFake, Kind, Options, Trouble, What, echo};

const HEADERS: [(&str, &str); 2] = [("x-api-key", "sk-ant"), ("anthropic-version", "2023-06-01")];

#[test]
fn a_lost_reply_has_taken_effect_and_a_vanished_request_has_not() {
    let (url, fake) = BatchFake::start();
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    fake.on_trouble(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    let trouble = |nth, what| fake.trouble(Trouble { kind: Some(Kind::Create), nth, what });
    trouble(1, What::Vanished);
    trouble(2, What::Lost);
    trouble(3, What::Refused(429));
    let url = format!("{url}/v1/messages/batches");
    let params =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]});
    let body = json!({"requests": [{"custom_id": "a", "params": params}]}).to_string().into_bytes();
    let create = || send("POST", &url, &HEADERS, body.clone());
    let mut created = Vec::new();
    let statuses: Vec<Option<u16>> = (0..4)
        .map(|_| {
            let reply = create();
            created.push(fake.counts().batches);
            reply.map(|(status, _)| status)
        })
        .collect();
    assert_eq!(statuses, [None, None, Some(429), Some(200)]);
    assert_eq!(created, [0, 1, 1, 2]);
    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert_eq!((fake.counts().of(Kind::Create), fake.counts().all()), (4, 4));
    assert_eq!(fake.counts().doubles(), ["a"], "the test's own mistake is seen");
    // Of all requests, whatever they do.
    fake.trouble(Trouble { kind: None, nth: 6, what: What::Refused(500) });
    let statuses = [0, 0, 0].map(|_| send("GET", &url, &HEADERS, Vec::new()).unwrap().0);
    assert_eq!(statuses, [200, 500, 200]);
    assert_eq!(fake.received().len(), 7);
}

#[test]
fn the_clock_advances_by_itself_if_it_is_told_to() {
    let options = Options { per_get: 1000, ..Options::default() };
    let (url, _fake) = BatchFake::with(options, echo());
    let url = format!("{url}/v1/messages/batches");
    let params =
        json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "a"}]});
    let body = json!({"requests": [{"custom_id": "a", "params": params}]}).to_string().into_bytes();
    let created = send("POST", &url, &HEADERS, body).unwrap().1;
    let url = format!("{url}/{}", created["id"].as_str().unwrap());
    let states: Vec<_> = (0..4)
        .map(|_| send("GET", &url, &HEADERS, Vec::new()).unwrap().1["processing_status"].clone())
        .collect();
    assert_eq!(states, ["in_progress", "in_progress", "in_progress", "ended"]);
}
