//! An exchange as another tool recorded it, in any format.

use std::io::Read;
use std::time::Duration;

use bytes::Bytes;
use flate2::read::DeflateDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use retold::event::{AttemptDetails, Labels};
use retold::model::{FailureKind, Response};
use retold::prompt::Request;
use retold_wire::{Incoming, Transmission, decode, encodings};
use serde_json::{Value, json};

use crate::error::FileProblem;
use crate::notes::Notes;

/// The longest body that is inflated here.
const LONGEST: usize = 16 << 20;

/// The most headers of a message.
const MOST_HEADERS: usize = 1000;

/// An exchange.
#[derive(Debug)]
pub(crate) struct TrafficExchange {
    /// Where it is in its file, for messages.
    pub(crate) place: String,
    pub(crate) asked: TrafficQuestion,
    pub(crate) answers: Vec<TrafficAnswer>,
    /// The decisions about the last answer.
    pub(crate) decisions: Vec<TrafficDecision>,
    /// The label that the file gives it; kept for export.
    pub(crate) label: Option<Value>,
    pub(crate) latency: Duration,
}

/// A decision that a file has about an answer.
#[derive(Debug)]
pub(crate) struct TrafficDecision {
    /// What decided, such as a scorer.
    pub(crate) name: String,
    pub(crate) value: Value,
    pub(crate) reasoning: Option<String>,
}

/// The question of an exchange.
#[derive(Debug)]
pub(crate) enum TrafficQuestion {
    /// Over HTTP.
    Http(Http),
    /// As retold has kept it, with the digits of its hash.
    Kept { incoming: Box<Incoming>, hash: String, labels: Labels },
    /// In another way: stored as it is, under a call that begins with this name.
    Other { name: &'static str, request: Box<Request>, labels: Labels },
}

/// A request over HTTP.
#[derive(Debug, Default)]
pub(crate) struct Http {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) labels: Labels,
}

/// What came back.
#[derive(Debug)]
pub(crate) enum TrafficAnswer {
    /// Over HTTP, without content encoding.
    Http { status: StatusCode, headers: HeaderMap, body: Bytes },
    /// An answer without its bytes.
    Read(Box<Response>),
    /// Nothing: the attempt failed.
    Failed(AttemptDetails),
    /// Any of these, and its client left before it had it all: after these milliseconds, with these bytes of the body, if not even the
    /// status.
    Left { answer: Box<TrafficAnswer>, after_ms: u64, bytes: Option<u64> },
    /// Events without an end, over HTTP, to which the client listened until it left.
    Heard { status: StatusCode, headers: HeaderMap, body: Bytes },
}

impl TrafficQuestion {
    /// A question that was not asked over HTTP, without labels.
    pub(crate) fn other(name: &'static str, request: Request) -> Self {
        TrafficQuestion::Other { name, request: Box::new(request), labels: Labels::default() }
    }
}

impl TrafficExchange {
    /// Whether something answers the question.
    pub(crate) fn has_answer(&self) -> bool {
        self.answers.iter().any(TrafficAnswer::is_success)
    }
}

impl TrafficAnswer {
    /// Whether it answers the question.
    pub(crate) fn is_success(&self) -> bool {
        match self {
            TrafficAnswer::Http { status, .. } | TrafficAnswer::Heard { status, .. } => {
                status.is_success()
            }
            TrafficAnswer::Read(_) => true,
            TrafficAnswer::Failed(_) => false,
            TrafficAnswer::Left { answer, .. } => answer.is_success(),
        }
    }
}

/// An attempt that no answer came of. A client that meets it in a replay gets what `retold record`
/// gives one whose upstream does not answer in time, and tries again.
pub(crate) fn failed_attempt(kind: FailureKind, code: &str, message: &str) -> TrafficAnswer {
    let error = json!({"error": {"message": message, "type": code, "param": null, "code": code}});
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    let kept = Transmission { status: 504, headers, ..Transmission::default() };
    let kept = kept.with_body(error.to_string().as_bytes(), &[], "");
    TrafficAnswer::Failed(AttemptDetails {
        attempt: 0,
        batch: None,
        error: format!("{code}: {message}"),
        failure: kind.as_str().to_owned(),
        gave_up: false,
        from: None,
        http: Some(json!(kept)),
        retry_after_ms: None,
        status: None,
    })
}

