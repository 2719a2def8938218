//! Messages of `application/vnd.amazon.eventstream`, and the answers that streams of them amount to.

use hyper::http::{HeaderMap, StatusCode};
use retold::model::providers;
use retold::model::{FailureKind, Response, UNENDED, Unreadable};

use super::*;
use crate::framing::{Framing, Splitter, events};
use crate::read::{self, UpstreamReading};
use crate::redact::{Redaction, RedactionKey};

/// A message with headers that are texts.
fn message(headers: &[(&str, &str)], payload: &Value) -> Vec<u8> {
    let mut all = Vec::new();
    for (name, value) in headers {
        all.push(u8::try_from(name.len()).unwrap());
        all.extend_from_slice(name.as_bytes());
        all.push(7);
        all.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        all.extend_from_slice(value.as_bytes());
    }
    encode(&all, payload.to_string().as_bytes())
}

fn event(kind: &str, payload: &Value) -> Vec<u8> {
    let headers =
        [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
    message(&headers, payload)
}

fn chunk(event_of_model: &Value) -> Vec<u8> {
    event(
        CHUNK,
        &json!({"bytes": BASE64.encode(event_of_model.to_string().as_bytes()), "p": "abc"}),
    )
}

fn said(message: &[u8]) -> Value {
    serde_json::from_str(&data(message)).unwrap()
}

/// The first vector of the specification's test suite (aws-c-event-stream, `empty_message`).
#[test]
fn an_empty_message_has_the_published_bytes() {
    let published = [
        0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x05, 0xc2, 0x48, 0xeb, 0x7d, 0x98, 0xc8,
        0xff,
    ];
    assert_eq!(encode(&[], &[]), published);
    assert_eq!((length(&published), is_sound(&published)), (Some(16), true));
}

#[test]
fn a_message_says_what_sdks_give_to_programs() {
    let delta = json!({"contentBlockIndex": 0, "delta": {"text": "One"}});
    assert_eq!(said(&event("contentBlockDelta", &delta)), json!({"contentBlockDelta": delta}));
    assert_eq!(said(&chunk(&json!({"type": "ping"}))), json!({"type": "ping"}));
    let failed = [(":message-type", "exception"), (":exception-type", "throttlingException")];
    let failed = message(&failed, &json!({"message": "slow down"}));
    let due = json!({"error": {"code": "throttlingException", "message": "slow down"}});
    assert_eq!(said(&failed), due);
    let failed = [(":message-type", "error"), (":error-code", "Broken"), (":error-message", "no")];
    let due = json!({"error": {"code": "Broken", "message": "no"}});
    assert_eq!(said(&message(&failed, &json!({}))), due);
}

#[test]
fn headers_of_every_type_are_passed_over() {
    let mut headers = Vec::new();
    for (kind, length) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (5, 8), (8, 8), (9, 16)] {
        headers.extend([1, b'x', kind]);
        headers.extend(vec![0; length]);
    }
    headers.extend([1, b'x', 6, 0, 2, 0, 0]);
    headers.extend(b"\x0b:event-type\x07\x00\x01e");
    assert_eq!(said(&encode(&headers, b"{\"a\":1}")), json!({"e": {"a": 1}}));
    // One whose length goes beyond the headers is not a header.
    assert_eq!(data(&encode(b"\x0b:event-type\x07\x00\x09e", b"{\"a\":1}")), "{\"a\":1}");
}

#[test]
fn a_body_is_divided_into_its_messages_and_what_is_torn() {
    let (one, two) = (event("a", &json!({})), chunk(&json!({"b": "\u{20ac}"})));
    let body = [&one[..], &two, &one[..20]].concat();
    assert_eq!(events(Framing::Messages, &body), [&one[..], &two, &one[..20]]);
    let mut splitter = Splitter::new(Framing::Messages);
    let mut found = Vec::new();
    for end in 0..=body.len() {
        found.extend(std::iter::from_fn(|| splitter.next(&body[..end])));
    }
    assert_eq!(found, [0..one.len(), one.len()..one.len() + two.len()]);
    for nonsense in [&b"{\"message\": \"no stream at all\"}"[..], &[0; 16], &[0xff; 40]] {
        assert_eq!(events(Framing::Messages, nonsense), [nonsense]);
    }
}

#[test]
fn a_message_says_something_else_under_new_checksums() {
    let delta = event("contentBlockDelta", &json!({"delta": {"text": "Ada"}, "p": "x"}));
    let other = json!({"contentBlockDelta": {"delta": {"text": "[name]"}, "p": "x"}});
    let changed = with_data(&delta, &other, &Value::to_string);
    assert_eq!((said(&changed), is_sound(&changed)), (other, true));
    let changed =
        with_data(&chunk(&json!({"text": "Ada"})), &json!({"text": "[name]"}), &Value::to_string);
    assert_eq!((said(&changed), is_sound(&changed)), (json!({"text": "[name]"}), true));
    let mut damaged = delta;
    *damaged.last_mut().unwrap() ^= 1;
    assert!(!is_sound(&damaged));
    assert_eq!(with_data(&damaged, &json!({}), &Value::to_string), damaged);
}

