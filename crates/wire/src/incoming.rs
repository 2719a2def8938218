//! A request as it arrived from a program.

use bytes::Bytes;
use hyper::http::{HeaderMap, Method};

use crate::decode::{decoded_within, encodings};
use crate::limits::LONGEST_REQUEST;

/// Names the call that a request belongs to; not forwarded.
pub const CALL: &str = "x-retold-call";

/// What the call of a request belongs to, as a JSON object of texts in ASCII; not forwarded.
pub(crate) const LABELS: &str = "x-retold-labels";

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
    /// The body without its content encodings, of which other releases of a compressor make other bytes; `None` if one of them is not
    /// known, or is broken.
    pub(crate) fn plain_body(&self) -> Option<Bytes> {
        decoded_within(&encodings(&self.headers), self.body.clone(), LONGEST_REQUEST).ok()
    }
}
