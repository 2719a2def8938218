//! Reads an answer out of what an upstream sent.

use memchr::memchr3_iter;
use retold::model::{Response, UNREADABLE, Unreadable};
use serde_json::{Value, json};

use crate::dialect::{Dialect, NotRead, OTHER};
use crate::framing::{Framing, data, events};

/// JSON with more values than this is not read: each takes far more memory than its bytes.
const MOST_VALUES: usize = 1_000_000;

/// The answer in a body. If it cannot be read, the answer says so; its bytes are kept in any case.
pub(crate) fn answer(dialect: &dyn Dialect, framing: Framing, body: &[u8]) -> Response {
    if dialect.name() == OTHER.name() {
        // Bytes have no text.
        return Response::text(std::str::from_utf8(body).unwrap_or_default());
    }
    let unreadable = |reason: String| {
        let mut response = Response::text("");
        let unreadable = Unreadable { body: None, length: body.len() as u64, reason };
        response.extra.insert(UNREADABLE.to_owned(), json!(unreadable));
        response
    };
    if memchr3_iter(b',', b'[', b'{', body).count() > MOST_VALUES {
        return unreadable(format!("it has more than {MOST_VALUES} values"));
    }
    let reply = match framing {
        Framing::Whole => serde_json::from_slice(body),
        Framing::Events | Framing::Lines => {
            let data = events(framing, body).into_iter().map(|event| data(framing, event));
            let data = data.filter(|data| !data.is_empty() && data.trim() != "[DONE]");
            let events: Result<Vec<Value>, _> =
                data.map(|data| serde_json::from_str(&data)).collect();
            events.map(|events| dialect.assembled(&events))
        }
    };
    match reply {
        Err(error) => unreadable(format!("it is not JSON: {error}")),
        Ok(reply) => dialect.answer(reply).unwrap_or_else(|error| match error {
            NotRead::Whole => Response::text(std::str::from_utf8(body).unwrap_or_default()),
            error => unreadable(error.to_string()),
        }),
    }
}
