//! Reads an answer out of what an upstream sent.

use hyper::http::{HeaderMap, StatusCode};
use memchr::memchr3_iter;
use retold::model::providers::{Dialect, Ending, NotRead, OTHER};
use retold::model::{Failure, Response, UNENDED, UNREADABLE, Unreadable, answer_in};
use serde_json::{Value, json};

use crate::failures::{failure_of, inside};
use crate::framing::{Framing, data, events};

/// JSON with more values than this is not read: each takes far more memory than its bytes.
const MOST_VALUES: usize = 1_000_000;

/// What an upstream sent.
pub(crate) enum UpstreamReading {
    /// An answer. If its stream was closed before its end, it says so.
    Answer(Box<Response>),
    /// A failure.
    Failed {
        /// Why.
        failure: Failure,
        /// What had come of an answer.
        text: Option<String>,
    },
}

/// What a whole body is. If an answer cannot be read, it says so; its bytes are kept in any case.
pub(crate) fn whole(
    dialect: &dyn Dialect,
    framing: Framing,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
) -> UpstreamReading {
    if !status.is_success() {
        return UpstreamReading::Failed { failure: failure_of(status, body, headers), text: None };
    }
    let (mut response, ending) = response(dialect, framing, body);
    match ending {
        Ending::Failed(failure) => {
            UpstreamReading::Failed { failure: inside(status, failure), text: text_of(response) }
        }
        Ending::CutOff(mark) => {
            let said = format!("the stream was closed without {mark}");
            response.extra.insert(UNENDED.to_owned(), said.into());
            UpstreamReading::Answer(Box::new(response))
        }
        Ending::Answered => UpstreamReading::Answer(Box::new(response)),
    }
}

/// What can be read of an answer that broke off.
pub(crate) fn begun(dialect: &dyn Dialect, framing: Framing, body: &[u8]) -> Option<String> {
    // The text of any other body is the body.
    if dialect.name() == OTHER.name() { None } else { text_of(response(dialect, framing, body).0) }
}

fn text_of(response: Response) -> Option<String> {
    Some(response.content.text().to_owned()).filter(|text| !text.is_empty())
}

fn response(dialect: &dyn Dialect, framing: Framing, body: &[u8]) -> (Response, Ending) {
    if dialect.name() == OTHER.name() {
        // Bytes have no text.
        let text = std::str::from_utf8(body).unwrap_or_default();
        return (Response::text(text), Ending::Answered);
    }
    let unreadable = |reason: String| {
        let mut response = Response::text("");
        let unreadable = Unreadable { body: None, length: body.len() as u64, reason };
        response.extra.insert(UNREADABLE.to_owned(), json!(unreadable));
        response
    };
    if memchr3_iter(b',', b'[', b'{', body).count() > MOST_VALUES {
        let reason = format!("it has more than {MOST_VALUES} values");
        return (unreadable(reason), Ending::Answered);
    }
    let (reply, has_end) = match framing {
        Framing::Whole => (serde_json::from_slice(body), true),
        Framing::Events | Framing::Lines => {
            let events = events(framing, body);
            let is_torn = events.last().is_some_and(|last| !is_complete(framing, last));
            let data: Vec<String> = events.into_iter().map(|event| data(framing, event)).collect();
            let has_end = data.iter().rev().any(|data| dialect.is_last(data));
            let data = data.iter().filter(|data| !data.is_empty() && data.trim() != "[DONE]");
            let mut events: Vec<Result<Value, _>> =
                data.map(|data| serde_json::from_str(data)).collect();
            // What a stream was closed in the middle of is not an event.
            if is_torn && events.last().is_some_and(Result::is_err) {
                events.pop();
            }
            let events: Result<Vec<Value>, _> = events.into_iter().collect();
            (events.map(|events| dialect.assembled(&events)), has_end)
        }
    };
    match reply {
        Err(error) => (unreadable(format!("it is not JSON: {error}")), Ending::Answered),
        Ok(reply) => {
            let ending = dialect.ending(&reply, has_end);
            let response = answer_in(reply, dialect).unwrap_or_else(|error| match error {
                NotRead::Several(_) => {
                    Response::text(std::str::from_utf8(body).unwrap_or_default())
                }
                error => unreadable(error.to_string()),
            });
            (response, ending)
        }
    }
}

/// Whether an event has its end.
fn is_complete(framing: Framing, event: &[u8]) -> bool {
    match framing {
        Framing::Events => {
            [&b"\n\n"[..], b"\r\n\r\n", b"\r\r"].iter().any(|end| event.ends_with(end))
        }
        Framing::Lines | Framing::Whole => event.ends_with(b"\n"),
    }
}
