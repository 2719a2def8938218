//! `POST /_retold/tools`: the program calls a tool of its own. It gets the recorded result, or is told to run the tool, and says with
//! `POST /_retold/tools/NUMBER` what that gave.

use std::sync::Arc;

use bytes::Bytes;
use hyper::Response;
use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use retold::escaping::printable;
use retold::model::providers::{CALLS_OF_TOOLS, OTHER};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::answered_by::{AnsweredBy, ToolAnswer};
use crate::dispatch::answer;
use crate::incoming::{CALL, Incoming, LABELS};
use crate::outlet::Outgoing;
use crate::refusal::rejection;
use crate::session::Session;

/// Where calls of tools are reported.
pub(crate) const TOOLS: &str = "tools";

/// The status under which a tool's error is kept: the request itself had no result, so a run that goes on does not call it again.
const RAISED: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;

/// The status of a tool that was cancelled before it finished: a run that is resumed calls it again.
const UNENDED: StatusCode = StatusCode::REQUEST_TIMEOUT;

/// A call, as a program sends it. Its arguments are passed on as they were written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallBody<'a> {
    tool: String,
    #[serde(borrow)]
    arguments: &'a RawValue,
    /// The id by which a model asked for it.
    id: Option<String>,
    /// The MCP server that has the tool.
    server: Option<String>,
    /// Whether the tool runs, whatever is recorded.
    #[serde(default)]
    live: bool,
}

/// What a tool gave, as a program sends it: a result of any kind, or an error. It is recorded as it was written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeBody<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    error: Option<ErrorBody>,
    /// How many requests were made inside, which are recorded by themselves.
    #[serde(default, rename = "asked")]
    _asked: u64,
}

/// A value that is there, and may be null.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

/// The error that a tool raised.
#[derive(Deserialize)]
struct ErrorBody {
    #[serde(rename = "type")]
    _kind: String,
    #[serde(rename = "message")]
    _message: String,
    /// Whether the tool was cancelled, and has not ended.
    #[serde(default)]
    again: bool,
}

const A_CALL: &str =
    r#"For example: {"tool": "search", "arguments": {"query": "Ada"}, "id": "call_1"}"#;
const AN_OUTCOME: &str = r#"For example: {"result": ["Ada Lovelace"]}, or {"error": {"type": "ValueError", "message": "no such city"}}"#;

fn wrong(status: u16, said: &str) -> Response<Outgoing> {
    rejection(&OTHER, status, "retold_tool", said)
}

/// Answers a request to `/_retold/tools` or below it. `body` is `None` if it is too long.
pub(crate) async fn tools(
    session: Arc<Session>,
    place: &str,
    method: &Method,
    headers: &HeaderMap,
    body: Option<Bytes>,
) -> Response<Outgoing> {
    if *method != Method::POST {
        return wrong(405, "calls of tools are sent with POST, as JSON");
    }
    let Some(body) = body else {
        return wrong(413, "the arguments or the result of a tool are too long to be recorded");
    };
    match place.strip_prefix(TOOLS).unwrap_or(place).trim_start_matches('/') {
        "" => call(session, headers, &body).await,
        number => give(&session, number, body).await,
    }
}

/// The program calls a tool.
async fn call(session: Arc<Session>, headers: &HeaderMap, body: &[u8]) -> Response<Outgoing> {
    let CallBody { tool, arguments, id, server, live } = match serde_json::from_slice(body) {
        Ok(called) => called,
        Err(error) => {
            let said = printable(&error.to_string(), 300);
            return wrong(400, &format!("cannot read the call of a tool: {said}. {A_CALL}"));
        }
    };
    if tool.is_empty() {
        return wrong(400, "a tool has a name, and this one is empty");
    }
    let given = [("tool", Some(tool)), ("id", id), ("server", server)];
    let mut fields = vec![format!("\"arguments\":{}", arguments.get())];
    for (name, text) in given {
        fields.extend(text.map(|text| format!("\"{name}\":{}", Value::from(text))));
    }
    let body = format!("{{{}}}", fields.join(","));
    let named = headers.iter().filter(|(name, _)| [CALL, LABELS].contains(&name.as_str()));
    let incoming = Incoming {
        upstream: CALLS_OF_TOOLS.upstream.to_owned(),
        is_led: false,
        method: Method::POST,
        path: CALLS_OF_TOOLS.path.to_owned(),
        query: None,
        headers: named.map(|(name, value)| (name.clone(), value.clone())).collect(),
        body: body.into(),
    };
    answer(session, incoming, AnsweredBy::Program { is_live: live }).await
}

/// The program says what a tool gave. The reply comes when that is on disk.
async fn give(session: &Arc<Session>, number: &str, body: Bytes) -> Response<Outgoing> {
    let status = match serde_json::from_slice::<OutcomeBody<'_>>(&body) {
        Ok(OutcomeBody { result: Some(_), error: None, .. }) => StatusCode::OK,
        Ok(OutcomeBody { result: None, error: Some(ErrorBody { again: true, .. }), .. }) => UNENDED,
        Ok(OutcomeBody { result: None, error: Some(_), .. }) => RAISED,
        Ok(_) => return wrong(400, &format!("a tool gives a result or an error. {AN_OUTCOME}")),
        Err(error) => {
            let said = printable(&error.to_string(), 300);
            return wrong(400, &format!("cannot read what a tool gave: {said}. {AN_OUTCOME}"));
        }
    };
    let Some(open) = number.parse().ok().and_then(|number| session.tools.close(number)) else {
        let said = format!("no tool runs under the number {:?}", printable(number, 40));
        return wrong(404, &said);
    };
    let json = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json)]);
    let ended = "the run has ended, and this result was not recorded";
    if open.given.send(ToolAnswer { status, headers, body: Some(body) }).is_err() {
        return rejection(&OTHER, 503, "retold_ended", ended);
    }
    open.recorded.await.unwrap_or_else(|_| rejection(&OTHER, 503, "retold_ended", ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_a_result_which_may_be_null_or_an_error() {
        let has = |body: &str| {
            let read = serde_json::from_str::<OutcomeBody<'_>>(body).ok();
            read.map(|read| (read.result.is_some(), read.error.is_some()))
        };
        assert_eq!(has(r#"{"result": null}"#), Some((true, false)));
        assert_eq!(has(r#"{"result": {"a": 1}, "asked": 2}"#), Some((true, false)));
        let error = r#"{"error": {"type": "E", "message": "m", "args": [1]}}"#;
        assert_eq!(has(error), Some((false, true)));
        assert_eq!(has("{}"), Some((false, false)));
        assert_eq!(has(r#"{"error": {"type": "E"}}"#), None);
        assert_eq!(has(r#"{"value": 1}"#), None);
    }
}
