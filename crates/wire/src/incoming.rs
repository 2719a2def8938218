//! A request as it arrived from a program.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use hyper::http::{HeaderMap, HeaderValue, Method, header};
use retold::id::CallPath;
use retold::model::STRUCK;
use retold::model::providers::{self, credentials};
use serde::de::IgnoredAny;

use crate::decode::{decoded_within, encodings};
use crate::limits::LONGEST_BODY;
use crate::masks::Masks;

/// Names the call that a request belongs to; not forwarded.
pub const CALL: &str = "x-retold-call";

/// The labels of a request's call, as a JSON object of texts in ASCII; not forwarded.
pub(crate) const LABELS: &str = "x-retold-labels";

/// Where in its program a request was made, in a replay: a Python process that draws from the run says so.
const STACK: &str = "x-retold-stack";

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The name of the upstream that it is for.
    pub upstream: String,
    /// Whether a server at another origin led to it, so that neither the keys of that server nor those in the
    /// upstream's URL belong to it.
    pub is_led: bool,
    /// The method.
    pub method: Method,
    /// The path below the upstream, as it was sent.
    pub path: String,
    /// The query, as it was sent.
    pub query: Option<String>,
    /// All headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Incoming {
    /// Puts the part of the run that it belongs to before the name of its call.
    pub(crate) fn put_in(&mut self, part: &CallPath) {
        let part = part.as_str().as_bytes();
        let own = self.headers.get_all(CALL).iter();
        let mut names: Vec<_> = own.map(|own| [part, b"/", own.as_bytes()].concat()).collect();
        if names.is_empty() {
            names.push(part.to_vec());
        }
        self.headers.remove(CALL);
        for name in names {
            // A path of a call and what was a header have nothing that a header cannot have.
            if let Ok(value) = HeaderValue::from_bytes(&name) {
                self.headers.append(CALL, value);
            }
        }
    }

    /// The request without keys, as it may be stored, and the keys that were in it: those in its headers and its query, which may be
    /// repeated anywhere, and those in its body where its API has them.
    pub(crate) fn without_keys(&self) -> (Incoming, Masks) {
        let masks = Masks::new(&self.headers, self.query.as_deref());
        let mut bare = self.clone();
        if let Some(plain) = self.plain_body() {
            bare.body = plain;
            bare.headers.remove(header::CONTENT_ENCODING);
        }
        let content_type = self.headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let found = credentials::in_request(&self.path, content_type.unwrap_or(""), &bare.body);
        if !found.is_empty() {
            bare.body = credentials::replace(&bare.body, &found, STRUCK.as_bytes()).into();
        }
        if let Cow::Owned(struck) = masks.in_request(&bare.body) {
            bare.body = struck.into();
        }
        bare.path = masks.in_text(&self.path);
        bare.query = self.query.as_deref().map(|query| masks.in_text(query));
        for name in providers::counted_headers().chain([CALL, LABELS]) {
            if let Some(value) = bare.headers.get_mut(name)
                && let Cow::Owned(struck) = masks.in_request(value.as_bytes())
                && let Ok(struck) = HeaderValue::from_bytes(&struck)
            {
                *value = struck;
            }
        }
        (bare, masks.with_credentials(&found))
    }

    /// Where in its program it was made, if the program says so.
    pub(crate) fn stack(&self) -> Option<String> {
        self.headers.get(STACK)?.to_str().ok().map(str::to_owned)
    }

    /// Whether its answer costs nothing, so that it is not received for a client that has left: all but POST, and JSON-RPC, as MCP has it.
    pub(crate) fn is_free(&self) -> bool {
        let fields = || serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(&self.body);
        self.method != Method::POST || fields().is_ok_and(|it| it.contains_key("jsonrpc"))
    }

    /// The body without its content encodings, of which other releases of a compressor make other bytes; `None` if one of them is not
    /// known, or is broken.
    pub(crate) fn plain_body(&self) -> Option<Bytes> {
        decoded_within(&encodings(&self.headers), self.body.clone(), LONGEST_BODY).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(calls: &[&'static str], body: &'static str) -> Incoming {
        let mut headers = HeaderMap::new();
        calls.iter().for_each(|call| {
            headers.append(CALL, HeaderValue::from_static(call));
        });
        Incoming {
            upstream: "openai".to_owned(),
            is_led: false,
            method: Method::POST,
            path: "/chat/completions".to_owned(),
            query: None,
            headers,
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    #[test]
    fn a_call_is_within_the_part_that_is_running() {
        let part = CallPath::new("test_capitals/\u{e4}").unwrap();
        for (calls, within) in [
            (&[][..], &["test_capitals/\u{e4}"][..]),
            (&["vote/p7"], &["test_capitals/\u{e4}/vote/p7"]),
            // Two are refused later.
            (&["a", "b"], &["test_capitals/\u{e4}/a", "test_capitals/\u{e4}/b"]),
        ] {
            let mut asked = posted(calls, "");
            asked.put_in(&part);
            let named = asked.headers.get_all(CALL).iter().map(HeaderValue::as_bytes);
            assert!(named.eq(within.iter().map(|name| name.as_bytes())), "{calls:?}");
        }
    }

    #[test]
    fn what_costs_nothing_is_known_by_its_method_and_by_json_rpc() {
        for (body, is_free) in [
            (r#"{"model": "m", "messages": []}"#, false),
            (r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#, true),
            ("", false),
            ("jsonrpc", false),
            (r#"[{"jsonrpc": "2.0"}]"#, false),
        ] {
            assert_eq!(posted(&[], body).is_free(), is_free, "{body}");
        }
        assert!(Incoming { method: Method::GET, ..posted(&[], "") }.is_free());
    }
}
