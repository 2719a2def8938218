//! The file.

use std::collections::BTreeMap;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::Content;
use crate::id::{ContentHash, EventHash, EventsRoot, MerkleNode, RunId};

/// The version that this release writes and reads.
pub(super) const FORMAT: &str = "retold proof 1";

/// A proof. Its file is the canonical JSON of exactly these fields.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Proof {
    /// The answer that the decision is about.
    pub(super) answer: Leaf,
    /// The texts and vectors of the events.
    pub(super) contents: BTreeMap<ContentHash, StoredContent>,
    /// The decision; none if the answer was not parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Leaf>,
    /// The event that ends the run.
    pub(super) end: ProofEnd,
    pub(super) format: String,
    /// Failed attempts, facts, and everything that the prompt was made from; in the order of the log.
    pub(super) others: Vec<Leaf>,
    /// The canonical request of the question.
    pub(super) prompt: Value,
    /// The event that asked it.
    pub(super) question: Leaf,
    pub(super) root: EventsRoot,
    pub(super) run: RunId,
    /// The first event of the run: its experiment, settings and model.
    pub(super) start: Leaf,
}

/// An event, and what leads from it to the root.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Leaf {
    /// Its canonical form.
    pub(super) event: Map<String, Value>,
    /// The other child of each node on the way up.
    pub(super) path: Vec<MerkleNode>,
    /// The hash of the event before it.
    pub(super) previous: EventHash,
}

/// The event that ends the run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProofEnd {
    /// Its canonical form.
    pub(super) event: Map<String, Value>,
    /// Its hash: the head of the run.
    pub(super) head: EventHash,
    /// The hash of the event before it.
    pub(super) previous: EventHash,
}

/// A content. Its hash is its key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StoredContent {
    Text(String),
    /// Little-endian 32-bit floats in base64.
    Vector(String),
}

impl StoredContent {
    pub(super) fn new(content: &Content) -> Self {
        match content {
            Content::Text(text) => StoredContent::Text(text.to_string()),
            Content::Vector(_) => StoredContent::Vector(BASE64.encode(&content.bytes())),
        }
    }

    /// The content; `None` if these are no floats.
    pub(super) fn content(&self) -> Option<Content> {
        match self {
            StoredContent::Text(text) => Some(Content::from(text.as_str())),
            StoredContent::Vector(base64) => {
                Content::vector_from_bytes(&BASE64.decode(base64.as_bytes()).ok()?)
            }
        }
    }
}
