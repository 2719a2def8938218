//! A reader that stops is a warning at the answer, whose bytes are kept; here is one that always stops.

use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use retold::model::providers::{Conversation, Dialect, Ending, NotRead, Problem, ReaderFault};
use retold::model::{HTTP, Response, Unreadable};
use retold::prompt::Api;
use serde_json::{Map, Value, json};

use crate::arriving::Arriving;
use crate::elsewhere::{Elsewhere, LoggedOutcome};
use crate::framing::Framing;
use crate::incoming::Incoming;
use crate::rules::Rules;
use crate::transmission::Transmission;
use crate::wire_request::WireRequest;

/// An API whose reader stops at everything.
#[derive(Debug)]
struct Stopping;

impl Dialect for Stopping {
    fn name(&self) -> &'static str {
        "stopping"
    }
    fn paths(&self) -> &'static [&'static str] {
        &[]
    }
    fn prompt(&self, _: Map<String, Value>) -> Option<(Api, Map<String, Value>)> {
        panic!("no prompt")
    }
    fn converse(&self, _: &Map<String, Value>, _: &[Value], _: &mut Conversation) {
        panic!("no conversation")
    }
    fn is_last(&self, _: &str) -> bool {
        panic!("no end")
    }
    fn assemble(&self, _: &[Value]) -> Value {
        panic!("no stream")
    }
    fn ending(&self, _: &Value, _: bool) -> Ending {
        panic!("no ending")
    }
    fn reply_name(&self, _: &Map<String, Value>, _: Option<&Value>) -> Option<&'static str> {
        panic!("no name")
    }
    fn answer(&self, _: Value) -> Result<Response, NotRead> {
        panic!("no answer")
    }
    fn error(&self, _: &Problem<'_>) -> Value {
        json!({})
    }
}

fn asked() -> (Incoming, WireRequest) {
    let incoming = Incoming {
        upstream: "openai".to_owned(),
        is_led: false,
        method: Method::POST,
        path: "/chat/completions".to_owned(),
        query: None,
        headers: HeaderMap::new(),
        body: r#"{"messages":[]}"#.into(),
    };
    let asked = incoming.wire_request(&Rules::default()).unwrap();
    (incoming, asked)
}

/// What is kept of an answer, whose bytes are those that came.
fn answered(asked: &WireRequest, kind: &'static str, body: &'static [u8]) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let answer = Elsewhere { status: StatusCode::OK, headers, body: body.into() };
    let outcome = answer.outcome(&self::asked().0, asked, 0, &Rules::default()).unwrap();
    let LoggedOutcome::Answer(response) = outcome else { panic!("{outcome:?}") };
    let kept = Transmission::read(&response.extra[HTTP]).unwrap();
    assert_eq!(kept.bytes(Some(&response.content)).unwrap(), body);
    *response
}

#[test]
fn a_reader_that_stops_costs_no_answer() {
    let asked = WireRequest { dialect: &Stopping, ..asked().1 };
    for (kind, body, said) in [
        ("application/json", &b"{\"a\":1}"[..], "no ending"),
        ("application/json", b"[1]", "no ending"),
        ("text/event-stream", b"data: {}\n\n", "no end"),
    ] {
        let response = answered(&asked, kind, body);
        let unreadable = Unreadable::new(&response.extra).unwrap();
        let due = format!(
            "a mistake in retold's reader for stopping ({said}): please report it; what came is kept"
        );
        assert_eq!((response.content.text(), unreadable.reason), ("", due));
        assert_eq!(unreadable.length, body.len() as u64);
    }
    let mut arriving = Arriving::new(Framing::Events, true);
    arriving.add(b"data: {}\n\n", 0, &asked);
    assert_eq!((arriving.last, arriving.free()), (None, 10));
}

/// The request is stored unread then, which its answer says.
#[test]
fn a_request_whose_reader_stops_is_named_at_its_answer() {
    let fault = ReaderFault { format: "openai.chat", said: "no prompt".to_owned() };
    let asked = WireRequest { fault: Some(fault), ..asked().1 };
    let body = br#"{"choices":[{"message":{"content":"One"}}]}"#;
    let response = answered(&asked, "application/json", body);
    let reason = Unreadable::new(&response.extra).unwrap().reason;
    assert_eq!(response.content.text(), "One");
    let due = "the request is stored unread: a mistake in retold's reader for openai.chat (no prompt): please report it; what came is kept";
    assert_eq!(reason, due);
}