const CONVERSE: &str = "/model/m/converse-stream";
const INVOKE: &str = "/model/m/invoke-with-response-stream";

fn reading(path: &str, body: &[u8]) -> UpstreamReading {
    let framing = Framing::of_body("application/vnd.amazon.eventstream", body);
    read::whole(providers::at(path), framing, StatusCode::OK, &HeaderMap::new(), body)
}

fn answer(path: &str, body: &[u8]) -> Response {
    match reading(path, body) {
        UpstreamReading::Answer(response) => *response,
        UpstreamReading::Failed { failure, .. } => panic!("{failure}"),
    }
}

fn said_by(text: &str) -> Vec<u8> {
    event("contentBlockDelta", &json!({"contentBlockIndex": 0, "delta": {"text": text}, "p": "ab"}))
}

/// A stream of Converse with these texts.
fn converse(texts: &[&str]) -> Vec<u8> {
    let mut body = event("messageStart", &json!({"role": "assistant"}));
    body.extend(texts.iter().flat_map(|text| said_by(text)));
    body.extend(event("messageStop", &json!({"stopReason": "end_turn"})));
    body.extend(event("metadata", &json!({"usage": {"inputTokens": 3, "outputTokens": 2}})));
    body
}

#[test]
fn a_stream_of_converse_is_an_answer_whatever_its_label() {
    let body = converse(&["One ", "two \u{20ac}"]);
    let response = answer(CONVERSE, &body);
    assert_eq!(response.content.text(), "One two \u{20ac}");
    assert_eq!(response.finish_reason.as_deref(), Some("end_turn"));
    assert_eq!(response.usage.unwrap().completion_tokens, Some(2));
    assert_eq!(Framing::of_body("", &body), Framing::Messages);
    let labelled = |body| Framing::of_body("application/vnd.amazon.eventstream", body);
    assert_eq!([labelled(&body[..9]), labelled(b"{}")], [Framing::Messages, Framing::Whole]);
}

#[test]
fn a_stream_of_invoke_has_the_events_of_its_model() {
    let events = [
        json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [],
            "usage": {"input_tokens": 3}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "One"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 3}}),
    ];
    let body: Vec<u8> = events.iter().flat_map(chunk).collect();
    let response = answer(INVOKE, &body);
    assert_eq!(response.content.text(), "One");
    assert!(!response.extra.contains_key(UNENDED));
    let without_last: Vec<u8> = events[..3].iter().flat_map(chunk).collect();
    assert!(answer(INVOKE, &without_last).extra.contains_key(UNENDED));
}

#[test]
fn a_torn_message_is_left_out_and_a_damaged_one_is_named() {
    let body = converse(&["One ", "two"]);
    let torn = [event("messageStart", &json!({})), said_by("One "), said_by("two")].concat();
    let response = answer(CONVERSE, &torn[..torn.len() - 1]);
    assert_eq!(response.content.text(), "One ");
    assert_eq!(response.extra[UNENDED], "the stream was closed without messageStop");
    assert!(Unreadable::new(&response.extra).is_none());
    let mut damaged = body;
    let second = event("messageStart", &json!({"role": "assistant"})).len() + said_by("One ").len();
    damaged[second - 1] ^= 1;
    let response = answer(CONVERSE, &damaged);
    assert_eq!(response.content.text(), "two");
    assert_eq!(Unreadable::new(&response.extra).unwrap().reason, "event 2 has a wrong checksum");
}

#[test]
fn a_stream_that_fails_is_a_failure_with_what_had_come() {
    let failed = [(":message-type", "exception"), (":exception-type", "throttlingException")];
    let failed = message(&failed, &json!({"message": "slow down"}));
    let body = [said_by("One"), failed].concat();
    let UpstreamReading::Failed { failure, text } = reading(CONVERSE, &body) else { panic!() };
    assert_eq!((failure.kind, text.as_deref()), (FailureKind::RateLimited, Some("One")));
    assert_eq!(failure.message, "an error inside HTTP 200: slow down");
}

/// A few bytes of base64 may say a lot.
#[test]
fn events_in_base64_are_counted_too() {
    let many = chunk(&Value::Array(vec![json!({}); 600_000]));
    let why = Unreadable::new(&answer(INVOKE, &[many.clone(), many].concat()).extra).unwrap();
    assert_eq!(why.reason, "it has more than 1000000 values");
}

#[test]
fn a_name_is_taken_out_of_messages_even_if_they_divide_it() {
    let key = RedactionKey::new([7; 32]);
    let redaction = Redaction::new(&["Ada Lovelace".to_owned()], &key).unwrap();
    let body = converse(&["I am Ada Lo", "velace."]);
    let (stored, _, any) = redaction.answer(Framing::Messages, body, false, Vec::new());
    let response = answer(CONVERSE, &stored);
    assert!(any && Unreadable::new(&response.extra).is_none());
    let text = response.content.text();
    assert!(text.starts_with("I am ") && !text.contains("Lovelace"), "{text}");
}
