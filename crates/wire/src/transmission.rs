//! How an answer travelled, as a log keeps it: `extra.http` of an answer, `http` of a failed attempt.

use bytes::Bytes;
use data_encoding::BASE64;
use retold::content::Content;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limits::MOST_CHUNKS;
use crate::long_body::LongBody;

/// How an answer travelled. Fields that are left out have their usual values: one chunk, whole, and a body that is the
/// answer's text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transmission {
    /// True if the program never saw the attempts before this one in its call: they had failed, and the run was continued by
    /// asking again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// A body that is not UTF-8, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// A body that is UTF-8. If there is neither, it is the text of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The length of each chunk as it arrived, and when, in milliseconds after the head.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chunks: Vec<(usize, u64)>,
    /// How the body ended, if it did not end as it should.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<BodyEnd>,
    /// The headers that are kept.
    pub headers: Vec<(String, String)>,
    /// Where each URL in the body leads that a client may ask next, as `/UPSTREAM/PATH`, or `None` for one elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads: Vec<Option<String>>,
    /// A body that is too long for one event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongBody>,
    /// Whether a key was in the body, and was replaced: one of the request by asterisks, one that the answer brings by `[key]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// Whether something was taken out of the body by the run's rules.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub redacted: bool,
    /// The HTTP status.
    pub status: u16,
    /// Of a failed attempt: what could be read of the answer that had begun to come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Fields that the body of the request had and that are not part of the stored request, because they
    /// cannot change an answer or have the value that they have anyway. Those with texts are left out.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub uncounted: Map<String, Value>,
}

/// How a body ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyEnd {
    /// The upstream broke it off, or sent more than is kept.
    BrokenOff,
    /// The client left, and the upstream was not read to the end.
    ClientLeft,
}

/// The headers that are kept, in lower case. A name that ends with `*` stands for all that begin so.
///
/// A list of the headers that are kept, because nobody can list every header that may hold a
/// secret. The one that names the account (`openai-organization`) is not among them.
const HEADERS: &[&str] = &[
    "content-type",
    // Those that are not undone.
    "content-encoding",
    "content-language",
    "content-disposition",
    "content-range",
    "location",
    "content-location",
    "operation-location",
    "azure-asyncoperation",
    "x-goog-upload-*",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "x-request-id",
    "request-id",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "x-ratelimit*",
    // As the IETF's draft has them (`ratelimit`, `ratelimit-policy`), and Mistral (`ratelimitbysize-*`).
    "ratelimit*",
    "anthropic-ratelimit-*",
    // Amazon names an error in no other place, and the tokens of InvokeModel.
    "x-amzn-errortype",
    "x-amzn-requestid",
    "x-amzn-bedrock-*",
    "last-modified",
    "etag",
    "link",
    "allow",
    MCP_SESSION,
];

/// The id of a session of MCP, without which its client does not go on. A digest of it is stored, which opens no session.
pub(crate) const MCP_SESSION: &str = "mcp-session-id";

/// Whether a header of an answer is kept.
pub(crate) fn is_kept(name: &str) -> bool {
    HEADERS.iter().any(|kept| match kept.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => *kept == name,
    })
}

impl Transmission {
    /// A body as it arrived; `text` is the text of the answer, which is not stored again.
    pub fn with_body(self, body: &[u8], chunks: &[(usize, u64)], text: &str) -> Self {
        let mut kept = self.in_chunks(chunks);
        match std::str::from_utf8(body) {
            Ok(said) if said == text => {}
            Ok(said) => kept.body = Some(said.to_owned()),
            Err(_) => kept.base64 = Some(BASE64.encode(body)),
        }
        kept
    }

    /// A body that came in these chunks, each with its time.
    pub(crate) fn in_chunks(mut self, chunks: &[(usize, u64)]) -> Self {
        if chunks.len() > 1 {
            self.chunks = chunks.iter().take(MOST_CHUNKS).copied().collect();
        }
        self
    }

    /// Reads it from a log; `None` if it cannot be read.
    pub fn read(value: &Value) -> Option<Self> {
        Transmission::deserialize(value).ok()
    }

    /// The body; `content` is the answer's. `None` if its base64 is broken.
    pub fn bytes(&self, content: Option<&Content>) -> Option<Bytes> {
        self.clone().take_bytes(content)
    }

    /// Takes the body out; `content` is the answer's. `None` if its base64 is broken.
    pub(crate) fn take_bytes(&mut self, content: Option<&Content>) -> Option<Bytes> {
        match (self.body.take(), self.base64.take()) {
            (Some(body), _) => Some(Bytes::from(body)),
            (None, Some(base64)) => BASE64.decode(base64.as_bytes()).ok().map(Bytes::from),
            (None, None) => Some(Bytes::from(content.map_or("", Content::text).to_owned())),
        }
    }

    /// The body in its chunks, each with its time.
    pub fn pieces(&self, body: &Bytes) -> Vec<(Bytes, u64)> {
        let mut pieces = Vec::with_capacity(self.chunks.len() + 1);
        let mut at = 0_usize;
        for (length, time) in &self.chunks {
            let end = at.saturating_add(*length).min(body.len());
            if end > at {
                pieces.push((body.slice(at..end), *time));
            }
            at = end;
        }
        if at < body.len() {
            let time = self.chunks.last().map_or(0, |(_, time)| *time);
            pieces.push((body.slice(at..), time));
        }
        pieces
    }

    /// The content type.
    pub fn content_type(&self) -> &str {
        let header = self.headers.iter().find(|(name, _)| name == "content-type");
        header.map_or("", |(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_cookies_and_accounts_are_not_kept() {
        for never in ["authorization", "set-cookie", "x-api-key", "openai-organization", "cf-ray"] {
            assert!(!is_kept(never), "{never}");
        }
        for kept in [
            "content-type",
            "retry-after",
            "x-ratelimit-remaining-tokens",
            "ratelimit-limit",
            "ratelimit",
            "ratelimitbysize-remaining",
        ] {
            assert!(is_kept(kept), "{kept}");
        }
    }

    proptest! {
        /// Whatever the bytes and however they were cut: they come back from the log's JSON.
        #[test]
        fn a_body_comes_back_in_its_chunks(chunks in prop::collection::vec(
            prop::collection::vec(any::<u8>(), 1..20), 0..10), is_text in any::<bool>())
        {
            let chunks: Vec<Vec<u8>> = if is_text {
                chunks.iter().map(|chunk| "\u{e4}".repeat(chunk.len()).into_bytes()).collect()
            } else {
                chunks
            };
            let body = chunks.concat();
            let text = String::from_utf8(body.clone()).unwrap_or_default();
            let times: Vec<(usize, u64)> = chunks.iter().map(|chunk| (chunk.len(), 7)).collect();
            for content in [String::new(), text] {
                let kept = Transmission::default().with_body(&body, &times, &content);
                let again = Transmission::read(&serde_json::from_str(&json!(kept).to_string()).unwrap()).unwrap();
                let read = again.bytes(Some(&Content::from(content))).unwrap();
                prop_assert_eq!(&read[..], &body[..]);
                let pieces: Vec<Vec<u8>> = again.pieces(&read).into_iter().map(|(piece, _)| piece.to_vec()).collect();
                prop_assert_eq!(pieces, chunks.clone());
            }
        }
    }
}
