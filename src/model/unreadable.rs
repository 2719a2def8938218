//! Answers that could not be read, or not wholly.
//!
//! A paid answer is kept whatever it looks like. If our JSON reader does not take it, it is mended as far as
//! that goes without guessing, and `unreadable` is added to its kept parts:
//! `{"body":BASE64,"length":BYTES,"reason":TEXT}`. `body` are the bytes as they came, up to the first
//! megabyte; it is left out where they hold the key. The text beside it is what could be read, or empty.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::content::Content;

/// The kept part that says so.
pub const UNREADABLE: &str = "unreadable";

/// What is kept of an answer that could not be read, or not wholly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The bytes as they came, in base64: the first megabyte of them, nothing if they hold the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// How many they are.
    pub length: u64,
    /// Why they could not be read.
    pub reason: String,
}

impl Unreadable {
    /// What the kept parts of an answer say of it.
    pub fn of(parts: &Map<String, Value>) -> Option<Self> {
        Unreadable::deserialize(parts.get(UNREADABLE)?).ok()
    }

    /// Why an answer without any text has none, if that is because it could not be read.
    pub fn why(content: &Content, parts: &Map<String, Value>) -> Option<String> {
        content.text().is_empty().then(|| Unreadable::of(parts)).flatten().map(|it| it.reason)
    }

    /// The warning that a decision on such an answer has.
    pub fn warning(reason: &str) -> String {
        format!("the answer could not be read: {reason}")
    }

    /// Adds it to the kept parts of an answer.
    pub(crate) fn add_to(self, parts: &mut Map<String, Value>) {
        parts.insert(UNREADABLE.to_owned(), json!(self));
    }
}
