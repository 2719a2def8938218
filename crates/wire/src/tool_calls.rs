//! `POST /_retold/tools`: the program calls a tool of its own. It gets the recorded result, or is told to run the tool, and says with
//! `POST /_retold/tools/NUMBER` what that gave.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use hyper::Response;
use hyper::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use retold::escaping::printable;
use retold::model::providers::{CALLS_OF_TOOLS, OTHER};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::dispatch::{AnsweredBy, answer};
use crate::incoming::{CALL, Incoming, LABELS};
use crate::lock::lock;
use crate::outlet::Outgoing;
use crate::refusal::{rejection, with_json};
use crate::session::Session;

/// Where calls of tools are reported.
pub(crate) const TOOLS: &str = "tools";

/// The status under which a tool's error is kept: the request itself had no result, so a run that goes on does not call it again.
const RAISED: StatusCode = StatusCode::UNPROCESSABLE_ENTITY;

/// The most calls that may be under way.
const MOST_OPEN: usize = 100_000;

/// The tools that are running.
#[derive(Default)]
pub(crate) struct OpenTools(Mutex<OpenState>);

#[derive(Default)]
struct OpenState {
    last: u64,
    open: BTreeMap<u64, OpenTool>,
}

/// A tool that is running.
struct OpenTool {
    given: oneshot::Sender<Given>,
    recorded: oneshot::Receiver<Response<Outgoing>>,
}

/// The result of a tool, or the error that it raised, as an answer of an upstream.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}

/// A call, as a program sends it. Its arguments are passed on as they were written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Called<'a> {
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
struct Outcome<'a> {
    #[serde(default, rename = "id")]
    _id: Option<IgnoredAny>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Raised>,
    /// How many requests were made inside, which are recorded by themselves.
    #[serde(default, rename = "asked")]
    _asked: u64,
}

/// The error that a tool raised.
#[derive(Deserialize)]
struct Raised {
    #[serde(rename = "type")]
    _kind: String,
    #[serde(rename = "message")]
    _message: String,
}

impl OpenTools {
    /// Notes that a tool runs. Returns the number by which the program says what it gave.
    pub(crate) fn open(
        &self,
        given: oneshot::Sender<Given>,
        recorded: oneshot::Receiver<Response<Outgoing>>,
    ) -> u64 {
        let state = &mut *lock(&self.0);
        state.last += 1;
        state.open.insert(state.last, OpenTool { given, recorded });
        if state.open.len() > MOST_OPEN {
            // It was forgotten by its program.
            state.open.pop_first();
        }
        state.last
    }

    fn close(&self, number: u64) -> Option<OpenTool> {
        lock(&self.0).open.remove(&number)
    }
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
    let Called { tool, arguments, id, server, live } = match serde_json::from_slice(body) {
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

/// The program is told to run a tool; with a number, it says under that what the tool gave.
pub(crate) fn to_run(number: Option<u64>) -> Response<Outgoing> {
    with_json(StatusCode::ACCEPTED, &json!({"run": number}))
}

/// The program says what a tool gave. The reply comes when that is on disk.
async fn give(session: &Arc<Session>, number: &str, body: Bytes) -> Response<Outgoing> {
    let is_error = match serde_json::from_slice::<Outcome<'_>>(&body) {
        Ok(Outcome { result: Some(_), error: None, .. }) => false,
        Ok(Outcome { result: None, error: Some(_), .. }) => true,
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
    let status = if is_error { RAISED } else { StatusCode::OK };
    let json = HeaderValue::from_static("application/json");
    let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, json)]);
    let ended = "the run has ended, and this result was not recorded";
    if open.given.send(Given { status, headers, body: Some(body) }).is_err() {
        return rejection(&OTHER, 503, "retold_ended", ended);
    }
    open.recorded.await.unwrap_or_else(|_| rejection(&OTHER, 503, "retold_ended", ended))
}
