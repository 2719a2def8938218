//! The heads of answers: the headers that are passed on, recorded, and sent again.

use bytes::Bytes;
use hyper::Response;
use hyper::http::response::Parts;
use hyper::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use retold::id::{PromptHash, RunId, Seq};
use retold::prompt::hash_of;

use crate::locations::without_secrets;
use crate::masks::Masks;
use crate::outlet::Outgoing;
use crate::transmission::{MCP_SESSION, Transmission, is_kept};

/// The address of an answer in the log, for reports about it: `RUN/SEQ`, where the seq is that of the
/// question, because that is known before the answer is whole.
const RESPONSE: &str = "x-retold-response";

/// Headers that concern one connection only, or that we set.
const NOT_FORWARDED: &[HeaderName] = &[
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::PROXY_AUTHORIZATION,
    header::PROXY_AUTHENTICATE,
];

/// Whether a header goes from one side to the other.
pub(crate) fn is_forwarded(name: &HeaderName) -> bool {
    !NOT_FORWARDED.contains(name)
        && !matches!(name.as_str(), "keep-alive" | "proxy-connection")
        && !name.as_str().starts_with("x-retold-")
}

/// The head of an error that is made here.
pub(crate) fn json_header() -> Vec<(String, String)> {
    vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        ("x-should-retry".to_owned(), "false".to_owned()),
    ]
}

/// The head that a client gets: that of the upstream.
pub(crate) fn head(status: StatusCode, sent: &HeaderMap) -> Parts {
    let (mut parts, ()) = Response::new(()).into_parts();
    parts.status = status;
    let mut headers = HeaderMap::new();
    for (name, value) in sent {
        if is_forwarded(name) && name != header::CONTENT_ENCODING {
            headers.append(name.clone(), value.clone());
        }
    }
    parts.headers = headers;
    parts
}

/// The header by which a program names an answer in its reports.
pub(crate) fn name_header(run: RunId, seq: Seq) -> Option<(HeaderName, HeaderValue)> {
    let value = HeaderValue::from_str(&format!("{run}/{seq}")).ok()?;
    Some((HeaderName::from_static(RESPONSE), value))
}

/// The headers of an answer that are recorded, without keys.
pub(crate) fn kept_headers(headers: &HeaderMap, masks: &Masks) -> Vec<(String, String)> {
    let kept = headers.iter().filter(|(name, _)| is_kept(name.as_str()));
    let texts = kept.filter_map(|(name, value)| {
        // In a replay, a client that follows a URL asks for the stored form of its request.
        let value = masks.in_request(value.as_bytes()).into_owned();
        Some((name.as_str(), String::from_utf8(value).ok()?))
    });
    texts
        .map(|(name, value)| {
            let value = match name {
                MCP_SESSION => PromptHash(hash_of(value.as_bytes())).short(16),
                _ => without_secrets(name, &value).unwrap_or(value),
            };
            (name.to_owned(), value)
        })
        .collect()
}

/// An answer as it is recorded.
pub(crate) fn response_of(kept: &Transmission, body: Bytes) -> Response<Outgoing> {
    response_with(kept, Outgoing::Whole(Some(body)))
}

/// An answer that was recorded, as opposed to one that comes from a server now: an extension of the response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplayMark;

/// Where the URLs in a recorded body lead: an extension of the response.
#[derive(Debug, Clone)]
pub(crate) struct RecordedLeads(pub(crate) Vec<Option<String>>);

/// An answer with a recorded head.
pub(crate) fn response_with(kept: &Transmission, body: Outgoing) -> Response<Outgoing> {
    let mut response = Response::new(body);
    response.extensions_mut().insert(ReplayMark);
    if !kept.leads.is_empty() {
        response.extensions_mut().insert(RecordedLeads(kept.leads.clone()));
    }
    *response.status_mut() = StatusCode::from_u16(kept.status).unwrap_or(StatusCode::BAD_GATEWAY);
    for (name, value) in &kept.headers {
        // A recording may come from anywhere.
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes()))
            && is_kept(name.as_str())
        {
            response.headers_mut().append(name, value);
        }
    }
    response
}
