//! Answers that could not be read, or only in part.
//!
//! A paid answer is always kept. If it is not valid JSON, it is repaired as far as possible without
//! guessing, and `unreadable` is added to its kept parts:
//! `{"body":BASE64,"length":BYTES,"reason":TEXT}`. `body` has the bytes as received, up to the
//! first megabyte; it is left out if they contain the key. The answer's text is the part that could
//! be read, or empty.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::content::Content;

/// The kept part that marks such answers.
pub const UNREADABLE: &str = "unreadable";

/// The kept bytes of an answer that could not be read, or only in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The bytes as received, in base64: the first megabyte of them, or nothing if they contain the
    /// key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The length of the whole body in bytes.
    pub length: u64,
    /// Why they could not be read.
    pub reason: String,
}

impl Unreadable {
    /// Reads it from the kept parts of an answer.
    pub fn new(parts: &Map<String, Value>) -> Option<Self> {
        Unreadable::deserialize(parts.get(UNREADABLE)?).ok()
    }

    /// Why an answer has no text at all, if the reason is that it could not be read.
    pub fn why(content: &Content, parts: &Map<String, Value>) -> Option<String> {
        content.text().is_empty().then(|| Unreadable::new(parts)).flatten().map(|it| it.reason)
    }

    /// The warning for a decision based on such an answer.
    pub fn warning(reason: &str) -> String {
        format!("the answer could not be read: {reason}")
    }

    /// Adds it to the kept parts of an answer.
    pub(crate) fn add_to(self, parts: &mut Map<String, Value>) {
        parts.insert(UNREADABLE.to_owned(), json!(self));
    }
}