/// Headers out of names and values; what HTTP does not allow is noted and left out.
pub(crate) fn headers<'a>(
    all: impl Iterator<Item = (&'a str, &'a [u8])>,
    place: &str,
    notes: &mut Notes,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in all {
        // HTTP/2 has the method and the path among its headers.
        if name.starts_with(':') {
            continue;
        }
        match (HeaderName::try_from(name), HeaderValue::from_bytes(value)) {
            // A map of headers has an end, beyond which adding to it panics.
            (Ok(name), Ok(value)) if headers.len() < MOST_HEADERS => {
                headers.append(name, value);
            }
            (Ok(_), Ok(_)) => notes.add("a header after the first thousand", place),
            _ => notes.add("a header that HTTP does not allow", place),
        }
    }
    headers
}

/// A method, in upper case: some tools write it in lower case.
pub(crate) fn method(name: &str) -> Result<Method, FileProblem> {
    Method::from_bytes(name.to_ascii_uppercase().as_bytes()).map_err(|_| FileProblem::Value {
        what: "an HTTP method",
        found: name.chars().take(40).collect(),
    })
}

/// A status.
pub(crate) fn status(code: u64) -> Result<StatusCode, FileProblem> {
    u16::try_from(code)
        .ok()
        .and_then(|code| StatusCode::from_u16(code).ok())
        .ok_or(FileProblem::Value { what: "an HTTP status", found: code.to_string() })
}

/// A body without its content encoding, and its headers without what described that. A body that is
/// not encoded although a header says so was decoded by the tool that recorded it.
///
/// # Errors
/// [`FileProblem`] if the bodies of the file are too much.
pub(crate) fn plain(
    headers: &mut HeaderMap,
    body: Bytes,
    place: &str,
    notes: &mut Notes,
) -> Result<Bytes, FileProblem> {
    headers.remove(TRANSFER_ENCODING);
    let encodings = encodings(headers);
    headers.remove(CONTENT_ENCODING);
    if encodings.is_empty() || body.is_empty() {
        return Ok(body);
    }
    headers.remove(CONTENT_LENGTH);
    Ok(
        match decode(&encodings, body.clone())
            .or_else(|error| inflate(&encodings, &body).ok_or(error))
        {
            Ok(plain) => {
                notes.count_decoded(plain.len())?;
                plain
            }
            Err(_) if !looks_encoded(&encodings, &body) => body,
            Err(error) => {
                notes.add(
                    &format!("the content encoding of a body, which is kept as it is ({error})"),
                    place,
                );
                body
            }
        },
    )
}

/// A body whose encoding is called `deflate` and lacks the frame of zlib, as some servers send it and all clients read it.
fn inflate(encodings: &str, body: &Bytes) -> Option<Bytes> {
    // A body that is text was inflated by the tool that recorded it.
    if !encodings.trim().eq_ignore_ascii_case("deflate") || std::str::from_utf8(body).is_ok() {
        return None;
    }
    let mut decoder = DeflateDecoder::new(body.as_ref());
    let mut plain = Vec::new();
    decoder.by_ref().take(LONGEST as u64 + 1).read_to_end(&mut plain).ok()?;
    let is_whole = decoder.total_in() == body.len() as u64;
    (is_whole && plain.len() <= LONGEST).then(|| plain.into())
}

/// Whether a body is still encoded as its headers say: it begins so, or can be decoded.
pub(crate) fn is_encoded(headers: &HeaderMap, body: &Bytes) -> bool {
    let encodings = encodings(headers);
    let begins = std::str::from_utf8(body).is_err()
        && !encodings.trim().eq_ignore_ascii_case("br")
        && looks_encoded(&encodings, body);
    begins || decode(&encodings, body.clone()).is_ok()
}

/// Whether a body begins as its last encoding does. Brotli has no signature, but is never text.
fn looks_encoded(encodings: &str, body: &[u8]) -> bool {
    let last = encodings.rsplit(',').next().unwrap_or("").trim().to_ascii_lowercase();
    match last.as_str() {
        "gzip" | "x-gzip" => body.starts_with(&[0x1F, 0x8B]),
        "zstd" => body.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]),
        _ => std::str::from_utf8(body).is_err(),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_body_that_is_deflated_without_a_frame_is_read() {
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(b"hello hello hello").unwrap();
        let packed = Bytes::from(packed.finish().unwrap());
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("deflate"));
        let mut notes = Notes::default();
        let plain = plain(&mut headers, packed.clone(), "here", &mut notes).unwrap();
        assert_eq!(plain, "hello hello hello");
        assert!(headers.is_empty() && notes.all().next().is_none());
        assert_eq!(inflate("gzip", &packed), None);
        assert_eq!(inflate("deflate", &Bytes::from_static(b"hello")), None);
    }
}
